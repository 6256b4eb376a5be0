//! Functions of which something else than "it works" is known, each with the reason.

use super::calls::Call;
use super::description::Vmod;

/// Calls that assert by design: the function, what the argument list has, and why. These VMODs are for tests.
pub const ASSERT: &[(&str, &[&str], &str)] = &[
    ("debug.chksha256", &["expected = ::", "workspace_dump"], "wants a hash"),
    ("debug.dyn.refresh", &["addr = \"\"", "std.getenv"], "wants an address and a port"),
    ("debug.log_strands", &["subject = std.getenv"], "wants strings that are set"),
    ("debug.match_acl", &["no_ip"], "wants an address"),
    ("debug.priv_task_with_option", &["getenv"], "wants a string that is set"),
    ("debug.sweep_acl", &["null_acl", "no_ip", "step = 0", "step = -1"], "wants a list, addresses and a way forward"),
    ("debug.store_ip", &["no_ip"], "wants an address"),
    ("debug.test_probe", &["(probe = p)"], "wants two that differ"),
    ("debug.time_acl", &["null_acl", "no_ip", "step = 0", "step = -1"], "wants a list, addresses and a way forward"),
    ("debug.time_acl", &["rounds = 0", "rounds = -1"], "wants to do it once at least"),
    ("debug.vcl_discard_delay", &["(0s)", "(-1s)"], "wants a delay"),
    ("vtc.barrier_sync", &["getenv"], "wants an address"),
    ("vtc.panic", &[""], "is for that"),
    ("vtc.proxy_header", &["no_ip"], "wants addresses"),
    ("vtc.typesize", &["getenv", "(\"\")"], "wants a type"),
    ("vtc.vsl", &["tag = std.getenv"], "wants a tag"),
    ("vtc.workspace_dump", &["len = 0B"], "wants a length"),
];

/// Functions that fail the VCL with any argument.
pub const FAIL: &[(&str, &str)] = &[
    ("debug.fail", "is for that"),
    ("debug.fail2", "is for that"),
    ("debug.fail_task_fini", "is for that"),
    ("debug.null_acl", "what it returns can not be used"),
    ("debug.rot104", "is for that"),
    ("math.nan", "is no number that could be shown"),
    ("vtc.workspace_overflow", "is for that"),
];

pub fn asserts(call: &Call) -> bool {
    ASSERT.iter().any(|(function, arguments, _)| arguments.iter().any(|argument| is(call, function, argument)))
}

fn is(call: &Call, function: &str, argument: &str) -> bool {
    call.function == function && call.label.contains(argument)
}

/// What is listed above for this VMOD although it has no such call or function.
pub fn unfounded(vmod: &Vmod, left_out: &[Call]) -> Vec<String> {
    let ours = |name: &str| name.split('.').next() == Some(vmod.name.as_str());
    let mut unfounded = Vec::new();
    for (function, arguments, _) in ASSERT.iter().filter(|(function, ..)| ours(function)) {
        for argument in *arguments {
            if !left_out.iter().any(|call| is(call, function, argument)) {
                unfounded.push(format!("{function} with {argument}: is listed in exceptions.rs, but not called"));
            }
        }
    }
    for (function, _) in FAIL.iter().filter(|(function, _)| ours(function)) {
        if !vmod.callables.iter().any(|callable| callable.name == *function) {
            unfounded.push(format!("{function}: is listed in exceptions.rs, but does not exist"));
        }
    }
    unfounded
}
