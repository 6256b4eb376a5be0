//! What a VMOD has, from the description for the VCL compiler that is in its library.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The description is between these in the library.
const BEGIN: &[u8] = b"VMOD_JSON_SPEC\x02";
const END: u8 = 3;

pub struct Vmod {
    pub name: String,
    /// Whether a parameter has two names, the second one for C: so it is since version 2.0 of the description.
    two_names: bool,
    pub callables: Vec<Callable>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Function,
    Constructor,
    Method,
}

/// A function, the constructor of an object, or a method.
#[derive(Clone)]
pub struct Callable {
    pub kind: Kind,
    /// As in VCL, with the VMOD's name and for a method the object's type: "directors.shard.key".
    pub name: String,
    pub returns: String,
    pub params: Vec<Param>,
    /// The scopes of $Restrict, none if it can be called from everywhere.
    pub restrict: Vec<String>,
}

#[derive(Clone)]
pub struct Param {
    pub kind: String,
    pub name: Option<String>,
    /// May be left out.
    pub optional: bool,
    /// Of an ENUM.
    pub values: Vec<String>,
}

impl Callable {
    /// The type of a constructor or a method, with the VMOD's name.
    pub fn object(&self) -> &str {
        match self.kind {
            Kind::Method => self.name.rsplit_once('.').map_or("", |(object, _)| object),
            Kind::Function | Kind::Constructor => &self.name,
        }
    }
}

pub fn read(library: &Path) -> Result<Vmod, String> {
    let at = library.display();
    let bytes = fs::read(library).map_err(|e| format!("{at}: {e}"))?;
    let json = find(&bytes).ok_or_else(|| format!("{at} has no description of a VMOD"))?;
    let json: Value = serde_json::from_slice(json).map_err(|e| format!("{at}: {e}"))?;
    parse(&json).ok_or_else(|| format!("the description in {at} has an unknown form"))
}

fn find(bytes: &[u8]) -> Option<&[u8]> {
    let begin = bytes.windows(BEGIN.len()).position(|window| window == BEGIN)?;
    let json = bytes.get(begin + BEGIN.len()..)?;
    json.get(..json.iter().position(|&byte| byte == END)?)
}

fn parse(json: &Value) -> Option<Vmod> {
    let mut vmod = Vmod { name: String::new(), two_names: false, callables: Vec::new() };
    for entry in json.as_array()? {
        let entry = entry.as_array()?;
        let text = |i: usize| entry.get(i).and_then(Value::as_str);
        match text(0)? {
            "$VMOD" => {
                vmod.two_names = text(1)? == "2.0";
                vmod.name = text(2)?.to_owned();
            }
            "$FUNC" => {
                let name = format!("{}.{}", vmod.name, text(1)?);
                let function = callable(Kind::Function, name, entry.get(2)?, vmod.two_names)?;
                vmod.callables.push(function);
            }
            "$OBJ" => {
                let name = format!("{}.{}", vmod.name, text(1)?);
                object(&mut vmod, &name, entry)?;
            }
            "$RESTRICT" => restrict(&mut vmod, entry)?,
            "$ALIAS" => {
                let aliased = format!("{}.{}", vmod.name, text(2)?);
                let mut copy = vmod.callables.iter().find(|c| c.name == aliased)?.clone();
                copy.name = format!("{}.{}", vmod.name, text(1)?);
                vmod.callables.push(copy);
            }
            "$EVENT" | "$CPROTO" => {}
            _ => return None,
        }
    }
    Some(vmod)
}

fn object(vmod: &mut Vmod, object: &str, entry: &[Value]) -> Option<()> {
    for part in entry.get(4..)? {
        let part = part.as_array()?;
        match part.first()?.as_str()? {
            "$INIT" => {
                let constructor = callable(Kind::Constructor, object.to_owned(), part.get(1)?, vmod.two_names)?;
                vmod.callables.push(constructor);
            }
            "$METHOD" => {
                let name = format!("{object}.{}", part.get(1)?.as_str()?);
                let method = callable(Kind::Method, name, part.get(2)?, vmod.two_names)?;
                vmod.callables.push(method);
            }
            "$RESTRICT" => restrict(vmod, part)?,
            "$FINI" => {}
            _ => return None,
        }
    }
    Some(())
}

/// $Restrict is about what comes before it.
fn restrict(vmod: &mut Vmod, entry: &[Value]) -> Option<()> {
    let scopes = entry.get(1)?.as_array()?;
    vmod.callables.last_mut()?.restrict = scopes.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Some(())
}

/// From `[[TYPE], "C name", "C struct", PARAM, ...]`.
fn callable(kind: Kind, name: String, prototype: &Value, two_names: bool) -> Option<Callable> {
    let prototype = prototype.as_array()?;
    Some(Callable {
        kind,
        name,
        returns: prototype.first()?.get(0)?.as_str()?.to_owned(),
        params: prototype.get(3..)?.iter().map(|json| param(json, two_names)).collect::<Option<_>>()?,
        restrict: Vec::new(),
    })
}

/// From `[TYPE, NAME, DEFAULT, [ENUM VALUE, ...], OPTIONAL]`, of which all but the first may be missing; the second name
/// comes after the first.
fn param(json: &Value, two_names: bool) -> Option<Param> {
    let text = |i: usize| json.get(i).and_then(Value::as_str).map(str::to_owned);
    let default = if two_names { 3 } else { 2 };
    let values = json.get(default + 1).and_then(Value::as_array).into_iter().flatten();
    Some(Param {
        kind: text(0)?,
        name: text(1),
        optional: text(default).is_some() || json.get(default + 2).and_then(Value::as_bool).unwrap_or(false),
        values: values.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}
