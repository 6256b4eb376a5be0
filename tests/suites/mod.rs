//! The suites that run in varnishtest, one per file. Each one says which files it is made of.

pub mod alike;
pub mod compat;
pub mod ours;
pub mod series;
pub mod upstream;
pub mod vmods;

use std::env;

use libtest_mimic::{Completion, Trial};

/// What to append to the name of a test for each time that it is to run (`VTC_REPEAT`): nothing if that is once.
pub fn rounds() -> Vec<String> {
    match env::var("VTC_REPEAT").ok().and_then(|n| n.parse().ok()) {
        Some(repeat) if repeat > 1 => (1..=repeat).map(|round: usize| format!("-{round}")).collect(),
        _ => vec![String::new()],
    }
}

/// A test of the suite itself: fewer files than expected means that something was not found.
pub fn at_least(floor: usize, suite: &str, found: usize) -> Trial {
    let text = format!("{found} tests found, at least {floor} expected");
    Trial::test(
        format!("{suite}::has at least {floor} tests"),
        move || {
            if found >= floor {
                Ok(())
            } else {
                Err(text.into())
            }
        },
    )
}

/// In place of a suite that needs the unpatched server, where that was not built.
pub fn without_reference(suite: &str) -> Trial {
    const REASON: &str = "no unpatched server was built with this sanitizer (make reference does it)";
    Trial::ignorable_test(format!("{suite}::all"), || Ok(Completion::ignored_with(REASON)))
}
