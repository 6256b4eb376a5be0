//! Which arguments a function is tried with: a plausible one for each type, then what may be a surprise.

use super::description::{Callable, Kind, Param};

/// A string that is not set, in any VCL subroutine.
pub const UNSET: &str = "std.getenv(\"\")";

/// Values of a type in VCL, the plausible one first. None where VCL has no value for it in a probe response.
const OF_TYPE: &[(&str, &[&str])] = &[
    ("ACL", &["some_acl", "debug.null_acl()"]),
    ("BACKEND", &["b", "vtc.no_backend()", "beresp.backend"]),
    ("BLOB", &[":YWJj:", "::", "vtc.workspace_dump(session, s, 0B, 1B)"]),
    ("BOOL", &["true", "false"]),
    ("BYTES", &["100B", "0B", "1MB"]),
    ("DURATION", &["10ms", "0s", "-1s"]),
    ("HEADER", &["beresp.http.X-Load", "beresp.http.not-there"]),
    ("HTTP", &["beresp"]),
    ("INT", &["1", "0", "-1", "100000"]),
    ("IP", &["\"192.0.2.1\"", "vtc.no_ip()"]),
    ("PROBE", &["p"]),
    ("REAL", &["1.5", "0.0", "-1.0", "99999999999.0"]),
    ("REGEX", &["\"a.*c\""]),
    ("STRANDS", &["\"a\" + server.identity", "\"\"", UNSET]),
    ("STRING", &["\"abc\"", "\"\"", UNSET]),
    ("SUB", &["helper", "for_clients"]),
    ("TIME", &["now", "std.time(real = 0.0)", "std.time(real = -1.0)"]),
];

/// Where those of the type are not plausible, by function and parameter.
const OF_PARAM: &[(&str, &str, &[&str])] = &[
    ("blob.sub", "length", &["2B", "0B", "100B"]),
    ("debug.dyn", "addr", &["\"127.0.0.1\""]),
    ("debug.dyn", "port", &["\"80\""]),
    ("debug.dyn", "probe", &["q"]),
    ("debug.dyn", "via", &["vtc.no_backend()"]),
    ("debug.dyn.refresh", "addr", &["\"127.0.0.2\"", "\"\"", UNSET]),
    ("debug.dyn.refresh", "port", &["\"80\"", "\"\"", UNSET]),
    ("debug.dyn.refresh", "probe", &["q"]),
    ("debug.dyn.refresh", "via", &["vtc.no_backend()"]),
    ("debug.dyn_uds.refresh", "path", &["\"${s2_sock}\"", "\"\"", "\"abc\"", UNSET]),
    ("debug.dyn_uds", "path", &["\"${s2_sock}\""]),
    ("debug.test_probe", "same", &["q"]),
    // Asserts that it is this one
    ("debug.obj.enum", "", &["martin"]),
    ("math.strfromd", "format", &["\"%.1f\"", "\"abc\"", "\"%s\"", "\"\"", UNSET]),
    ("vtc.barrier_sync", "addr", &["\"${b1_sock}\"", "\"abc\"", UNSET]),
    ("vtc.barrier_sync", "timeout", &["60s", "0s"]),
    ("vtc.vsl", "tag", &["\"Debug\"", "\"abc\"", UNSET]),
];

/// More than one argument at a time.
const TOGETHER: &[(&str, &[&str])] = &[
    ("directors.shard.backend", &["by = KEY, key = 1", "by = BLOB, key_blob = :YWJj:", "by = URL"]),
    ("std.ban", &["\"obj.http.foo == bar\""]),
    ("std.bytes", &["\"10KB\"", "\"abc\", 1KB", "real = 1.5", "integer = 1"]),
    ("std.duration", &["\"10s\"", "\"abc\", 1s", "real = 1.5", "integer = 1"]),
    ("std.integer", &["\"10\"", "\"abc\", 1", "real = 1.5", "time = now"]),
    ("std.real", &["\"1.5\"", "\"abc\", 1.5", "integer = 1", "time = now"]),
    ("std.time", &["\"10\"", "\"abc\", now", "real = 1.5", "integer = 1"]),
];

/// Statements of the same run that have to come first.
const BEFORE: &[(&str, &str)] =
    &[("debug.get_ip", "debug.store_ip(\"192.0.2.1\");"), ("vtc.workspace_reset", "vtc.workspace_snapshot(client);")];

/// What makes an object worth calling, in vcl_init. {} is the object.
const FURNISH: &[(&str, &str)] = &[
    ("directors.fallback", "{}.add_backend(b);"),
    ("directors.hash", "{}.add_backend(b);"),
    ("directors.random", "{}.add_backend(b, 1.0);"),
    ("directors.round_robin", "{}.add_backend(b);"),
    ("directors.shard", "{}.add_backend(b); {}.reconfigure();"),
    ("directors.shard_param", "{}.set(by = KEY, key = 1);"),
];

/// This project's directors have what the bundled ones have.
fn bundled(name: &str) -> &str {
    name.strip_prefix("probe_").unwrap_or(name)
}

pub fn of(callable: &Callable, param: &Param) -> Vec<String> {
    let owned = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect();
    let function = bundled(&callable.name);
    let name = param.name.as_deref().unwrap_or("");
    let mut values = if let Some((_, _, values)) = OF_PARAM.iter().find(|(f, p, _)| *f == function && *p == name) {
        owned(values)
    } else if param.kind == "ENUM" {
        param.values.clone()
    } else {
        OF_TYPE.iter().find(|(kind, _)| *kind == param.kind).map_or_else(Vec::new, |(_, values)| owned(values))
    };
    if param.kind == "HTTP" && param.optional {
        values.clear(); // there is none in a probe response, and none is needed
    }
    if callable.kind == Kind::Constructor {
        values.retain(|value| !value.contains("beresp"));
    }
    values
}

pub fn together(callable: &Callable) -> &'static [&'static str] {
    TOGETHER.iter().find(|(name, _)| *name == bundled(&callable.name)).map_or(&[], |(_, lists)| lists)
}

pub fn before(callable: &Callable) -> &'static str {
    BEFORE.iter().find(|(name, _)| *name == callable.name).map_or("", |(_, statements)| statements)
}

pub fn furnish(object: &str, instance: &str) -> String {
    let found = FURNISH.iter().find(|(name, _)| *name == bundled(object));
    found.map_or_else(String::new, |(_, statements)| statements.replace("{}", instance))
}
