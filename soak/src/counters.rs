//! The server's counters, as its own program prints them.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::Command;

pub struct Counters(HashMap<String, u64>);

impl Counters {
    pub fn read(program: &Path, work: &Path) -> io::Result<Counters> {
        let output = Command::new(program).arg("-n").arg(work).args(["-1", "-f", "MAIN.*", "-f", "MGT.*"]).output()?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{}: {text}", program.display())));
        }
        Ok(Counters::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    fn parse(text: &str) -> Counters {
        let pair = |line: &str| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        };
        Counters(text.lines().filter_map(pair).collect())
    }

    /// A counter that is not there would be a report of nothing, so it is an error.
    pub fn get(&self, name: &str) -> io::Result<u64> {
        self.0.get(name).copied().ok_or_else(|| io::Error::other(format!("no counter {name}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_each() {
        let counters = Counters::parse("MGT.child_panic   0   0.00 Panics\nMAIN.n_vcl   3    .   Number of VCLs\n");
        assert_eq!(counters.get("MAIN.n_vcl").ok(), Some(3));
        assert_eq!(counters.get("MGT.child_panic").ok(), Some(0));
        assert!(counters.get("MAIN.other").is_err());
    }
}
