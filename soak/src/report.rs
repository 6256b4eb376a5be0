//! What happened, as a table, and whether it was right.

use std::fmt;
use std::time::Duration;

use crate::fault::Fault;
use crate::worker::Holds;

/// Percent that memory may grow from the second lap to the last: the first one is for whatever is kept for later use.
const GROWTH: u64 = 2;

/// What the worker process holds: the median while at work, and what is left at rest.
#[derive(Clone, Copy)]
pub struct Lap {
    pub work: Holds,
    pub rest: Holds,
}

#[derive(Default)]
pub struct Report {
    /// The time at work.
    pub time: Duration,
    pub backends: usize,
    pub steady: usize,
    pub probes: u64,
    pub subs: u64,
    pub changes: u64,
    pub log_overruns: u64,
    pub seen_by_origins: u64,
    pub reloads: u64,
    pub by_hand: u64,
    /// Times that an origin had a fault, and connections that met it, in the order of `Fault::ALL`.
    pub spells: [u64; Fault::ALL.len()],
    pub connections: [u64; Fault::ALL.len()],
    pub requests: u64,
    pub errors: u64,
    pub error_texts: Vec<String>,
    pub panics: u64,
    pub vcl_failures: u64,
    /// VCLs, backends and VMODs that were there when there should have been none.
    pub left: Vec<String>,
    pub laps: Vec<Lap>,
    /// Why the run ended early.
    pub broken: Option<String>,
}

impl Report {
    /// Memory in kB, in the second lap and in the last. `None` if there are not that many.
    fn memory(&self) -> Option<[(&'static str, u64, u64); 2]> {
        let [_, second, .., last] = self.laps.as_slice() else { return None };
        Some([("RSS", second.work.rss, last.work.rss), ("VmData", second.work.data, last.work.data)])
    }

    /// File descriptors at rest, after the first lap and after the last.
    fn descriptors(&self) -> Option<(u64, u64)> {
        Some((self.laps.first()?.rest.descriptors, self.laps.last()?.rest.descriptors))
    }

    /// All that was not as it should be.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        let mut fail = |failed: bool, text: String| {
            if failed {
                failures.push(text);
            }
        };
        fail(self.panics > 0, format!("{} panics", self.panics));
        fail(self.errors > 0, format!("{} requests failed, and there were healthy backends", self.errors));
        fail(!self.left.is_empty(), format!("not gone: {}", self.left.join(", ")));
        for (what, was, is) in self.memory().into_iter().flatten() {
            let text = format!("{what} grew by {:.2} %, more than {GROWTH} %", growth(was, is));
            fail(is * 100 > was * (100 + GROWTH), text);
        }
        if let Some((was, is)) = self.descriptors() {
            fail(is > was, format!("file descriptors grew from {was} to {is}"));
        }
        if let Some(broken) = &self.broken {
            fail(true, broken.clone());
            return failures;
        }
        // A run that did nothing shows nothing
        let work =
            [("probes", self.probes), ("subs", self.subs), ("reloads", self.reloads), ("requests", self.requests)];
        for (what, number) in work {
            fail(number == 0, format!("no {what}"));
        }
        for (fault, number) in Fault::ALL.iter().zip(self.connections) {
            fail(number == 0, format!("no {}", fault.name()));
        }
        failures
    }
}

fn growth(was: u64, is: u64) -> f64 {
    (is as f64 / was as f64 - 1.0) * 100.0
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs_f64();
        let rate = |number: u64| format!("{:.0} a second", number as f64 / seconds);
        let minutes = seconds / 60.0;
        writeln!(f, "soak: {minutes:.1} minutes, {} backends, {} of them without faults", self.backends, self.steady)?;
        let mut row = |what: &str, number: u64, more: &str| {
            let row = format!("  {what:<18} {number:>10}  {more}");
            writeln!(f, "{}", row.trim_end())
        };

        let seen = format!("{}; {} came in at the origins", rate(self.probes), self.seen_by_origins);
        row("probes run", self.probes, &seen)?;
        row("subs run", self.subs, &rate(self.subs))?;
        row("changes of health", self.changes, "")?;
        let by_hand =
            format!("one each {:.1} s; {} with health set by hand", seconds / self.reloads as f64, self.by_hand);
        row("reloads", self.reloads, &by_hand)?;
        for ((fault, spells), connections) in Fault::ALL.iter().zip(self.spells).zip(self.connections) {
            row(&format!("fault: {}", fault.name()), connections, &format!("connections, at {spells} times"))?;
        }
        row("requests", self.requests, &rate(self.requests))?;
        row("errors", self.errors, "")?;
        row("panics", self.panics, "")?;
        row("VCL failures", self.vcl_failures, "a load of 0 makes one")?;
        row("left over", self.left.len() as u64, "VCLs, backends, VMODs at rest")?;
        match self.memory() {
            Some(memory) => {
                for (what, was, is) in memory {
                    let more = format!("kB, {:+.2} % from {was} kB in the second lap", growth(was, is));
                    row(what, is, &more)?;
                }
            }
            None => row("laps", self.laps.len() as u64, "too few to tell whether memory grows")?,
        }
        if let Some((was, is)) = self.descriptors() {
            row("descriptors", is, &format!("at rest, {was} after the first lap"))?;
        }
        if self.log_overruns > 0 {
            row("log overruns", self.log_overruns, "more probes and subs ran than were counted")?;
        }
        for text in &self.error_texts {
            writeln!(f, "  error: {text}")?;
        }
        let failures = self.failures();
        for failure in &failures {
            writeln!(f, "soak: FAILED: {failure}")?;
        }
        if failures.is_empty() {
            writeln!(f, "soak: ok")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Report {
        let work = Holds { rss: 100_000, data: 200_000, descriptors: 300 };
        let lap = Lap { work, rest: Holds { descriptors: 50, ..work } };
        Report {
            time: Duration::from_secs(60),
            backends: 200,
            steady: 40,
            probes: 1,
            subs: 1,
            reloads: 1,
            requests: 1,
            connections: [1; Fault::ALL.len()],
            laps: vec![lap; 3],
            ..Report::default()
        }
    }

    #[test]
    fn a_good_run_has_no_failures() {
        assert!(good().failures().is_empty());
        assert!(good().to_string().ends_with("soak: ok\n"));
    }

    #[test]
    fn each_of_these_is_a_failure() {
        let bad: [fn(&mut Report); 9] = [
            |r| r.panics = 1,
            |r| r.errors = 1,
            |r| r.left.push("soak7".to_owned()),
            |r| r.laps[2].work.rss = 102_001,
            |r| r.laps[2].work.data = 204_001,
            |r| r.laps[2].rest.descriptors = 51,
            |r| r.subs = 0,
            |r| r.connections[2] = 0,
            |r| r.broken = Some("stopped".to_owned()),
        ];
        for (i, spoil) in bad.iter().enumerate() {
            let mut report = good();
            spoil(&mut report);
            assert_eq!(report.failures().len(), 1, "number {i}");
        }
    }

    #[test]
    fn two_percent_are_allowed_and_anything_in_the_first_lap() {
        let mut report = good();
        report.laps[0].work = Holds::default();
        report.laps[2].work = Holds { rss: 102_000, data: 204_000, descriptors: 900 };
        assert!(report.failures().is_empty());
    }

    #[test]
    fn two_laps_are_too_short_to_tell() {
        let mut report = good();
        report.laps[1].work.rss *= 2;
        report.laps.truncate(2);
        assert!(report.failures().is_empty());
    }
}
