//! tests/vtc/b*.vtc: a VCL without the feature does the same on both servers, and so does the built-in sub.
//!
//! Such a test writes what it saw to `${output}.log` (log records), `.list` (backend.list -p) and `.stat` (counters).
//! Only times may differ, and, where VCL runs, the records that say so.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};

use super::at_least;
use crate::support::run::{Case, View};
use crate::support::setup::{files, stem, Server, Setup};

/// Makes the patched server run the built-in sub, where without it the C code decides.
const USER_SUB: &str = "sub vcl_probe_response { }";
/// Records of VCL that runs, and of the headers that are parsed for it.
const OF_VCL: [&str; 4] = ["VCL_use", "VCL_call", "VCL_return", "BogoHeader"];
/// Counters of threads that were not there yet when a task came.
const BY_CHANCE: [&str; 1] = ["MAIN.sess_queued"];

/// What of an output is compared, line by line.
type Reader = fn(&str) -> Vec<String>;

pub fn trials(setup: &Arc<Setup>) -> Vec<Trial> {
    let mut tests = files(&setup.root.join("tests/vtc"), ".vtc");
    tests.retain(|file| stem(file).starts_with('b'));
    let mut trials = vec![at_least(1, "alike", tests.len())];
    for file in tests {
        for (suffix, vcl) in [("plain", ""), ("with-sub", USER_SUB)] {
            let setup = Arc::clone(setup);
            let file = file.clone();
            let name = format!("alike::{}-{suffix}", stem(&file));
            trials.push(Trial::ignorable_test(name, move || compare(&setup, &file, suffix, vcl)));
        }
    }
    trials
}

fn compare(setup: &Setup, file: &Path, suffix: &str, vcl: &str) -> Result<Completion, Failed> {
    let reference = observe(setup, &setup.reference, file, suffix, "")?;
    let patched = observe(setup, &setup.patched, file, suffix, vcl)?;
    let (Some(reference), Some(patched)) = (reference, patched) else {
        return Ok(Completion::ignored_with("the test was skipped, see its log"));
    };
    let with_vcl = !vcl.is_empty();
    if with_vcl && !read(&patched, "log")?.contains("PROBE_RESPONSE") {
        return Err("the sub did not run".into());
    }
    let readers: [(&str, Reader); 3] = [("log", records), ("list", listing), ("stat", counters)];
    for (ending, reader) in readers {
        let expected = reader(&read(&reference, ending)?);
        let mut found = reader(&read(&patched, ending)?);
        if with_vcl {
            found.retain(|line| !OF_VCL.iter().any(|tag| line.contains(tag)));
        }
        if let Some(difference) = first_difference(&expected, &found) {
            let at = patched.display();
            return Err(format!("{at}.{ending} is not as on the unpatched server:\n{difference}").into());
        }
    }
    Ok(Completion::Completed)
}

/// Runs the test; where its output is, or nothing if it was skipped.
fn observe(setup: &Setup, server: &Server, file: &Path, suffix: &str, vcl: &str) -> Result<Option<PathBuf>, Failed> {
    let name = format!("{}-{suffix}-{}", stem(file), server.name);
    let output = setup.here.join("log/vtc/alike").join(&name);
    let case = Case {
        suite: "alike".to_owned(),
        name: format!("{name}.vtc"),
        file: file.to_owned(),
        view: View::Installed,
        patched: server.name == setup.patched.name,
        vmods: vec![server.vmods()],
        macros: vec![("output".to_owned(), output.display().to_string()), ("extra_vcl".to_owned(), vcl.to_owned())],
    };
    match case.run(setup)? {
        Completion::Completed => Ok(Some(output)),
        Completion::Ignored { .. } => Ok(None),
    }
}

fn read(output: &Path, ending: &str) -> Result<String, Failed> {
    let path = format!("{}.{ending}", output.display());
    fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|e| format!("{path}: {e}").into())
}

/// Log records without times, those of each backend together: how backends interleave is chance.
fn records(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let words = line.split(' ').map(|word| if is_time(word) { "TIME" } else { word });
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    lines.sort_by_key(|line| line.split(' ').find(|word| is_backend(word)).unwrap_or("").to_owned());
    lines
}

/// A word like 0.000185.
fn is_time(word: &str) -> bool {
    word.split_once('.').is_some_and(|(whole, decimals)| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits(whole) && digits(decimals) && decimals.len() == 6
    })
}

/// A word like b1.
fn is_backend(word: &str) -> bool {
    word.strip_prefix('b').is_some_and(|n| n.parse::<u32>().is_ok())
}

/// Lines of backend.list without the date of the last change and the response time.
fn listing(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| {
            if let Some((label, _)) = line.split_once("response time of good probes:") {
                return label.to_owned();
            }
            // "..., 29 Nov 2026 22:13:31 GMT" is the rest of the line
            match line.split_once(", ") {
                Some((head, rest)) if rest.ends_with("GMT") => head[..head.len().saturating_sub(3)].to_owned(),
                _ => line.to_owned(),
            }
        })
        .collect()
}

/// Names and values; rates depend on the time that the test took.
fn counters(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .filter(|line| !BY_CHANCE.iter().any(|name| line.starts_with(name)))
        .collect()
}

fn first_difference(expected: &[String], found: &[String]) -> Option<String> {
    let longest = expected.len().max(found.len());
    (0..longest).find_map(|i| {
        let (a, b) = (expected.get(i), found.get(i));
        let show = |line: Option<&String>| line.map_or("(end)", String::as_str).to_owned();
        (a != b).then(|| format!("line {}\n  unpatched: {}\n  patched:   {}", i + 1, show(a), show(b)))
    })
}
