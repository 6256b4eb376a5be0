//! tests/vtc/*.vtc. The first letter says on which servers a test runs, see tests/vtc/README.md.

use std::fs;
use std::sync::Arc;

use libtest_mimic::Trial;

use super::{at_least, rounds};
use crate::support::run::{Case, View};
use crate::support::setup::{files, stem, Server, Setup};

const LIBRARY: &str = "libvmod_probe_directors.so";

pub fn trials(setup: &Arc<Setup>, reference: bool) -> Vec<Trial> {
    let library = setup.library_folder().join(LIBRARY);
    let mut trials = Vec::new();
    let mut directors = 0;
    for file in files(&setup.root.join("tests/vtc"), ".vtc") {
        let name = stem(&file);
        let servers: &[&Server] = match name.chars().next() {
            Some('d' | 'r') if reference => &[&setup.patched, &setup.reference],
            Some('d' | 'r' | 'p' | 'e') => &[&setup.patched],
            Some('b') => continue, // see alike.rs
            _ => {
                trials.push(Trial::test(format!("ours::{name}"), || {
                    Err("the first letter of a test is b, d, e, p or r".into())
                }));
                continue;
            }
        };
        directors += servers.len() - 1;
        for server in servers {
            for round in rounds() {
                let case = Case {
                    suite: format!("ours-{}", server.name),
                    name: format!("{name}{round}"),
                    file: file.clone(),
                    view: View::Installed,
                    patched: server.name == setup.patched.name,
                    // The very same library file on both
                    vmods: vec![setup.library_folder(), server.vmods()],
                    macros: vec![("library".to_owned(), library.display().to_string())],
                };
                trials.push(case.into_trial(setup));
            }
        }
    }
    if reference {
        trials.push(at_least(1, "ours-reference", directors));
    }
    trials.push(examples_have_tests(setup));
    trials.push(programs_are_macros(setup));
    trials
}

/// The tests run on all series, whose programs have other names: `${varnish} v1`, `${varnishadm}`.
fn programs_are_macros(setup: &Arc<Setup>) -> Trial {
    let setup = Arc::clone(setup);
    Trial::test("ours-patched::programs are named by macros", move || {
        for file in files(&setup.root.join("tests/vtc"), ".vtc") {
            let bytes = fs::read(&file)?;
            let text = String::from_utf8_lossy(&bytes);
            let code = text.lines().skip(1).filter(|line| !line.trim_start().starts_with('#'));
            for line in code {
                if line.replace("${varnish", "").contains("varnish") {
                    return Err(format!("{}: not a macro: {line}", file.display()).into());
                }
            }
        }
        Ok(())
    })
}

/// Each file of examples/ is named by a test whose letter is e.
fn examples_have_tests(setup: &Arc<Setup>) -> Trial {
    let setup = Arc::clone(setup);
    Trial::test("ours-patched::each example has a test", move || {
        let mut tests = files(&setup.root.join("tests/vtc"), ".vtc");
        tests.retain(|file| stem(file).starts_with('e'));
        let text: String = tests.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
        for example in files(&setup.root.join("examples"), ".vcl") {
            let used = format!("${{examples}}/{}.vcl", stem(&example));
            if !text.contains(&used) {
                return Err(format!("no test uses {used}").into());
            }
        }
        Ok(())
    })
}
