//! The calls that a VMOD's functions are tried with.

use super::arguments;
use super::description::{Callable, Kind, Param, Vmod};
use super::exceptions;

/// One call, in a subroutine of its own.
pub struct Call {
    /// The function, "directors.shard.key".
    pub function: String,
    /// With its arguments.
    pub label: String,
    /// Statements, with what is to come first.
    pub vcl: String,
}

pub struct Calls {
    /// From the response of a probe.
    pub run: Vec<Call>,
    /// Not available there: the compiler refuses them.
    pub refused: Vec<Call>,
    /// Left out, as they assert by design.
    pub left_out: Vec<Call>,
    /// Objects that the others need, for vcl_init.
    pub init: String,
}

impl Calls {
    pub fn of(vmod: &Vmod) -> Result<Calls, String> {
        let mut calls = Calls { run: Vec::new(), refused: Vec::new(), left_out: Vec::new(), init: String::new() };
        for callable in &vmod.callables {
            calls.add(vmod, callable)?;
        }
        Ok(calls)
    }

    fn add(&mut self, vmod: &Vmod, callable: &Callable) -> Result<(), String> {
        let lists = argument_lists(callable);
        match callable.kind {
            Kind::Constructor => {
                // Objects are made by vcl_init only, see below
                let list = argument_list(callable, List::Needed);
                let vcl = format!("new object = {}({list});", callable.name);
                self.refused.push(Call { function: callable.name.clone(), label: String::new(), vcl });
            }
            Kind::Function | Kind::Method => {
                let target =
                    if callable.kind == Kind::Function { callable.name.clone() } else { self.target(vmod, callable)? };
                for list in lists {
                    let expression = format!("{target}({list})");
                    let call = Call {
                        function: callable.name.clone(),
                        label: format!("{}({list})", callable.name),
                        vcl: format!("{} {}", arguments::before(callable), used(&callable.returns, &expression)?),
                    };
                    if exceptions::asserts(&call) {
                        self.left_out.push(call);
                    } else if is_available(callable) {
                        self.run.push(call);
                    } else {
                        self.refused.push(call);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// A method of an object of its own, so that calls do not depend on others.
    fn target(&mut self, vmod: &Vmod, method: &Callable) -> Result<String, String> {
        let object = method.object();
        let constructor = vmod.callables.iter().find(|c| c.kind == Kind::Constructor && c.name == object);
        let constructor = constructor.ok_or_else(|| format!("{} has no constructor", method.name))?;
        let list = argument_list(constructor, List::All);
        let instance = format!("object_{}", self.init.lines().count());
        let furnish = arguments::furnish(object, &instance);
        self.init.push_str(&format!("new {instance} = {object}({list}); {furnish}\n"));
        let name = method.name.rsplit('.').next().unwrap_or_default();
        Ok(format!("{instance}.{name}"))
    }
}

/// Whether VCC lets a probe response call it: not if it is restricted to other subroutines, or wants what only they have.
fn is_available(callable: &Callable) -> bool {
    let scopes = &callable.restrict;
    let restricted = !scopes.is_empty() && !scopes.iter().any(|scope| scope == "vcl_probe_response");
    let wants = |param: &Param| !param.optional && ["HTTP", "PRIV_TOP"].contains(&param.kind.as_str());
    !restricted && !callable.params.iter().any(wants)
}

/// Which parameters an argument list has.
#[derive(Clone, Copy)]
enum List {
    Needed,
    All,
    /// All, the parameter of this position with another value than the plausible one.
    Other(usize, usize),
}

/// Only what is needed, then everything, then one parameter after the other with each of its other values.
fn argument_lists(callable: &Callable) -> Vec<String> {
    let mut lists = vec![argument_list(callable, List::Needed), argument_list(callable, List::All)];
    lists.dedup();
    for (i, param) in callable.params.iter().enumerate() {
        let values = arguments::of(callable, param).len();
        lists.extend((1..values).map(|value| argument_list(callable, List::Other(i, value))));
    }
    lists.extend(arguments::together(callable).iter().map(|&list| list.to_owned()));
    lists
}

fn argument_list(callable: &Callable, which: List) -> String {
    let mut list = Vec::new();
    for (i, param) in callable.params.iter().enumerate() {
        let values = arguments::of(callable, param);
        let value = match which {
            List::Other(position, value) if position == i => values.get(value),
            List::Needed if param.optional => None,
            List::Needed | List::All | List::Other(..) => values.first(),
        };
        match (value, &param.name) {
            // A name for those that might have skipped one before them
            (Some(value), Some(name)) => list.push(format!("{name} = {value}")),
            (Some(value), None) => list.push(value.clone()),
            // The server's own, as a PRIV_TASK
            (None, _) => {}
        }
    }
    list.join(", ")
}

/// A statement that uses what the function returns.
fn used(returns: &str, call: &str) -> Result<String, String> {
    match returns {
        "VOID" => Ok(format!("{call};")),
        "BACKEND" | "BOOL" | "BYTES" | "DURATION" | "HEADER" | "INT" | "REAL" | "STEVEDORE" | "STRANDS" | "STRING"
        | "TIME" => Ok(format!("set beresp.http.X-Result = \"\" + {call};")),
        "ACL" => Ok(format!("if (debug.match_acl({call}, \"192.0.2.1\")) {{ }}")),
        "BLOB" => Ok(format!("set beresp.http.X-Result = \"\" + blob.length({call});")),
        "IP" => Ok(format!("set beresp.http.X-Result = \"\" + std.port({call});")),
        "REGEX" => Ok(format!("if (beresp.http.X-Load ~ {call}) {{ }}")),
        "SUB" => Ok(format!("set beresp.http.X-Result = debug.check_call({call});")),
        _ => Err(format!("{call}: no way is known to use a {returns}")),
    }
}
