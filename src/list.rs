//! The output of the CLI command `backend.list`, in its four forms.
//!
//! Same columns and members as the bundled directors, and more of them once a weight was set or there is a weight policy;
//! the server takes five columns at the most, the first of which is empty. As there, a JSON object of details ends in a comma: the server
//! writes on.

use std::io::Write as _;

use policy::reported::{ramp, Effect, WeightPolicy};

use crate::error::number;
use crate::ffi::{Ctx, Member, Vsb};
use crate::vdir::State;
use crate::weighing::Weighing;

/// Whether a director lists the weights of its members.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// They always are.
    Always,
    /// Once a weight is not 1.0, as it is unless it was set.
    IfSet,
    /// They never are.
    Never,
}

/// What a director that keeps to a member lists in place of weights.
#[derive(Clone, Copy)]
pub struct Current {
    /// Where that member is.
    pub place: usize,
    /// Whether it keeps to it when one before it recovers.
    pub sticky: bool,
}

/// What there is to list beside names and health.
#[derive(Clone, Copy)]
enum Column {
    Nothing,
    Weights,
    Current(Current),
}

/// Which form is asked for.
#[derive(Clone, Copy)]
pub struct Form {
    /// `-p`: one line per member. Else one word for all of them.
    pub details: bool,
    /// `-j`
    pub json: bool,
}

struct Line<'a> {
    name: &'a [u8],
    healthy: bool,
    /// 0 if sick, as in the bundled directors.
    weight: f64,
    /// What it has of the traffic: its weight, but less of it during a slow start.
    part: f64,
    percent: f64,
    steering: Steering,
}

/// What there is to list of the weight of a member that was set, or may be.
#[derive(Default)]
pub(crate) struct Steering {
    weight: f64,
    base: f64,
    reasons: Vec<String>,
}

impl Steering {
    /// Of a member with this weight, of which it has the part `ramp` now.
    pub(crate) fn of(member: &Member, weight: f64, policy: &WeightPolicy, ramp: f64) -> Self {
        let listed = member.reports().listed(policy);
        let mut reasons: Vec<String> = Vec::new();
        if weight == 0.0 {
            reasons.push("drained".to_owned());
        }
        for effect in listed.effects {
            let word = match effect {
                Effect::Smoothing => "smoothing",
                Effect::Min => "min",
                Effect::Max => "max",
                Effect::Hysteresis => "hysteresis",
                Effect::Ttl => "ttl",
            };
            reasons.push(word.to_owned());
        }
        if ramp < 1.0 {
            reasons.push(format!("slow_start {:.0}%", 100.0 * ramp));
        }
        Steering { weight, base: listed.base, reasons }
    }

    /// For a table.
    pub(crate) fn weight(&self) -> String {
        number(self.weight)
    }

    /// For a table.
    pub(crate) fn reasons(&self) -> String {
        match &self.reasons[..] {
            [] => "-".to_owned(),
            reasons => reasons.join(", "),
        }
    }

    /// Members of a JSON object, each with a comma.
    pub(crate) fn put_json(&self, out: &mut Vsb<'_>) {
        let reasons: Vec<String> = self.reasons.iter().map(|r| format!("\"{r}\"")).collect();
        // Line by line: that is what is indented.
        out.put(format!("\"base_weight\": {:.6},\n", self.base).as_bytes());
        out.put(format!("\"policy\": [{}],\n", reasons.join(", ")).as_bytes());
    }
}

/// Whether there is more to list than in the bundled directors.
pub(crate) fn is_steered<'a>(weighing: &Weighing, mut members: impl Iterator<Item = &'a Member>) -> bool {
    weighing.has_policy() || members.any(|m| m.reports().is_steered())
}

/// Writes the list. Gives the time when the health of a member changed last.
pub fn write<P>(
    ctx: &Ctx<'_>,
    state: &State<P>,
    weighing: &Weighing,
    weights: Weights,
    current: Option<Current>,
    form: Form,
    out: &mut Vsb<'_>,
) -> f64 {
    let policy = weighing.policy();
    let steered = is_steered(weighing, state.entries().map(|(m, _)| m));
    let mut lines = Vec::with_capacity(state.entries().len());
    let (mut last_change, mut healthy, mut usable) = (0.0_f64, 0, false);
    for (member, weight) in state.entries() {
        let (is_healthy, changed) = ctx.health(member.backend());
        last_change = last_change.max(changed);
        healthy += usize::from(is_healthy);
        usable |= is_healthy && weight > 0.0;
        let ramp = if is_healthy { ramp(ctx.now() - changed, policy.slow_start) } else { 1.0 };
        let listed = if is_healthy { weight } else { 0.0 };
        lines.push(Line {
            name: member.backend().name().to_bytes(),
            healthy: is_healthy,
            weight: listed,
            part: listed * ramp,
            percent: 0.0,
            steering: if steered { Steering::of(member, weight, &policy, ramp) } else { Steering::default() },
        });
    }
    set_percentages(&mut lines);
    let column = match (current, weights) {
        (Some(current), _) => Column::Current(current),
        (None, Weights::Always) => Column::Weights,
        (None, Weights::IfSet) if state.entries().any(|(_, w)| w != 1.0) => Column::Weights,
        (None, Weights::IfSet | Weights::Never) => Column::Nothing,
    };
    match (form.details, form.json) {
        (false, json) => summary(healthy, lines.len(), usable, json, out),
        (true, false) => table(&lines, column, steered, out),
        (true, true) => json(&lines, column, steered, out),
    }
    last_change
}

