//! ORCA reports: what is read, what is refused, and that nothing else can happen.

use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use base64::Engine;
use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use report::orca::metric;

fn get(header: &str, name: &str) -> Option<f64> {
    metric(header.as_bytes(), name.as_bytes())
}

#[test]
fn text() {
    let header =
        "TEXT cpu_utilization:0.7,application_utilization=0.8, mem_utilization = .9 ,rps_fractional:1e3,eps:2,\
                  named_metrics.foo:123,named_metrics.bar.baz:0.2,request_cost.x=-1,utilization.disk:+0.25";
    for (name, value) in [
        ("cpu_utilization", 0.7),
        ("application_utilization", 0.8),
        ("mem_utilization", 0.9),
        ("rps_fractional", 1000.0),
        ("eps", 2.0),
        ("named_metrics.foo", 123.0),
        ("named_metrics.bar.baz", 0.2),
        ("request_cost.x", -1.0),
        ("utilization.disk", 0.25),
    ] {
        assert_eq!(get(header, name), Some(value), "{name}");
    }
    for name in ["", "foo", "named_metrics", "named_metrics.", "cpuUtilization", "CPU_UTILIZATION"] {
        assert_eq!(get(header, name), None, "{name}");
    }
    assert_eq!(get("TEXT other=1,eps=2", "eps"), Some(2.0), "other names are passed over");
    assert_eq!(metric(b"TEXT named_metrics.\xff=1", b"named_metrics.\xff"), Some(1.0), "names are bytes");
}

#[test]
fn text_that_is_refused() {
    for rest in [
        "",
        ",",
        "eps",
        "eps=",
        "=1",
        ":1",
        "eps=x",
        "eps=1x",
        "eps=1 2",
        "eps=\"1\"",
        "eps=nan",
        "eps=NaN",
        "eps=inf",
        "eps=-inf",
        "eps=infinity",
        "eps=1e999",
        "eps=1,",
        ",eps=1",
        "eps=1,,",
        "eps=1,eps=1",
        "eps=1,eps:2",
        "eps==1",
        "eps=1=2",
        "eps=1;",
        "named_metrics.=1",
        "utilization.:1",
        "eps=0x10",
        "eps=1_0",
        "eps=\u{b2}",
        "named_metrics.a=1,named_metrics.a=1",
    ] {
        // Wherever it is in the report, and whatever is asked for
        for header in [format!("TEXT {rest}"), format!("TEXT cpu_utilization=1,{rest}")] {
            assert_eq!(get(&header, "eps"), None, "{header:?}");
            assert_eq!(get(&header, "cpu_utilization"), None, "{header:?}");
        }
    }
}

#[test]
fn json() {
    let header = r#"JSON {"cpu_utilization": 0.7, "applicationUtilization": 8e-1, "memUtilization": "0.9", "rps": "17",
        "rps_fractional": 1000, "eps": -2, "named_metrics": {"foo": 123, "b\u00e4r": "0.2"}, "requestCost": null,
        "utilization": {}, "later": {"x": [1, {"y": null}]}}"#;
    for (name, value) in [
        ("cpu_utilization", 0.7),
        ("application_utilization", 0.8),
        ("mem_utilization", 0.9),
        ("rps_fractional", 1000.0),
        ("eps", -2.0),
        ("named_metrics.foo", 123.0),
        ("named_metrics.b\u{e4}r", 0.2),
    ] {
        assert_eq!(get(header, name), Some(value), "{name}");
    }
    for name in ["rps", "later", "later.x", "named_metrics", "named_metrics.", "request_cost.x"] {
        assert_eq!(get(header, name), None, "{name}");
    }
    assert_eq!(get("JSON {\"eps\":null}", "eps"), None, "null is a number that is not there");
}

