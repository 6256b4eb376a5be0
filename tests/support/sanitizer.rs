//! Running what was built with SANITIZE: options of the sanitizer, what it reports, which tests are left out.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::setup::files;

/// A test takes up to this many times as long.
pub const SLOWER: u64 = 4;

pub struct Sanitizer {
    /// As in SANITIZE.
    pub name: String,
    /// The environment variable that its runtime reads.
    variable: &'static str,
    options: &'static str,
    /// What is known of the server as released: see thread.supp.
    known: Option<PathBuf>,
    left_out: Vec<LeftOut>,
}

/// A line of tests/sanitizers/left-out.conf.
struct LeftOut {
    test: String,
    reason: String,
}

impl Sanitizer {
    /// That of SANITIZE, if there is one. `folder` is tests/sanitizers.
    pub fn from_env(folder: &Path) -> Result<Option<Sanitizer>, String> {
        let name = match env::var("SANITIZE") {
            Ok(name) if !name.is_empty() => name,
            _ => return Ok(None),
        };
        let (variable, options) = match name.as_str() {
            // As upstream's own runs, where varnishd keeps its signal handlers and stacks. No leaks: what the compiler of
            // VCL and the threads of the child hold when they exit is many, and not ours.
            "address" => (
                "ASAN_OPTIONS",
                "abort_on_error=1:detect_odr_violation=1:detect_leaks=0:detect_stack_use_after_return=1:\
                 detect_invalid_pointer_pairs=1:handle_segv=0:handle_sigbus=0:use_sigaltstack=0",
            ),
            "undefined" => ("UBSAN_OPTIONS", "halt_on_error=1:abort_on_error=1:print_stacktrace=1:use_sigaltstack=0"),
            // The process goes on, so that one run shows all races
            "thread" => ("TSAN_OPTIONS", "exitcode=0:use_sigaltstack=0"),
            _ => return Err(format!("SANITIZE={name} is none of address, undefined, thread")),
        };
        let known = (name == "thread").then(|| folder.join("thread.supp"));
        let list = folder.join("left-out.conf");
        let text = fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
        let left_out = text.lines().filter_map(|line| LeftOut::parse(line, &name)).collect();
        Ok(Some(Sanitizer { name, variable, options, known, left_out }))
    }

    /// Name and value of the environment variable which makes reports go to this folder, as files.
    pub fn environment(&self, reports: &Path, patched: bool) -> (&'static str, String) {
        let known = match &self.known {
            Some(known) if patched => format!(":suppressions={}", known.display()),
            _ => String::new(),
        };
        (self.variable, format!("{}{known}:log_path={}", self.options, reports.join("report").display()))
    }

    /// Whether a report is a failure. The unpatched server's races are only kept, to be looked up: known ones and those
    /// that the series mends are among them.
    pub fn minds(&self, patched: bool) -> bool {
        patched || self.known.is_none()
    }

    /// Why this test is left out, if it is.
    pub fn left_out(&self, test: &str) -> Option<&str> {
        self.left_out.iter().find(|l| l.test == test).map(|l| l.reason.as_str())
    }

    /// A test that is left out but not among these (which may have the number of a round): the list has a line too many.
    pub fn unknown(&self, tests: &[&str]) -> Option<&str> {
        let is =
            |test: &str, name| test.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        self.left_out.iter().map(|l| l.test.as_str()).find(|name| !tests.iter().any(|test| is(test, *name)))
    }
}

impl LeftOut {
    /// "SANITIZER[,SANITIZER] SUITE::NAME reason", if it is about this sanitizer.
    fn parse(line: &str, sanitizer: &str) -> Option<LeftOut> {
        let mut words = line.splitn(3, ' ');
        let (sanitizers, test, reason) = (words.next()?, words.next()?, words.next()?);
        let meant = sanitizers.split(',').any(|name| name == sanitizer);
        meant.then(|| LeftOut { test: test.to_owned(), reason: reason.to_owned() })
    }
}

/// What sanitizers wrote into this folder, of all processes of a test; nothing if all is well.
pub fn reports(folder: &Path) -> String {
    let texts = files(folder, "").into_iter().map(|path: PathBuf| {
        let text = fs::read(&path).map_or_else(|e| e.to_string(), |b| String::from_utf8_lossy(&b).into_owned());
        format!("{}:\n{text}\n", path.display())
    });
    texts.collect()
}
