//! Runs one test file in a varnishtest process of its own.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};

use super::sanitizer::{reports, SLOWER};
use super::setup::{stem, Server, Setup};

/// varnishtest's exit status for a test that lacks a feature of the machine.
const SKIPPED: i32 = 77;
/// Seconds that a test may take; long enough for hundreds of VCLs on a busy machine.
const TIMEOUT: u64 = 300;
/// Lines of the log that a failed test shows.
const TAIL: usize = 80;
/// varnishtest's log of a test: it asserts when that is full, and its own 1 MB are few for hundreds of requests.
const BUFFER: &str = "128m";
/// Macros for what the series calls its programs, and the setting that has the name.
const PROGRAMS: [(&str, &str); 4] =
    [("varnish", "VTC_SERVER"), ("varnishadm", "ADM"), ("varnishlog", "LOG"), ("varnishstat", "STAT")];
/// Socket names of a test must fit into 107 bytes, with the names that varnishtest adds.
const TMP_MAX: usize = 50;

/// How a test sees the server.
pub enum View {
    /// As installed: programs from the prefix, named by macros.
    Installed,
    /// As in upstream's own test run: programs and macros from the build tree.
    BuildTree,
}

/// A test file on a server, with the VMODs of these folders only.
pub struct Case {
    pub suite: String,
    pub name: String,
    pub file: PathBuf,
    pub view: View,
    pub patched: bool,
    pub vmods: Vec<PathBuf>,
    /// Macros of the test, name and value.
    pub macros: Vec<(String, String)>,
}

impl Case {
    pub fn into_trial(self, setup: &Arc<Setup>) -> Trial {
        let setup = Arc::clone(setup);
        let name = format!("{}::{}", self.suite, self.name);
        Trial::ignorable_test(name, move || match self.left_out(&setup) {
            Some(reason) => Ok(Completion::ignored_with(reason)),
            None => self.run(&setup).or_else(|failed| self.again(&setup, failed)),
        })
    }

    /// Some of upstream's tests depend on how busy the machine is. Those that are run unchanged, to see that VMODs load, get
    /// another try.
    fn again(&self, setup: &Setup, failed: Failed) -> Result<Completion, Failed> {
        if self.suite != "compat" {
            return Err(failed);
        }
        println!("{}::{} failed once:\n{}", self.suite, self.name, failed.message().unwrap_or_default());
        self.run(setup)
    }

    fn left_out<'a>(&self, setup: &'a Setup) -> Option<&'a str> {
        setup.left_out(&format!("{}::{}", self.suite, stem(&self.file)))
    }

    fn server<'a>(&self, setup: &'a Setup) -> &'a Server {
        if self.patched {
            &setup.patched
        } else {
            &setup.reference
        }
    }

    pub fn run(&self, setup: &Setup) -> Result<Completion, Failed> {
        let log = setup.here.join("log/vtc").join(&self.suite).join(format!("{}.log", self.name));
        let found = log.with_extension("reports");
        fs::remove_dir_all(&found).ok();
        let status = self.spawn(setup, &log, &found).map_err(|e| format!("varnishtest: {e}"))?;
        // The process of the server that has something to report need not be one whose end varnishtest minds
        let found = reports(&found);
        if !found.is_empty() && setup.sanitizer.as_ref().is_some_and(|s| s.minds(self.patched)) {
            return Err(format!("{found}whole log: {}", log.display()).into());
        }
        let text = fs::read(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        let text = String::from_utf8_lossy(&text);
        match status {
            Some(0) => Ok(Completion::Completed),
            Some(SKIPPED) => Ok(Completion::ignored_with(skip_reason(&text))),
            _ => {
                let lines: Vec<&str> = text.lines().collect();
                let tail = lines[lines.len().saturating_sub(TAIL)..].join("\n");
                Err(format!("{tail}\nwhole log: {}", log.display()).into())
            }
        }
    }

    /// The exit status, or none after a signal; what was printed is in the log, what a sanitizer said in `reports`.
    fn spawn(&self, setup: &Setup, log: &Path, reports: &Path) -> Result<Option<i32>, String> {
        let server = self.server(setup);
        let text = |e: std::io::Error| e.to_string();
        fs::create_dir_all(log.parent().unwrap_or(log)).map_err(text)?;
        let output = File::create(log).map_err(text)?;
        let vmods: Vec<String> = self.vmods.iter().map(|p| p.display().to_string()).collect();

        let mut command = Command::new(server.program(&setup.conf("VTEST")?));
        let mut timeout = TIMEOUT;
        let mut parameters = format!("-p vmod_path={}", vmods.join(":"));
        if let Some(sanitizer) = &setup.sanitizer {
            fs::create_dir_all(reports).map_err(text)?;
            let (variable, options) = sanitizer.environment(reports, self.patched);
            command.env(variable, options);
            timeout *= SLOWER;
            // Tests have connections that stay open while VCL compiles
            parameters += " -p backend_idle_timeout=600";
        }
        command
            .arg("-v")
            .args(["-b", BUFFER])
            .args(["-t", &env::var("VTC_TIMEOUT").unwrap_or_else(|_| timeout.to_string())])
            .arg(format!("-D{}_args_append={parameters}", setup.conf("SERVER")?))
            .arg(format!("-Dexamples={}", setup.root.join("examples").display()))
            .args(self.macros.iter().map(|(name, value)| format!("-D{name}={value}")))
            .env("TMPDIR", tmp_folder(setup).map_err(text)?)
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(text)?)
            .stderr(output);
        match self.view {
            View::Installed => {
                command.env("PATH", path_with(&server.prefix));
                for (name, key) in PROGRAMS {
                    command.arg(format!("-D{name}={}", setup.conf(key)?));
                }
            }
            View::BuildTree => {
                command.arg("-i").current_dir(&server.source);
            }
        }
        let status = command.arg(&self.file).status().map_err(text)?;
        Ok(status.code())
    }
}

/// Where varnishtest makes its folders: under build/ if socket names stay short enough there.
fn tmp_folder(setup: &Setup) -> std::io::Result<PathBuf> {
    let folder = setup.here.join("tmp");
    if folder.as_os_str().len() > TMP_MAX {
        return Ok(env::temp_dir());
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// PATH with the server's programs first.
fn path_with(prefix: &Path) -> OsString {
    let mut folders = vec![prefix.join("sbin"), prefix.join("bin")];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    env::join_paths(folders).unwrap_or_default()
}

/// The reason that varnishtest gave for a skip.
fn skip_reason(log: &str) -> String {
    log.lines()
        .find_map(|line| line.split_once("SKIPPING test, ").map(|(_, reason)| reason))
        .unwrap_or("no reason in the log")
        .to_owned()
}
