//! Everything that runs in varnishtest, as one pool of tests: they mostly wait.
//!
//! `cargo test --test varnishtest -- ours` runs one suite, any part of a name selects.
//! VTC_JOBS: tests at a time; VTC_TIMEOUT: seconds for each; VTC_REPEAT: rounds of our own tests and of those in the patches.

mod suites;
mod support;

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use libtest_mimic::{Arguments, Trial};
use support::setup::Setup;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if arguments.test_threads.is_none() {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let jobs = env::var("VTC_JOBS").ok().and_then(|n| n.parse().ok());
        arguments.test_threads = Some(jobs.unwrap_or(2 * cores));
    }
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>, String> {
    let setup = Arc::new(Setup::find()?);
    let reference = setup.built(&setup.reference)?;
    let mut trials = suites::ours::trials(&setup, reference);
    trials.extend(suites::series::trials(&setup));
    trials.extend(suites::upstream::trials(&setup)?);
    trials.extend(suites::vmods::trials(&setup));
    if reference {
        trials.extend(suites::alike::trials(&setup));
        trials.extend(suites::compat::trials(&setup)?);
    } else {
        trials.extend(["ours-reference", "alike", "compat"].map(suites::without_reference));
    }
    if let Some(sanitizer) = &setup.sanitizer {
        let names: Vec<&str> = trials.iter().map(Trial::name).collect();
        if let Some(name) = sanitizer.unknown(&names) {
            return Err(format!("tests/sanitizers/left-out.conf: there is no test {name}"));
        }
    }
    Ok(trials)
}
