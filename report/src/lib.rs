//! Load reports as origins send them.
//!
//! | module | what |
//! |---|---|
//! | [`orca`] | Open Request Cost Aggregation, as known from gRPC and Envoy: the header `endpoint-load-metrics` |
//! | [`agent`] | replies to HAProxy's agent check |
//! | [`load`] | from a load to a weight |
//!
//! All input is bytes from the network. What is not well-formed gives `None`: half a report is none.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod agent;
pub mod load;
pub mod orca;

/// A finite number in the notation of Rust and C: `0.5`, `.5`, `5e-1`.
fn number(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}