/// The sum may be 0, or too large for a number: nothing divides by the former, and shares of the largest weight are
/// added instead of weights.
fn set_percentages(lines: &mut [Line<'_>]) {
    let max = lines.iter().map(|l| l.part).fold(0.0, f64::max);
    if max <= 0.0 {
        return;
    }
    let total: f64 = lines.iter().map(|l| l.part / max).sum();
    for line in lines {
        line.percent = 100.0 * (line.part / max) / total;
    }
}

/// Writes the list without details: how many members are healthy, and whether the director is.
pub(crate) fn summary(healthy: usize, members: usize, usable: bool, json: bool, out: &mut Vsb<'_>) {
    let verdict = health(usable);
    out.put(
        match json {
            false => format!("{healthy}/{members}\t{verdict}"),
            true => format!("[{healthy}, {members}, \"{verdict}\"]"),
        }
        .as_bytes(),
    );
}

/// The word for it.
pub(crate) fn health(healthy: bool) -> &'static str {
    if healthy {
        "healthy"
    } else {
        "sick"
    }
}

fn table(lines: &[Line<'_>], column: Column, steered: bool, out: &mut Vsb<'_>) {
    let second = match column {
        Column::Current(_) => "Current",
        Column::Nothing | Column::Weights if steered => "Share",
        Column::Nothing | Column::Weights => "Weight",
    };
    let last = if steered { "\t  Weight  Policy" } else { "" };
    let mut text = format!("\n\n\tBackend\t{second}\tHealth{last}\n").into_bytes();
    for (i, line) in lines.iter().enumerate() {
        text.push(b'\t');
        text.extend(field(line.name));
        let second = match column {
            Column::Nothing if !steered => "-".to_owned(),
            Column::Nothing | Column::Weights => format!("{:6.2}%", line.percent),
            Column::Current(c) if c.place == i => "*".to_owned(),
            Column::Current(_) => String::new(),
        };
        // Writing to a Vec does not fail.
        let _ = write!(text, "\t{second}\t{}", health(line.healthy));
        if steered {
            let _ = write!(text, "\t{:>8}  {}", line.steering.weight(), line.steering.reasons());
        }
        text.push(b'\n');
    }
    out.put(&text);
}

fn json(lines: &[Line<'_>], column: Column, steered: bool, out: &mut Vsb<'_>) {
    out.put(b"{\n");
    out.indent(2);
    match column {
        Column::Nothing => {}
        Column::Weights => {
            let total = lines.iter().fold(0.0, |sum: f64, l| sum + l.weight);
            out.put(format!("\"total_weight\": {:.6},\n", total.min(f64::MAX)).as_bytes());
        }
        Column::Current(c) => out.put(format!("\"sticky\": {},\n", c.sticky).as_bytes()),
    }
    out.put(b"\"backends\": {\n");
    out.indent(2);
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            out.put(b",\n");
        }
        out.put(&[b"\"", &escaped(line.name)[..], b"\": {\n"].concat());
        out.indent(2);
        match column {
            Column::Nothing => {}
            Column::Weights => out.put(format!("\"weight\": {:.6},\n", line.weight).as_bytes()),
            Column::Current(c) => out.put(format!("\"current\": {},\n", c.place == i).as_bytes()),
        }
        if steered {
            line.steering.put_json(out);
        }
        out.put(format!("\"health\": \"{}\"\n", health(line.healthy)).as_bytes());
        out.indent(-2);
        out.put(b"}");
    }
    out.put(b"\n");
    out.indent(-2);
    out.put(b"}\n");
    out.indent(-2);
    out.put(b"},\n");
}

/// A name in a table. A tab would begin another column, of which the server asserts that there are not too many, a line
/// feed another line; and a space in front keeps the server from measuring the line. So they are written as `\xNN`, and
/// so are other control characters.
pub(crate) fn field(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len());
    for (i, b) in name.iter().enumerate() {
        if b.is_ascii_control() || (i == 0 && *b == b' ') {
            // Writing to a Vec does not fail.
            let _ = write!(text, "\\x{b:02x}");
        } else {
            text.push(*b);
        }
    }
    text
}

/// A name between quotes. Bytes that are not UTF-8 have no place in JSON and are replaced.
pub(crate) fn escaped(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len());
    for c in String::from_utf8_lossy(name).chars() {
        // Writing to a Vec does not fail.
        let _ = match c {
            '"' | '\\' => write!(text, "\\{c}"),
            c if c < ' ' => write!(text, "\\u{:04x}", c as u32),
            c => write!(text, "{c}"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{escaped, field, set_percentages, Line, Steering};

    fn percent(weights: &[f64]) -> Vec<f64> {
        let line = |w: &f64| Line {
            name: b"b",
            healthy: true,
            weight: *w,
            part: *w,
            percent: 0.0,
            steering: Steering::default(),
        };
        let mut lines: Vec<_> = weights.iter().map(line).collect();
        set_percentages(&mut lines);
        lines.iter().map(|l| (l.percent * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn percentages_are_numbers() {
        assert_eq!(percent(&[]), [0.0; 0]);
        assert_eq!(percent(&[0.0, 0.0]), [0.0, 0.0]);
        assert_eq!(percent(&[3.0, 1.0]), [75.0, 25.0]);
        assert_eq!(percent(&[f64::MAX, f64::MAX]), [50.0, 50.0]);
        assert_eq!(percent(&[5e-324, 5e-324]), [50.0, 50.0]);
    }

    #[test]
    fn names_in_tables() {
        assert_eq!(field(b"b1 (80) \\ \xff"), b"b1 (80) \\ \xff");
        assert_eq!(field(b" \t\n\x0b \x7f"), b"\\x20\\x09\\x0a\\x0b \\x7f");
    }

    #[test]
    fn names_in_json() {
        assert_eq!(escaped(b"a\"b\\\x01\xff"), "a\\\"b\\\\\\u0001\u{fffd}".as_bytes());
    }
}
