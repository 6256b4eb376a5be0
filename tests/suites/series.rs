//! The tests that the patches add or change, run in the patched source tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;

use super::{at_least, rounds};
use crate::support::run::{Case, View};
use crate::support::setup::{files, stem, Setup};

pub fn trials(setup: &Arc<Setup>) -> Vec<Trial> {
    let mut touched = BTreeSet::new();
    for patch in files(&setup.patches, ".patch") {
        if let Ok(bytes) = fs::read(&patch) {
            touched.extend(touched_tests(&String::from_utf8_lossy(&bytes)));
        }
    }
    let found = touched.len();
    let mut trials: Vec<Trial> = Vec::new();
    for path in touched {
        for round in rounds() {
            let case = Case {
                suite: "series".to_owned(),
                name: format!("{}{round}", stem(Path::new(&path))),
                file: setup.patched.source.join(&path),
                view: View::BuildTree,
                patched: true,
                vmods: vec![setup.patched.vmods()],
                macros: Vec::new(),
            };
            trials.push(case.into_trial(setup));
        }
    }
    trials.push(at_least(1, "series", found));
    trials
}

/// Paths of the test files that a patch leaves behind.
fn touched_tests(patch: &str) -> Vec<String> {
    patch
        .lines()
        .filter_map(|line| line.strip_prefix("+++ b/"))
        .filter(|path| path.ends_with(".vtc"))
        .map(str::to_owned)
        .collect()
}
