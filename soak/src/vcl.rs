//! The VCL that is loaded again and again.

use std::fmt::Write as _;

use crate::origin::Origin;

const TEMPLATE: &str = include_str!("soak.vcl");
/// In use while the server rests: no backend, no probe, no VMOD.
pub const REST: &str = "vcl 4.1; backend none none; sub vcl_recv { return (synth(503)); }";

/// The template with these origins as backends, members of all directors.
pub fn soak(origins: &[Origin]) -> String {
    let (mut backends, mut members, mut steady) = (String::new(), String::new(), String::new());
    for (i, Origin { name, address, .. }) in origins.iter().enumerate() {
        let probe = if i % 2 == 0 { "load" } else { "state" };
        let (host, port) = (address.ip(), address.port());
        writeln!(backends, "backend {name} {{ .host = \"{host}\"; .port = \"{port}\"; .probe = {probe}; }}").ok();
        write!(members, "rr.add_backend({name}); rnd.add_backend({name}, 1.0); hash.add_backend({name}, 1.0); ").ok();
        writeln!(members, "shard.add_backend({name}); fb.add_backend({name});").ok();
        if origins[i].is_steady() {
            writeln!(steady, "last.add_backend({name}, 1.0);").ok();
        }
    }
    let mut vcl = TEMPLATE.to_owned();
    for (line, lines) in [("## backends\n", backends), ("## members\n", members), ("## steady\n", steady)] {
        assert_eq!(vcl.matches(line).count(), 1, "{line:?} in soak.vcl");
        vcl = vcl.replace(line, &lines);
    }
    vcl
}
