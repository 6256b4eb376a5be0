//! Where it was measured: the heading of a table.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

/// One line on the machine, as far as it tells, and one on the server.
pub fn describe(server: &Path) -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("processor", |(_, name)| name.trim());
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or("?");
    let kernel = read("/proc/sys/kernel/osrelease");
    // Without what whoever built it has added
    let kernel = kernel.split(['-', '\n']).next().unwrap_or("?");
    format!("{cores} cores ({model}), Linux {kernel}, load {load} at the start; {}", version(server))
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn version(server: &Path) -> String {
    let output = Command::new(server).arg("-V").output().map(|o| [o.stdout, o.stderr].concat()).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    let between = text.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    between.map_or("?", |(inner, _)| inner).to_owned()
}
