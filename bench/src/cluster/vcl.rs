//! The directors, and the VCL of each.

use std::fmt::Write as _;

use crate::origin::Origin;
use crate::plan::{Capacity, GIVE_UP, ORIGINS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    StockRandom,
    StockRoundRobin,
    LoadWeights,
    Least,
}

impl Contender {
    pub const ALL: [Contender; 4] =
        [Contender::StockRandom, Contender::StockRoundRobin, Contender::LoadWeights, Contender::Least];

    pub fn name(self) -> &'static str {
        match self {
            Contender::StockRandom => "directors.random",
            Contender::StockRoundRobin => "directors.round_robin",
            Contender::LoadWeights => "round_robin by load",
            Contender::Least => "least",
        }
    }

    fn object(self) -> &'static str {
        match self {
            Contender::StockRandom => "directors.random()",
            Contender::StockRoundRobin => "directors.round_robin()",
            Contender::LoadWeights => "probe_directors.round_robin()",
            Contender::Least => "probe_directors.least()",
        }
    }

    /// What an administrator knows beforehand is the number of workers. Load weights are found without.
    fn weight(self, origin: &Capacity) -> String {
        match self {
            Contender::StockRandom | Contender::Least => format!(", {}", origin.workers),
            Contender::StockRoundRobin | Contender::LoadWeights => String::new(),
        }
    }

    pub fn vcl(self, origins: &[Origin]) -> String {
        let mut vcl = String::new();
        self.write(&mut vcl, origins).expect("a string takes everything");
        vcl
    }

    fn write(self, vcl: &mut String, origins: &[Origin]) -> std::fmt::Result {
        let by_load = self == Contender::LoadWeights;
        writeln!(vcl, "vcl 4.1;\nimport std;\nimport directors;\nimport probe_directors;")?;
        let response = if by_load { ".response = by_load; " } else { "" };
        writeln!(vcl, "probe p {{ .url = \"/health\"; .interval = 500ms; .initial = 10; {response}}}")?;
        for (known, origin) in ORIGINS.iter().zip(origins) {
            writeln!(
                vcl,
                "backend {} {{ .host = \"127.0.0.1\"; .port = \"{}\"; .probe = p; .first_byte_timeout = {}s; }}",
                known.name,
                origin.port,
                GIVE_UP.as_secs()
            )?;
        }
        writeln!(vcl, "sub vcl_init {{\n\tnew dir = {};", self.object())?;
        for known in &ORIGINS {
            writeln!(vcl, "\tdir.add_backend({}{});", known.name, self.weight(known))?;
        }
        if by_load {
            writeln!(vcl, "\tdir.weight_policy(smoothing = 0.5, ttl = 10s);")?;
        }
        writeln!(vcl, "}}")?;
        if by_load {
            // What a request costs the origin; the inverse is what it is good for
            let weight = "probe_directors.from_load(std.real(beresp.http.X-Load, 1.0))";
            writeln!(vcl, "sub by_load {{")?;
            writeln!(vcl, "\tif (beresp.http.X-Load) {{ dir.set_weight(beresp.backend, {weight}); }}\n}}")?;
        }
        writeln!(vcl, "sub vcl_recv {{ set req.backend_hint = dir.backend(); return (pass); }}")
    }
}
