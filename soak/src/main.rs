//! Keeps a patched server busy with all that can go wrong with probes, and says at the end whether it bore it.
//!
//! `soak SERVER LOG STAT MINUTES`: programs of the patched server, and how long. Exit status 1 if anything was not as it
//! should be: `report.rs` has what.

mod counters;
mod fault;
mod log;
mod origin;
mod reload;
mod report;
mod run;
mod traffic;
mod vcl;
mod weather;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use run::Soak;

/// What was asked for on the command line.
struct Args {
    server: PathBuf,
    log: PathBuf,
    stat: PathBuf,
    time: Duration,
}

fn args() -> Option<Args> {
    let mut words = std::env::args_os().skip(1);
    let (server, log, stat) = (words.next()?, words.next()?, words.next()?);
    let minutes: f64 = words.next()?.to_str()?.parse().ok()?;
    let time = Duration::try_from_secs_f64(minutes * 60.0).ok()?;
    words.next().is_none().then(|| Args { server: server.into(), log: log.into(), stat: stat.into(), time })
}

fn main() -> ExitCode {
    let Some(args) = args() else {
        eprintln!("usage: soak SERVER LOG STAT MINUTES");
        return ExitCode::from(2);
    };
    match Soak::new(args).and_then(Soak::run) {
        Ok(report) => {
            print!("{report}");
            ExitCode::from(u8::from(!report.failures().is_empty()))
        }
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}
