//! The output of `backend.list` for a shard director.
//!
//! Columns and members are those of the bundled director; in JSON there is the weight too once one was set.

use std::io::Write as _;

use super::Core;
use crate::ffi::{Ctx, Vsb};
use crate::list::{escaped, field, health, is_steered, summary, Form, Steering};

struct Line<'a> {
    name: &'a [u8],
    ident: &'a [u8],
    weight: f64,
    healthy: bool,
    /// From 0 to 1: how much of its requests it gets.
    rampup: f64,
    /// In seconds.
    remaining: f64,
    steering: Steering,
}

/// Writes the list. Gives the time when the health of a member changed last.
pub(super) fn write(ctx: &Ctx<'_>, core: &Core, form: Form, out: &mut Vsb<'_>) -> f64 {
    let state = core.state.load();
    let (warmup, rampup) = (core.defaults.warmup(), core.defaults.rampup());
    let (mut last_change, mut healthy, mut usable) = (0.0_f64, 0, false);
    let policy = core.weighing.policy();
    let steered = is_steered(&core.weighing, state.entries.iter().map(|e| &e.member));
    let mut lines = Vec::with_capacity(state.entries.len());
    for (entry, weight) in state.entries.iter().zip(&state.weights) {
        let (is_healthy, changed) = ctx.health(entry.member.backend());
        last_change = last_change.max(changed);
        healthy += usize::from(is_healthy);
        usable |= is_healthy && *weight > 0.0;
        let (rampup, remaining) = progress(is_healthy, ctx.now() - changed, entry.rampup.unwrap_or(rampup));
        lines.push(Line {
            name: entry.member.backend().name().to_bytes(),
            ident: entry.ident().to_bytes(),
            weight: *weight,
            healthy: is_healthy,
            rampup,
            remaining,
            steering: if steered { Steering::of(&entry.member, *weight, &policy, 1.0) } else { Steering::default() },
        });
    }
    match (form.details, form.json) {
        (false, json) => summary(healthy, lines.len(), usable, json, out),
        (true, false) => table(&lines, steered, out),
        (true, true) => json(&lines, warmup, rampup, steered, out),
    }
    last_change
}

/// How far a member has ramped up, and how long it still will. Always finite.
fn progress(healthy: bool, age: f64, rampup: f64) -> (f64, f64) {
    if !healthy {
        (0.0, 0.0)
    } else if age < rampup {
        ((age / rampup).max(0.0), (rampup - age).min(rampup))
    } else {
        (1.0, 0.0)
    }
}

fn table(lines: &[Line<'_>], steered: bool, out: &mut Vsb<'_>) {
    let more = if steered { "    Weight  Policy" } else { "" };
    let mut text = format!("\n\n\tBackend\tIdent\tHealth\tRampup  Remaining{more}\n").into_bytes();
    for line in lines {
        for part in [line.name, line.ident] {
            text.push(b'\t');
            text.extend(field(part));
        }
        // Writing to a Vec does not fail.
        let _ = write!(text, "\t{}\t{:6.2}% {:8.3}s", health(line.healthy), line.rampup * 100.0, line.remaining);
        if steered {
            let _ = write!(text, "  {:>8}  {}", line.steering.weight(), line.steering.reasons());
        }
        text.push(b'\n');
    }
    out.put(&text);
}

fn json(lines: &[Line<'_>], warmup: f64, rampup: f64, steered: bool, out: &mut Vsb<'_>) {
    out.put(b"{\n");
    out.indent(2);
    // Line by line: that is what is indented.
    out.put(format!("\"warmup\": {warmup:.6},\n").as_bytes());
    out.put(format!("\"rampup_duration\": {rampup:.6},\n").as_bytes());
    out.put(b"\"backends\": {\n");
    out.indent(2);
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            out.put(b",\n");
        }
        out.put(&[b"\"", &escaped(line.name)[..], b"\": {\n"].concat());
        out.indent(2);
        out.put(&[b"\"ident\": \"", &escaped(line.ident)[..], b"\",\n"].concat());
        if steered {
            out.put(format!("\"weight\": {:.6},\n", line.weight).as_bytes());
            line.steering.put_json(out);
        }
        out.put(format!("\"health\": \"{}\",\n", health(line.healthy)).as_bytes());
        out.put(format!("\"rampup\": {:.6},\n", line.rampup).as_bytes());
        out.put(format!("\"rampup_remaining\": {:.3}\n", line.remaining).as_bytes());
        out.indent(-2);
        out.put(b"}");
    }
    out.put(b"\n");
    out.indent(-2);
    out.put(b"}\n");
    out.indent(-2);
    out.put(b"},\n");
}

#[cfg(test)]
mod tests {
    use super::progress;

    #[test]
    fn numbers_are_finite() {
        assert_eq!(progress(true, 2.5, 10.0), (0.25, 7.5));
        assert_eq!(progress(true, 10.0, 10.0), (1.0, 0.0));
        assert_eq!(progress(true, 0.0, 0.0), (1.0, 0.0));
        assert_eq!(progress(true, -1.0, 0.0), (0.0, 0.0));
        assert_eq!(progress(false, 2.5, 10.0), (0.0, 0.0));
    }
}
