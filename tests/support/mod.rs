//! What the test programs share: where things are, and how one varnishtest is run.

pub mod run;
pub mod sanitizer;
pub mod setup;
