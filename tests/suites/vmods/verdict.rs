//! What became of the calls, from the log.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::calls::{Call, Calls};
use super::description::Vmod;
use super::exceptions::{self, FAIL};
use super::program::{BEGINS, ENDS};

/// What the log has of one call.
#[derive(Default)]
struct Trace {
    ended: bool,
    error: bool,
}

/// How many functions, and calls of them.
#[derive(Default)]
pub struct Counts {
    pub functions: usize,
    pub called: usize,
    pub refused: usize,
    pub left_out: usize,
    pub calls: usize,
    pub failed: usize,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.functions += other.functions;
        self.called += other.called;
        self.refused += other.refused;
        self.left_out += other.left_out;
        self.calls += other.calls;
        self.failed += other.failed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} functions called, {} refused by the compiler, {} left out; {} calls, {} of them failed the VCL",
            self.called, self.functions, self.refused, self.left_out, self.calls, self.failed
        )
    }
}

/// What was covered, or what is wrong.
pub fn of(vmod: &Vmod, calls: &Calls, log: &str) -> Result<Counts, String> {
    let traces = traces(log);
    let mut wrong = Vec::new();
    let mut called = BTreeSet::new();
    let mut worked = BTreeSet::new();
    let mut failed = 0;
    for (number, call) in calls.run.iter().enumerate() {
        match traces.get(&number) {
            None => wrong.push(format!("{}: was not called", call.label)),
            Some(trace) => {
                called.insert(call.function.as_str());
                if !trace.ended && !trace.error {
                    wrong.push(format!("{}: neither works nor says why it fails", call.label));
                }
                if trace.ended && !trace.error {
                    worked.insert(call.function.as_str());
                } else {
                    failed += 1;
                }
            }
        }
    }
    let functions = |calls: &[Call]| calls.iter().map(|call| call.function.clone()).collect::<BTreeSet<String>>();
    let refused = functions(&calls.refused);
    let left_out = functions(&calls.left_out);
    for name in vmod.callables.iter().map(|callable| callable.name.as_str()) {
        if !called.contains(name) && !refused.contains(name) && !left_out.contains(name) {
            wrong.push(format!("{name}: no call was made of it"));
        }
        if called.contains(name) && worked.contains(name) == FAIL.iter().any(|(known, _)| *known == name) {
            let does = if worked.contains(name) { "works" } else { "always fails" };
            wrong.push(format!("{name}: {does}, which is not what exceptions.rs says"));
        }
    }
    wrong.extend(exceptions::unfounded(vmod, &calls.left_out));
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    Ok(Counts {
        functions: vmod.callables.len(),
        called: called.len(),
        refused: refused.len(),
        left_out: left_out.iter().filter(|name| !called.contains(name.as_str())).count(),
        calls: calls.run.len(),
        failed,
    })
}

/// Which calls made the server panic, from varnishtest's log: the last ones before it.
pub fn panics(calls: &Calls, log: &str) -> Vec<String> {
    let mut panics = Vec::new();
    let mut current = "before any call";
    let mut panicked = false;
    for line in log.lines() {
        if let Some((_, number)) = line.split_once("txresp|X-Call: ") {
            let number = number.trim_end_matches("\\r").parse::<usize>().ok();
            current = number.and_then(|number| calls.run.get(number)).map_or("after the last call", |call| &call.label);
        }
        let Some((_, text)) = line.split_once("debug|") else { continue };
        if panicked {
            panics.push(format!("{current}: {text}"));
        }
        panicked = line.contains(") Panic at: ");
    }
    panics
}

/// By number of the call.
fn traces(log: &str) -> BTreeMap<usize, Trace> {
    let mut traces = BTreeMap::new();
    let mut current = None;
    let number =
        |line: &str, mark: &str| line.split_once(mark).and_then(|(_, number)| number.trim().parse::<usize>().ok());
    for line in log.lines() {
        if let Some(begun) = number(line, BEGINS) {
            current = Some(begun);
            traces.insert(begun, Trace::default());
        }
        let Some(trace) = current.and_then(|number| traces.get_mut(&number)) else { continue };
        trace.ended |= number(line, ENDS) == current;
        trace.error |= line.contains(" VCL_Error ");
    }
    traces
}
