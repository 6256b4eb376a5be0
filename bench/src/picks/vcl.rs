//! The VCL: all directors of all sizes, and a URL for each thing that is measured.

use std::fmt::{self, Write as _};

/// The largest number of members.
pub const MANY: usize = 1000;
pub const SIZES: [usize; 4] = [2, 10, 100, MANY];

/// A kind of director.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    RoundRobin,
    Random,
    Least,
    Fallback,
    Hash,
    Shard,
}

impl Kind {
    pub const ALL: [Kind; 6] = [Kind::RoundRobin, Kind::Random, Kind::Least, Kind::Fallback, Kind::Hash, Kind::Shard];

    pub fn name(self) -> &'static str {
        match self {
            Kind::RoundRobin => "round_robin",
            Kind::Random => "random",
            Kind::Least => "least",
            Kind::Fallback => "fallback",
            Kind::Hash => "hash",
            Kind::Shard => "shard",
        }
    }

    /// What it is compared with: the server has no `least`.
    pub fn stock(self) -> Kind {
        match self {
            Kind::Least => Kind::Random,
            other => other,
        }
    }

    /// How many picks one call of the sub makes. Directors without a key are asked without VCL, one by one.
    pub fn picks_per_call(self) -> usize {
        match self {
            Kind::Hash | Kind::Shard => 8,
            _ => 1,
        }
    }

    /// What a pick by key looks like in VCL.
    fn keyed(self, object: Object) -> Option<String> {
        match self {
            Kind::Hash => Some(format!("bench.took({object}.backend(bench.text()));")),
            Kind::Shard => Some(format!("bench.took({object}.backend(by = KEY, key = bench.number()));")),
            _ => None,
        }
    }

    /// Weights go from 1 to this. A shard's number of points goes with its weights.
    fn weights(self) -> usize {
        match self {
            Kind::Shard => 1,
            _ => 7,
        }
    }
}

/// Whose director it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Stock,
    Ours,
    /// Ours, with weights that are set; a stock round robin has none, so that it would be no comparison.
    Weighed,
}

/// A director in VCL; as text, its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub whose: Whose,
    pub kind: Kind,
    pub size: usize,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self.whose {
            Whose::Stock => "stock",
            Whose::Ours => "ours",
            Whose::Weighed => "weighed",
        };
        write!(f, "{whose}_{}_{}", self.kind.name(), self.size)
    }
}

/// All there are.
pub fn objects() -> Vec<Object> {
    let whose = [Whose::Stock, Whose::Ours, Whose::Weighed];
    let kinds = whose.into_iter().flat_map(|whose| Kind::ALL.into_iter().map(move |kind| (whose, kind)));
    let exist = kinds.filter(|(whose, kind)| *whose != Whose::Stock || kind.stock() == *kind);
    exist.flat_map(|(whose, kind)| SIZES.into_iter().map(move |size| Object { whose, kind, size })).collect()
}

/// How many threads begin together, and for how long.
const RUN: &str = "std.integer(bereq.http.threads, 0), std.duration(bereq.http.time, 0s)";

/// The VCL that has these.
pub fn text(objects: &[Object]) -> String {
    let mut vcl = "vcl 4.1;\nimport std;\nimport directors;\nimport probe_directors;\nimport bench;\n".to_owned();
    write(&mut vcl, objects).expect("a string takes everything");
    vcl
}

fn write(vcl: &mut String, objects: &[Object]) -> fmt::Result {
    for i in 0..MANY {
        // Nothing connects to it: without a probe it is healthy
        writeln!(vcl, "backend b{i} {{ .host = \"127.0.0.1\"; .port = \"9\"; }}")?;
    }
    writeln!(vcl, "sub vcl_init {{")?;
    for object in objects {
        let module = if object.whose == Whose::Stock { "directors" } else { "probe_directors" };
        writeln!(vcl, "\tnew {object} = {module}.{}();", object.kind.name())?;
    }
    for i in 0..MANY {
        writeln!(vcl, "\tbench.add(b{i});")?;
    }
    writeln!(vcl, "}}")?;
    let mut fetch = String::new();
    for object in objects {
        let Object { whose, kind, size } = *object;
        fill(vcl, *object)?;
        writeln!(
            fetch,
            "\tif (bereq.url == \"/fill/{object}\") {{ set bereq.http.result = bench.heap(fill_{object}); }}"
        )?;
        let how = match kind.keyed(*object) {
            None => {
                let how = format!("bench.resolve_by_number({object}.backend(), {RUN})");
                writeln!(fetch, "\tif (bereq.url == \"/number/{object}\") {{ set bereq.http.result = {how}; }}")?;
                format!("bench.resolve({object}.backend(), {RUN})")
            }
            Some(pick) => {
                writeln!(vcl, "sub pick_{object} {{ {} }}", pick.repeat(kind.picks_per_call()))?;
                format!("bench.call(pick_{object}, {size}, {RUN})")
            }
        };
        writeln!(fetch, "\tif (bereq.url == \"/pick/{object}\") {{ set bereq.http.result = {how}; }}")?;
        if whose == Whose::Weighed {
            let weights = kind.weights();
            writeln!(vcl, "sub set_{object} {{ {object}.set_weight(bench.member(), bench.weight({weights})); }}")?;
            let how = format!("bench.call(set_{object}, {size}, {RUN}, std.real(bereq.http.rate, 0))");
            writeln!(fetch, "\tif (bereq.url == \"/set/{object}\") {{ set bereq.http.result = {how}; }}")?;
        }
    }
    writeln!(fetch, "\tif (bereq.url == \"/warm\") {{ set bereq.http.result = \"0 0\"; }}")?;
    writeln!(vcl, "sub vcl_recv {{ return (pass); }}")?;
    writeln!(vcl, "sub vcl_backend_fetch {{\n{fetch}\treturn (error(200));\n}}")?;
    writeln!(vcl, "sub vcl_backend_error {{ set beresp.http.result = bereq.http.result; return (deliver); }}")
}

/// The sub that adds the members, in a request: in `vcl_init`, no sub can be called over and over.
fn fill(vcl: &mut String, object: Object) -> fmt::Result {
    let Object { whose, kind, size } = object;
    // Weights where stock has them too, but equal ones for a shard; ours that are weighed have them all
    let weighed = whose == Whose::Weighed || matches!(kind, Kind::Random | Kind::Least | Kind::Hash);
    let weight =
        if weighed && kind != Kind::Shard { format!(", bench.weight({})", kind.weights()) } else { String::new() };
    writeln!(vcl, "sub add_{object} {{ {object}.add_backend(bench.member(){weight}); }}")?;
    let mut fill = format!("bench.times({size}, add_{object});");
    if kind == Kind::Shard {
        write!(fill, " {object}.reconfigure();")?;
    }
    if whose != Whose::Stock {
        // The last state is kept until the next but one: part of what it takes
        write!(fill, " {object}.set_weight(b0, 2); {object}.set_weight(b0, 1);")?;
    }
    writeln!(vcl, "sub fill_{object} {{ {fill} }}")
}
