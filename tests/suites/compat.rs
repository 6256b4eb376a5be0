//! VMODs built with the unpatched server, loaded into the patched one, passing their own upstream tests.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use libtest_mimic::Trial;

use super::at_least;
use crate::support::run::{Case, View};
use crate::support::setup::{files, stem, Setup};

/// std and directors have tests named after them; debug is used by tests everywhere.
const NAMED: [&str; 2] = ["std_", "directors_"];
const FLOOR: usize = 100;

pub fn trials(setup: &Arc<Setup>) -> Result<Vec<Trial>, String> {
    // As released: what the patches add to these tests is for the VMODs that they change
    let source = &setup.reference.source;
    let mut tests: Vec<PathBuf> = files(&source.join("vmod/tests"), ".vtc");
    tests.retain(|file| NAMED.iter().any(|prefix| stem(file).starts_with(prefix)));
    let rest = source.join(setup.conf("VTEST_DIR")?).join("tests");
    tests.extend(
        files(&rest, ".vtc")
            .into_iter()
            .filter(|file| fs::read(file).is_ok_and(|text| String::from_utf8_lossy(&text).contains("import debug"))),
    );

    let found = tests.len();
    let mut trials: Vec<Trial> = tests
        .into_iter()
        .map(|file| {
            let case = Case {
                suite: "compat".to_owned(),
                name: stem(&file),
                file,
                view: View::BuildTree,
                patched: true,
                vmods: vec![setup.reference.vmods()],
                macros: Vec::new(),
            };
            case.into_trial(setup)
        })
        .collect();
    trials.push(at_least(FLOOR, "compat", found));
    Ok(trials)
}
