//! Upstream's own tests of the directors, from the source tree, rewritten to use our VMOD as they are run.
//!
//! Two things change: the import line, and the prefix of log texts. The import is all that a VCL changes, too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::Trial;

use super::at_least;
use crate::support::run::{Case, View};
use crate::support::setup::{files, stem, Setup};

pub fn trials(setup: &Arc<Setup>) -> Result<Vec<Trial>, String> {
    let ours = interface(&setup.root.join("vmod.vcc"))?;
    let theirs = interface(&setup.patched.source.join("vmod/vmod_directors.vcc"))?;
    let missing: BTreeSet<String> = theirs.difference(&ours).cloned().collect();
    let folder = setup.here.join("upstream-rewritten");
    let text = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).map_err(text)?;

    let mut trials = Vec::new();
    let mut sources = files(&setup.patched.source.join("vmod/tests"), ".vtc");
    let rest = setup.conf("VTEST_DIR")?;
    sources.extend(files(&setup.patched.source.join(rest).join("tests"), ".vtc"));
    for source in sources {
        let Ok(test) = fs::read_to_string(&source) else {
            continue; // not UTF-8: none of the directors' tests
        };
        let used = used_names(&test);
        if !test.contains("import directors;") || !used.is_disjoint(&missing) {
            continue;
        }
        let file: PathBuf = folder.join(source.file_name().unwrap_or_default());
        fs::write(&file, rewrite(&test)).map_err(text)?;
        let case = Case {
            suite: "upstream".to_owned(),
            name: stem(&source),
            file,
            view: View::BuildTree,
            patched: true,
            vmods: vec![setup.library_folder(), setup.patched.vmods()],
            macros: Vec::new(),
        };
        trials.push(case.into_trial(setup));
    }
    let floor = setup.conf("UPSTREAM_FLOOR")?;
    let floor = floor.parse().map_err(|e| format!("UPSTREAM_FLOOR: {e}"))?;
    let found = trials.len();
    trials.push(at_least(floor, "upstream", found));
    Ok(trials)
}

/// Names of the objects and functions that a VMOD has.
fn interface(vcc: &Path) -> Result<BTreeSet<String>, String> {
    let text = fs::read_to_string(vcc).map_err(|e| format!("{}: {e}", vcc.display()))?;
    let objects = text.lines().filter_map(|l| l.strip_prefix("$Object "));
    let functions = text.lines().filter_map(|l| l.strip_prefix("$Function "));
    let functions = functions.filter_map(|l| l.split_once(' ').map(|(_, rest)| rest));
    Ok(objects.chain(functions).filter_map(|l| l.split('(').next()).map(|name| name.trim().to_owned()).collect())
}

/// The words behind "directors." in VCL.
fn used_names(test: &str) -> BTreeSet<String> {
    test.split("directors.")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>())
        .filter(|word| !word.is_empty())
        .collect()
}

fn rewrite(test: &str) -> String {
    test.replace("import directors;", "import probe_directors as directors;")
        .replace("vmod_directors:", "vmod_probe_directors:")
}
