//! Every function of every VMOD, called from the response of a probe: each one works or fails the VCL.
//!
//! One test for each VMOD, made from the description in its library. It fails if the server panics, if a call neither
//! ends nor fails with a reason in the log, and if a function was not called: then it has to be one that the compiler
//! refuses in probe context, or one that is listed in `exceptions.rs`.

mod arguments;
mod calls;
mod description;
mod exceptions;
mod program;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use libtest_mimic::{Completion, Failed, Trial};

use super::at_least;
use crate::support::run::{Case, View};
use crate::support::setup::{files, Setup};
use verdict::Counts;

/// The bundled ones and ours.
const FLOOR: usize = 11;

pub fn trials(setup: &Arc<Setup>) -> Vec<Trial> {
    let mut libraries = files(&setup.patched.vmods(), ".so");
    libraries.extend(files(&setup.library_folder(), ".so"));
    let mut trials = vec![at_least(FLOOR, "vmods", libraries.len())];
    let total = Arc::new(Mutex::new((libraries.len(), Counts::default())));
    for library in libraries {
        let setup = Arc::clone(setup);
        let total = Arc::clone(&total);
        let name = library.file_stem().unwrap_or_default().to_string_lossy().replace("libvmod_", "");
        let trial = format!("vmods::{name}");
        trials.push(Trial::ignorable_test(trial.clone(), move || {
            let left_out = setup.left_out(&trial);
            let mut counts = Counts::default();
            if left_out.is_none() {
                counts = test(&setup, &name, &library)?;
                println!("vmods: {name}: {counts}");
            }
            let mut total = total.lock().map_err(|_| "a test panicked")?;
            total.0 -= 1;
            total.1.add(&counts);
            if total.0 == 0 {
                println!("vmods: all: {}", total.1);
            }
            Ok(left_out.map_or(Completion::Completed, Completion::ignored_with))
        }));
    }
    trials
}

fn test(setup: &Setup, name: &str, library: &Path) -> Result<Counts, Failed> {
    let vmod = description::read(library)?;
    let calls = calls::Calls::of(&vmod)?;
    let folder = setup.here.join("log/vtc/vmods");
    let output = folder.join(name);
    let at = |ending: &str| PathBuf::from(format!("{}.{ending}", output.display()));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let _ = fs::remove_file(at("log"));
    fs::write(at("vtc"), program::write(&vmod, &calls)?).map_err(|e| format!("{}: {e}", at("vtc").display()))?;
    let case = Case {
        suite: "vmods".to_owned(),
        name: format!("{name}.vtc"),
        file: at("vtc"),
        view: View::Installed,
        patched: true,
        vmods: vec![setup.library_folder(), setup.patched.vmods()],
        macros: vec![("output".to_owned(), output.display().to_string())],
    };
    match case.run(setup) {
        Ok(Completion::Completed) => {}
        Ok(Completion::Ignored { .. }) => return Err("the test was skipped, see its log".into()),
        Err(failed) => {
            let log = fs::read(folder.join(format!("{name}.vtc.log"))).unwrap_or_default();
            let panics = verdict::panics(&calls, &String::from_utf8_lossy(&log)).join("\n");
            return Err(format!("{panics}\n{}", failed.message().unwrap_or_default()).into());
        }
    }
    let log = fs::read(at("log")).map_err(|e| format!("{}: {e}", at("log").display()))?;
    Ok(verdict::of(&vmod, &calls, &String::from_utf8_lossy(&log))?)
}
