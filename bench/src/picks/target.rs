//! What is asked of the directors, and whether it is so.

use std::fmt;

use bench::sample::digits;

use crate::measure::{Pair, Results};
use crate::vcl::{Kind, MANY};

pub struct Target {
    what: String,
    /// The worst figure of those that are meant, and where it is.
    figure: f64,
    place: String,
    at_most: f64,
    unit: &'static str,
}

impl Target {
    pub fn is_met(&self) -> bool {
        self.figure <= self.at_most
    }

    /// A row of a table.
    pub fn row(&self) -> String {
        let word = if self.is_met() { "met" } else { "**missed**" };
        let (figure, at_most, unit) = (digits(self.figure), digits(self.at_most), self.unit);
        format!("| {word} | {} | {figure}{unit} | {} | {at_most}{unit} |", self.what, self.place)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_met() { "met" } else { "MISSED" };
        let (figure, at_most, unit) = (digits(self.figure), digits(self.at_most), self.unit);
        write!(f, "{word}: {}: {figure}{unit} ({}), at most {at_most}{unit}", self.what, self.place)
    }
}

pub fn all(results: &Results) -> Vec<Target> {
    let ratio = |what: &str, at_most, choose: &dyn Fn(&Pair) -> bool| worst(what, at_most, &results.picks, choose);
    let mut targets = vec![
        ratio("random of many, one thread, ours / stock", 1.0 / 50.0, &|p| is(p, Kind::Random, 1) && p.size == MANY),
        ratio("random of many, two threads, ours / stock", 1.0 / 100.0, &|p| is(p, Kind::Random, 2) && p.size == MANY),
        ratio("random of 2, one thread, ours / stock", 1.0, &|p| is(p, Kind::Random, 1) && p.size == 2),
        ratio("random of 2, two threads, ours / stock", 0.5, &|p| is(p, Kind::Random, 2) && p.size == 2),
        ratio("round_robin, one thread, ours / stock", 1.2, &|p| is(p, Kind::RoundRobin, 1)),
        ratio("round_robin, two threads, ours / stock", 0.5, &|p| is(p, Kind::RoundRobin, 2)),
        ratio("hash, ours / stock", 1.0, &|p| p.kind == Kind::Hash),
        ratio("shard, ours / stock", 1.0, &|p| p.kind == Kind::Shard),
    ];
    targets.extend(Kind::ALL.into_iter().map(|kind| worst_of_kind(kind, &results.writer)));
    targets.extend(results.sets.iter().filter(|s| s.size == MANY).map(|set| Target {
        what: format!("set_weight, {}", set.kind.name()),
        figure: set.time.median,
        place: format!("{MANY} members"),
        at_most: 3000.0,
        unit: " ns",
    }));
    targets
}

fn is(pair: &Pair, kind: Kind, threads: usize) -> bool {
    pair.kind == kind && pair.threads == threads
}

fn worst_of_kind(kind: Kind, writer: &[Pair]) -> Target {
    worst(&format!("{}, with a writer / without", kind.name()), 1.5, writer, &|p| p.kind == kind)
}

/// The largest ratio, of medians of paired runs.
fn worst(what: &str, at_most: f64, pairs: &[Pair], choose: &dyn Fn(&Pair) -> bool) -> Target {
    let mut target = Target {
        what: what.to_owned(),
        figure: f64::NEG_INFINITY,
        place: "nothing measured".into(),
        at_most,
        unit: "",
    };
    for pair in pairs.iter().filter(|p| choose(p)) {
        if pair.ratio.median > target.figure {
            target.figure = pair.ratio.median;
            target.place = format!("{} members, threads: {}", pair.size, pair.threads);
        }
    }
    target
}
