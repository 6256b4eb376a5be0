//! ORCA, Open Request Cost Aggregation: the header `endpoint-load-metrics` that gRPC and Envoy know.
//!
//! The value begins with its format:
//!
//! | format | what |
//! |---|---|
//! | `TEXT` | `cpu_utilization=0.3, named_metrics.queue=4`; a colon will do for the equals sign |
//! | `JSON` | `{"cpu_utilization": 0.3, "named_metrics": {"queue": 4}}`; names may also be in camel case |
//! | `BIN` | a protobuf message `xds.data.orca.v3.OrcaLoadReport`, in base64 |
//!
//! The metrics are the numbers of that message, `cpu_utilization`, `mem_utilization`, `application_utilization`,
//! `rps_fractional` and `eps`, and those of its maps, as `named_metrics.NAME`, `request_cost.NAME` and
//! `utilization.NAME`. In protobuf a number that is 0 is usually not sent, and cannot be told from one that is unknown.
//!
//! A report is refused as a whole if one of its numbers is not finite or no number, a name is empty, a metric occurs
//! twice, or the format is not as above. Metrics of other names are passed over.

use crate::number;

mod bin;
mod json;
mod text;

/// The value of a metric in a report. `None` if the report does not have it or is refused.
#[must_use]
pub fn metric(header: &[u8], metric: &[u8]) -> Option<f64> {
    let mut wanted = Wanted::new(metric)?;
    let (format, report) = header.split_at(header.iter().position(|b| *b == b' ')?);
    match format {
        b"TEXT" => text::read(report, &mut wanted),
        b"JSON" => json::read(report, &mut wanted),
        b"BIN" => bin::read(report, &mut wanted),
        _ => None,
    }?;
    wanted.value
}

/// The numbers of the message, with their numbers in protobuf.
const NUMBERS: [(&str, u32); 5] =
    [("cpu_utilization", 1), ("mem_utilization", 2), ("rps_fractional", 6), ("eps", 7), ("application_utilization", 9)];

/// The maps of the message, likewise.
const MAPS: [(&str, u32); 3] = [("request_cost", 4), ("utilization", 5), ("named_metrics", 8)];

/// What is known of a report that is being read.
struct Wanted<'a> {
    metric: &'a [u8],
    value: Option<f64>,
    /// Names that have been met, so that none occurs twice.
    seen: std::collections::HashSet<Vec<u8>>,
}

impl<'a> Wanted<'a> {
    fn new(metric: &'a [u8]) -> Option<Self> {
        (!metric.is_empty()).then(|| Wanted { metric, value: None, seen: std::collections::HashSet::new() })
    }

    /// Takes a metric of the report. `None` if the report is to be refused.
    fn take(&mut self, name: Vec<u8>, value: f64) -> Option<()> {
        if !value.is_finite() {
            return None;
        }
        if name == self.metric {
            self.value = Some(value);
        }
        self.seen.insert(name).then_some(())
    }

    /// Takes a metric that is in a map.
    fn take_from_map(&mut self, map: &str, key: &[u8], value: f64) -> Option<()> {
        if key.is_empty() {
            return None;
        }
        self.take([map.as_bytes(), b".", key].concat(), value)
    }
}
