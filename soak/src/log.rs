//! Probes and subs as the server logs them: each probe has a Backend_health record, each run of subs a VCL_call.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

#[derive(Default)]
pub struct Counts {
    pub probes: AtomicU64,
    pub subs: AtomicU64,
    /// Changes from healthy to sick, and back.
    pub changes: AtomicU64,
    /// How often the reader was too slow and records were lost.
    pub overruns: AtomicU64,
}

impl Counts {
    fn count(&self, line: &str) {
        let mut words = line.split_whitespace().skip(1);
        match words.next() {
            Some("Backend_health") => {
                self.probes.fetch_add(1, Ordering::Relaxed);
                if line.contains(" Went sick ") || line.contains(" Back healthy ") {
                    self.changes.fetch_add(1, Ordering::Relaxed);
                }
            }
            Some("VCL_call") => {
                self.subs.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

/// The program that reads the log; it ends when this is dropped.
pub struct Log {
    process: Child,
    pub counts: Arc<Counts>,
}

impl Log {
    pub fn start(program: &Path, work: &Path) -> io::Result<Log> {
        let mut process = Command::new(program)
            .arg("-n")
            .arg(work)
            .args(["-g", "raw", "-i", "Backend_health", "-I", "VCL_call:PROBE_RESPONSE"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| io::Error::other(format!("cannot start {}: {e}", program.display())))?;
        let counts = Arc::new(Counts::default());
        let (records, messages) = (process.stdout.take(), process.stderr.take());
        let counted = Arc::clone(&counts);
        thread::spawn(move || each_line(records, |line| counted.count(line)));
        let counted = Arc::clone(&counts);
        thread::spawn(move || {
            each_line(messages, |line| {
                if line.contains("overrun") {
                    counted.overruns.fetch_add(1, Ordering::Relaxed);
                }
            });
        });
        Ok(Log { process, counts })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Lines need not be text: they quote what an origin sent.
fn each_line(pipe: Option<impl io::Read>, mut then: impl FnMut(&str)) {
    let Some(pipe) = pipe else { return };
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        then(&String::from_utf8_lossy(&line));
    }
}
