//! Three origins report their load, a patched server moves the traffic, and the demo says whether it did.
//!
//! `demo PROGRAM`: PROGRAM is the patched server. Ends by itself, with exit status 1 if a measured share
//! differs from the one asked for by more than five points.

#![forbid(unsafe_code)]

mod origin;
mod stage;
mod table;
mod tally;
mod traffic;
mod verdict;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use origin::Origin;
use stage::{Failure, Stage};
use testbed::server::Server;
use verdict::{Phase, TOLERANCE};

/// The production example, with loopback addresses in place of its own.
const VCL: &str = include_str!("../../examples/load_aware.vcl");
const ADDITIONS: &str = include_str!("additions.vcl");
const ADDRESSES: [&str; 3] = ["192.0.2.11", "192.0.2.12", "192.0.2.13"];

fn main() -> ExitCode {
    let Some(program) = std::env::args_os().nth(1) else {
        eprintln!("usage: demo PROGRAM (the patched server)");
        return ExitCode::from(2);
    };
    match run(Path::new(&program)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(program: &Path) -> Result<bool, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let origins = vec![Origin::start("a", 0.5)?, Origin::start("b", 0.5)?, Origin::start("c", 1.0)?];
    let server = Server::start(program, &["-p", "thread_pool_min=10"], &vcl(&origins))?;
    println!("{} on 127.0.0.1:{}, {} requests a second", program.display(), server.port, traffic::RATE);

    let mut stage = Stage::new(origins, server, stop);
    let phases = [
        stage.phase("a and b report load 0.5, c reports 1.0")?,
        stage.changed(0, 2.0, "a is busy: it reports 2.0 now")?,
        stage.changed(0, 0.25, "a is idle: it reports 0.25 now")?,
    ];
    let failures = stage.failures();
    drop(stage); // the server ends before the verdict is read

    println!("verdict (tolerance {TOLERANCE} points)");
    for phase in &phases {
        let word = if phase.holds() { "ok" } else { "FAILED" };
        println!(
            "  {word:<7} {:<42} {} requests, largest difference {:.1} points",
            phase.title,
            phase.requests.iter().sum::<u64>(),
            phase.difference()
        );
    }
    if failures > 0 {
        println!("  FAILED  {failures} requests had no answer of an origin");
    }
    Ok(failures == 0 && phases.iter().all(Phase::holds))
}

/// The example with the origins' addresses, and what the demo adds to it.
fn vcl(origins: &[Origin]) -> String {
    let mut vcl = VCL.to_owned();
    for (origin, address) in origins.iter().zip(ADDRESSES) {
        let theirs = format!("\"{address}\"; .port = \"8080\"");
        let ours = format!("\"127.0.0.1\"; .port = \"{}\"", origin.port);
        assert!(vcl.contains(&theirs), "the example has no {theirs}");
        vcl = vcl.replace(&theirs, &ours);
    }
    vcl + "\n" + ADDITIONS
}
