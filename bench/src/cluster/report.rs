//! The table, as Markdown, and for the terminal.

use std::fmt::Write as _;

use bench::sample::quantile;

use crate::plan::{Plan, GIVE_UP, ORIGINS, SERVICE, SLOW, SLOWER};
use crate::run::Run;
use crate::vcl::Contender;

/// A phase of a run. Requests belong to the phase in which they were due.
pub struct Figures {
    /// Answers of origins for each second.
    pub throughput: f64,
    pub errors: usize,
    /// In milliseconds; errors count with the time that they took.
    pub p50: f64,
    pub p99: f64,
}

pub fn figures(run: &Run, plan: &Plan, phase: usize) -> Figures {
    let answers: Vec<_> = run.answers.iter().filter(|answer| plan.phase(answer.due) == phase).collect();
    let good = answers.iter().filter(|answer| answer.is_good).count();
    let mut latencies: Vec<f64> = answers.iter().map(|answer| answer.latency.as_secs_f64() * 1000.0).collect();
    latencies.sort_by(f64::total_cmp);
    let at = |part| if latencies.is_empty() { f64::NAN } else { quantile(&latencies, part) };
    Figures {
        throughput: good as f64 / plan.phases[phase].1.as_secs_f64(),
        errors: answers.len() - good,
        p50: at(0.5),
        p99: at(0.99),
    }
}

/// A run, in a few lines.
pub fn lines(run: &Run, plan: &Plan) -> String {
    let mut text = format!("{}\n", run.contender.name());
    for (phase, (name, _)) in plan.phases.iter().enumerate() {
        let f = figures(run, plan, phase);
        writeln!(
            text,
            "  {name:<15} {:6.1} answers a second, {:5} errors, p50 {:6.0} ms, p99 {:6.0} ms",
            f.throughput, f.errors, f.p50, f.p99
        )
        .expect("a string takes everything");
    }
    text
}

pub fn markdown(runs: &[Run], plan: &Plan, date: &str, machine: &str) -> String {
    let mut text = format!("# A cluster with an origin that slows down, {date}\n\n");
    write(&mut text, runs, plan, machine).expect("a string takes everything");
    text
}

fn write(out: &mut String, runs: &[Run], plan: &Plan, machine: &str) -> std::fmt::Result {
    writeln!(out, "`make bench-cluster` on {machine}.\n\n{plan}.\n")?;
    writeln!(out, "![shares and latency over time](cluster.svg)\n")?;
    writeln!(
        out,
        "| director | phase | answers a second | errors | p50, ms | p99, ms |\n|---|---|---:|---:|---:|---:|"
    )?;
    for run in runs {
        for (phase, (name, _)) in plan.phases.iter().enumerate() {
            let f = figures(run, plan, phase);
            let director = run.contender.name();
            writeln!(
                out,
                "| {director} | {name} | {:.1} | {} | {:.0} | {:.0} |",
                f.throughput, f.errors, f.p50, f.p99
            )?;
        }
    }
    writeln!(out, "\n{}\n", verdict(runs, plan))?;
    writeln!(
        out,
        "A request belongs to the phase in which it was due, and its latency begins then. An error is no answer of an origin \
         within {} s; it counts with the time that it took. Workers take {} ms for a request, those of {} {} times as long while it is slow.",
        GIVE_UP.as_secs(),
        SERVICE.as_millis(),
        ORIGINS[SLOW].name,
        SLOWER
    )
}

/// Whether load weights make the difference that is asked of them.
pub fn verdict(runs: &[Run], plan: &Plan) -> String {
    let p99 = |contender| {
        let run = runs.iter().find(|run| run.contender == contender);
        run.map_or(f64::NAN, |run| figures(run, plan, 1).p99)
    };
    let (stock, ours) = (p99(Contender::StockRandom), p99(Contender::LoadWeights));
    let word = if ours <= stock / 2.0 { "Met" } else { "MISSED" };
    format!(
        "{word}: while {} is slow, p99 with load weights is {:.2} of that with `{}` (target: at most 0.5).",
        ORIGINS[SLOW].name,
        ours / stock,
        Contender::StockRandom.name()
    )
}
