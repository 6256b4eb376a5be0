//! The tests that the patches add or change, run in the patched source tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;

use super::at_least;
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
    let mut trials: Vec<Trial> = touched
        .into_iter()
        .map(|path| {
            let case = Case {
                suite: "series".to_owned(),
                name: stem(Path::new(&path)),
                file: setup.patched.source.join(path),
                view: View::BuildTree,
                patched: true,
                vmods: vec![setup.patched.vmods()],
                macros: Vec::new(),
            };
            case.into_trial(setup)
        })
        .collect();
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
