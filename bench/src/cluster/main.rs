//! Four origins, one of which slows down for a while, behind each of four directors: who answers how fast?
//!
//! `cluster SERVER DATE FOLDER [quick]`: SERVER is the patched server. The table goes to FOLDER, under DATE, and the
//! picture.

mod load;
mod origin;
mod picture;
mod plan;
mod report;
mod run;
mod vcl;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use bench::machine;

use plan::Plan;
use vcl::Contender;

/// Whatever goes wrong.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (server, date, folder, plan) = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [server, date, folder] => (server, date, folder, Plan::long()),
        [server, date, folder, "quick"] => (server, date, folder, Plan::quick()),
        _ => {
            eprintln!("usage: cluster SERVER DATE FOLDER [quick]");
            return ExitCode::from(2);
        }
    };
    match measure(Path::new(server), date, Path::new(folder), &plan) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cluster: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(program: &Path, date: &str, folder: &Path, plan: &Plan) -> Result<(), Failure> {
    let machine = machine::describe(program);
    println!("{machine}\n{plan}");
    let start = Instant::now();
    let mut runs = Vec::new();
    for contender in Contender::ALL {
        let run = run::run(program, contender, plan)?;
        print!("{}", report::lines(&run, plan));
        runs.push(run);
    }
    let picture = folder.join("cluster.svg");
    picture::draw(&picture, &runs, plan, date)?;
    let table = folder.join(format!("cluster-{date}.md"));
    fs::write(&table, report::markdown(&runs, plan, date, &machine))?;
    println!("{}", report::verdict(&runs, plan));
    println!("{} s; see {} and {}", start.elapsed().as_secs(), table.display(), picture.display());
    Ok(())
}