#[test]
fn json_that_is_refused() {
    for rest in [
        "",
        "{",
        "[]",
        "1",
        "null",
        "\"\"",
        "{}}",
        "{\"eps\": 1} x",
        "{\"eps\": 1}{\"eps\": 1}",
        "{eps: 1}",
        "{\"eps\": NaN}",
        "{\"eps\": Infinity}",
        "{\"eps\": \"NaN\"}",
        "{\"eps\": \"Infinity\"}",
        "{\"eps\": \"\"}",
        "{\"eps\": true}",
        "{\"eps\": [1]}",
        "{\"eps\": {}}",
        "{\"eps\": 1e999}",
        "{\"eps\": 1, \"eps\": 1}",
        "{\"eps\": 1,}",
        "{\"eps\": 1, \"cpuUtilization\": 1, \"cpu_utilization\": 1}",
        "{\"eps\": 1, \"named_metrics\": 1}",
        "{\"eps\": 1, \"named_metrics\": {\"\": 1}}",
        "{\"eps\": 1, \"named_metrics\": {\"a\": null}}",
        "{\"eps\": 1, \"named_metrics\": {\"a\": 1, \"a\": 1}}",
        "{\"eps\": 1, \"named_metrics\": {\"a\": {}}}",
        "{\"eps\": 1, \"namedMetrics\": {\"a\": 1}, \"named_metrics\": {\"a\": 1}}",
        "{\"eps\": 01}",
        "{\"eps\": .5}",
    ] {
        assert_eq!(get(&format!("JSON {rest}"), "eps"), None, "{rest}");
    }
    assert_eq!(metric(b"JSON {\"\xff\":1,\"eps\":1}", b"eps"), None, "not UTF-8");
    let deep = format!("JSON {{\"x\":{}1{},\"eps\":1}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(get(&deep, "eps"), Some(1.0), "what is passed over takes no stack");
    assert_eq!(get(&deep.replace(":[", ":{\"a\":["), "eps"), None);
}

fn double(number: u8, value: f64) -> Vec<u8> {
    [&[number << 3 | 1][..], &value.to_le_bytes()].concat()
}

fn entry(map: u8, key: &[u8], value: f64) -> Vec<u8> {
    let pair = [&[10, key.len() as u8][..], key, &double(2, value)].concat();
    [&[map << 3 | 2, pair.len() as u8][..], &pair].concat()
}

fn bin(parts: &[Vec<u8>]) -> String {
    format!("BIN {}", STANDARD.encode(parts.concat()))
}

#[test]
fn binary() {
    let header = bin(&[
        double(1, 0.7),
        double(9, 0.8),
        double(2, 0.9),
        vec![3 << 3, 0x80, 0x01],
        double(6, 1000.0),
        double(7, 2.0),
        entry(8, b"foo", 123.0),
        entry(5, b"disk", 0.25),
        entry(4, b"x", -1.0),
        // A field of a later version
        vec![15 << 3 | 2, 1, 0],
    ]);
    for (name, value) in [
        ("cpu_utilization", 0.7),
        ("application_utilization", 0.8),
        ("mem_utilization", 0.9),
        ("rps_fractional", 1000.0),
        ("eps", 2.0),
        ("named_metrics.foo", 123.0),
        ("utilization.disk", 0.25),
        ("request_cost.x", -1.0),
    ] {
        assert_eq!(get(&header, name), Some(value), "{name}");
    }
    assert_eq!(get(&header, "rps"), None);
    assert_eq!(get("BIN ", "eps"), None, "an empty report has no metrics");
    let bare = STANDARD_NO_PAD.encode(double(7, 3.0));
    assert_eq!(get(&format!("BIN {bare}"), "eps"), Some(3.0), "without padding");
    // A map entry whose value is 0 may do without it
    assert_eq!(get(&bin(&[vec![8 << 3 | 2, 3, 10, 1, b'q']]), "named_metrics.q"), Some(0.0));
}

#[test]
fn binary_that_is_refused() {
    let good = double(7, 1.0);
    for parts in [
        vec![double(1, f64::NAN)],
        vec![double(1, f64::INFINITY)],
        vec![good.clone()],
        vec![entry(8, b"", 1.0)],
        vec![entry(8, b"a", f64::NAN)],
        vec![entry(8, b"a", 1.0), entry(8, b"a", 1.0)],
        // Cut short, of another type, without a number, of no type, an end without a beginning
        vec![good[..5].to_vec()],
        vec![vec![1 << 3, 1]],
        vec![vec![1 << 3 | 5, 0, 0, 0, 0]],
        vec![vec![8 << 3, 1]],
        vec![vec![1, 0, 0, 0, 0, 0, 0, 0, 0]],
        vec![vec![1 << 3 | 7]],
        vec![vec![1 << 3 | 4]],
        vec![vec![8 << 3 | 2, 100, 10, 1, b'q']],
        vec![vec![8 << 3 | 2, 4, 10, 9, b'q', b'q']],
        vec![vec![8 << 3 | 2, 6, 10, 1, b'q', 10, 1, b'r']],
        vec![vec![0xff; 20]],
        vec![vec![15 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ] {
        let header = bin(&[vec![good.clone()], parts.clone()].concat());
        assert_eq!(get(&header, "eps"), None, "{parts:?}");
    }
    for text in ["!", "AAA=A", "A", "====", "\u{e4}"] {
        assert_eq!(get(&format!("BIN {text}"), "eps"), None, "{text}");
    }
}

#[test]
fn other_formats_are_refused() {
    for header in ["", " ", "TEXT", "text eps=1", "eps=1", "{\"eps\":1}", "XML eps=1", " TEXT eps=1", "TEXT\teps=1"] {
        assert_eq!(get(header, "eps"), None, "{header:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_do(format in prop_oneof![Just("TEXT "), Just("JSON "), Just("BIN "), Just("")],
                    rest in vec(any::<u8>(), 0..200), name in vec(any::<u8>(), 0..20)) {
        let value = metric(&[format.as_bytes(), &rest].concat(), &name);
        prop_assert!(value.is_none_or(f64::is_finite));
        let value = metric(&[b"BIN ", STANDARD.encode(&rest).as_bytes()].concat(), b"cpu_utilization");
        prop_assert!(value.is_none_or(f64::is_finite));
    }

    /// All formats have the same numbers, to the last bit.
    #[test]
    fn formats_agree(metrics in hash_map("[a-z_]{1,8}", -1e300..1e300f64, 1..6)) {
        let pairs: Vec<String> = metrics.iter().map(|(k, v)| format!("named_metrics.{k}={v:e}")).collect();
        let text = format!("TEXT {}", pairs.join(","));
        let pairs: Vec<String> = metrics.iter().map(|(k, v)| format!("\"{k}\":{v:e}")).collect();
        let json = format!("JSON {{\"namedMetrics\":{{{}}}}}", pairs.join(","));
        let parts: Vec<Vec<u8>> = metrics.iter().map(|(k, v)| entry(8, k.as_bytes(), *v)).collect();
        let binary = bin(&parts);
        for (name, value) in &metrics {
            let name = format!("named_metrics.{name}");
            prop_assert_eq!(get(&text, &name), Some(*value));
            prop_assert_eq!(get(&json, &name), Some(*value));
            prop_assert_eq!(get(&binary, &name), Some(*value));
        }
    }
}
