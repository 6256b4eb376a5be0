//! The tables, as Markdown.

use std::fmt::Write as _;

use bench::sample::digits;

use crate::measure::{Memory, Pace, Pair, Results, RATE};
use crate::target::Target;
use crate::vcl::{Kind, Whose, MANY, SIZES};

pub struct Heading<'a> {
    pub date: &'a str,
    pub machine: &'a str,
    pub pace: &'a Pace,
}

pub fn markdown(heading: &Heading<'_>, results: &Results, memory: &[Memory], targets: &[Target]) -> String {
    let mut text = String::new();
    write(&mut text, heading, results, memory, targets).expect("a string takes everything");
    text
}

fn write(
    out: &mut String,
    heading: &Heading<'_>,
    results: &Results,
    memory: &[Memory],
    targets: &[Target],
) -> std::fmt::Result {
    let Heading { date, machine, pace } = heading;
    writeln!(out, "# What a pick costs, {date}\n")?;
    writeln!(out, "`make bench` on {machine}.\n")?;
    writeln!(
        out,
        "Times are nanoseconds by the wall clock, in one thread; figures are the median (and the quartiles) of {} runs of {} ms, \
         taken in turns with what they are compared with. `../README.md` says what is measured.\n",
        pace.rounds,
        pace.time.as_millis()
    )?;
    writeln!(out, "## Targets\n\n| | what | measured, at worst | where | target |\n|---|---|---:|---|---:|")?;
    for target in targets {
        writeln!(out, "{}", target.row())?;
    }
    writeln!(out, "\n## A pick, ours against those of the server\n")?;
    pairs(out, &results.picks, "stock", "ours", "ours / stock")?;
    writeln!(out, "\n## A shared number, and a pick of our fallback, against a pick of our round robin\n")?;
    pairs(out, &results.numbers, "number and fallback", "round_robin", "round_robin / number and fallback")?;
    writeln!(out, "\n## A pick, while a thread sets {RATE} weights a second\n")?;
    pairs(out, &results.writer, "without", "with", "with / without")?;
    writeln!(out, "\n## `set_weight`, nanoseconds\n")?;
    writeln!(out, "| director |{}", row(SIZES.iter().map(|n| format!("{n} members"))))?;
    writeln!(out, "|---|{}", "---:|".repeat(SIZES.len()))?;
    for kind in Kind::ALL {
        let times = results.sets.iter().filter(|s| s.kind == kind).map(|s| s.time.to_string());
        writeln!(out, "| {} |{}", kind.name(), row(times))?;
    }
    writeln!(out, "\n## Memory, bytes for each of {MANY} members\n")?;
    writeln!(out, "| director | stock | ours | ours / stock |\n|---|---:|---:|---:|")?;
    for kind in Kind::ALL {
        let bytes = |whose, kind| {
            let found = memory.iter().find(|m| m.object.whose == whose && m.object.kind == kind);
            found.map_or(f64::NAN, |m| m.bytes)
        };
        let (stock, ours) = (bytes(Whose::Stock, kind.stock()), bytes(Whose::Ours, kind));
        writeln!(out, "| {} | {stock:.0} | {ours:.0} | {} |", name(kind, true), digits(ours / stock))?;
    }
    Ok(())
}

/// With what it is compared with, if that is another one.
fn name(kind: Kind, compared: bool) -> &'static str {
    match kind {
        Kind::Least if compared => "least (stock: random)",
        _ => kind.name(),
    }
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.map(|cell| format!(" {cell} |")).collect()
}

fn pairs(out: &mut String, pairs: &[Pair], before: &str, after: &str, ratio: &str) -> std::fmt::Result {
    let rated = pairs.iter().any(|p| p.rate.is_some());
    let (title, line) = if rated { (" weights set a second |", "---:|") } else { ("", "") };
    writeln!(out, "| director | members | threads | {before} | {after} | {ratio} |{title}")?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|{line}")?;
    for p in pairs {
        let rate = p.rate.map_or(String::new(), |rate| format!(" {rate} |"));
        let name = name(p.kind, !rated);
        writeln!(out, "| {name} | {} | {} | {} | {} | {} |{rate}", p.size, p.threads, p.before, p.after, p.ratio)?;
    }
    Ok(())
}
