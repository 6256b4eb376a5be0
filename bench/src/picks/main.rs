//! How long directors take: ours against those of the server, in one process and one run.
//!
//! `picks SERVER VMODS DATE FILE [quick]`: SERVER is the patched server, VMODS a folder with the VMOD that measures.
//! The tables go to FILE, under DATE; progress and the targets to the terminal.

mod measure;
mod report;
mod target;
mod vcl;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bench::machine;
use testbed::server::Server;

use measure::Pace;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (server, vmods, date, file, quick) = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [server, vmods, date, file] => (server, vmods, date, file, false),
        [server, vmods, date, file, "quick"] => (server, vmods, date, file, true),
        _ => {
            eprintln!("usage: picks SERVER VMODS DATE FILE [quick]");
            return ExitCode::from(2);
        }
    };
    match run(Path::new(server), vmods, date, Path::new(file), quick) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("picks: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(program: &Path, vmods: &str, date: &str, file: &Path, quick: bool) -> Result<(), measure::Failure> {
    let pace = if quick {
        Pace { rounds: 3, time: Duration::from_millis(10) }
    } else {
        Pace { rounds: 15, time: Duration::from_millis(60) }
    };
    let machine = machine::describe(program);
    println!("{machine}\n{} rounds of {} ms, in turns", pace.rounds, pace.time.as_millis());
    let start = Instant::now();

    // Memory that threads keep for later would count as in use. A server of its own, as keeping none takes time.
    std::env::set_var("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
    let objects = vcl::objects();
    let large: Vec<_> = objects.iter().copied().filter(|object| object.size == vcl::MANY).collect();
    let server = serve(program, vmods, &vcl::text(&large))?;
    measure::warm_up(server.port)?;
    let memory = measure::fill(server.port, &large)?;
    drop(server);
    std::env::remove_var("GLIBC_TUNABLES");

    let server = serve(program, vmods, &vcl::text(&objects))?;
    measure::fill(server.port, &objects)?;
    let results = measure::all(server.port, &pace)?;
    drop(server);

    let targets = target::all(&results);
    let text = report::markdown(&report::Heading { date, machine: &machine, pace: &pace }, &results, &memory, &targets);
    fs::write(file, text)?;
    for target in &targets {
        println!("{target}");
    }
    println!("{} s; the tables are in {}", start.elapsed().as_secs(), file.display());
    Ok(())
}

fn serve(program: &Path, vmods: &str, vcl: &str) -> std::io::Result<Server> {
    let path = format!("vmod_path={vmods}");
    // Loading takes a while where the machine is busy
    let args = ["-p", "debug=-vtc_mode", "-p", "thread_pool_min=50", "-p", "cli_timeout=120", "-p", &path];
    Server::start(program, &args, vcl)
}
