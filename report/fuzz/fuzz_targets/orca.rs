//! Any header, and any bytes as the protobuf message in it: no panic, and a number or nothing. The first line of the
//! input is the metric.
#![no_main]

use base64::prelude::{Engine as _, BASE64_STANDARD};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let at = input.iter().position(|b| *b == b'\n').unwrap_or(0);
    let (metric, rest) = input.split_at(at);
    let header = rest.strip_prefix(b"\n").unwrap_or(rest);
    let check = |header: &[u8]| {
        let value = report::orca::metric(header, metric);
        assert!(value.is_none_or(f64::is_finite), "{value:?}");
    };
    check(header);
    check(format!("BIN {}", BASE64_STANDARD.encode(header)).as_bytes());
    for format in ["TEXT ", "JSON "] {
        check(&[format.as_bytes(), header].concat());
    }
});
