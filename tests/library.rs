//! The library file: what it exports, and that the servers take each other's VMODs.

#[allow(dead_code)]
#[path = "support/sanitizer.rs"]
mod sanitizer;
#[allow(dead_code)]
#[path = "support/setup.rs"]
mod setup;

use std::fs;
use std::path::Path;
use std::process::Command;

use setup::Setup;

const LIBRARY: &str = "libvmod_probe_directors.so";

fn found() -> Setup {
    match Setup::find() {
        Ok(setup) => setup,
        Err(error) => panic!("{error}"),
    }
}

/// Names of the symbols that nm lists with these options.
fn symbols(library: &Path, options: &[&str]) -> Vec<String> {
    let output = match Command::new("nm").args(options).arg(library).output() {
        Ok(output) => output,
        Err(error) => panic!("nm (package binutils): {error}"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_whitespace().last().map(str::to_owned))
        .collect()
}

#[test]
fn exports_its_data_and_nothing_else() {
    let library = found().library_folder().join(LIBRARY);
    let exported = symbols(&library, &["--dynamic", "--defined-only", "--extern-only"]);
    assert_eq!(exported, ["Vmod_probe_directors_Data"]);
}

#[test]
fn is_the_one_that_is_installed() {
    let setup = found();
    let built = setup.library_folder().join(LIBRARY);
    let Ok(package) = setup.conf("PACKAGE") else { panic!("series.conf has no PACKAGE") };
    let installed = setup.patched.prefix.join("lib").join(package).join("vmods").join(LIBRARY);
    assert!(fs::read(&built).is_ok(), "no {}", built.display());
    assert_eq!(fs::read(&built).ok(), fs::read(&installed).ok(), "run make vmod");
}

#[test]
fn the_patches_keep_the_abi_string() {
    let setup = found();
    let header = |source: &Path| {
        let text = fs::read_to_string(source.join("include/vmod_abi.h")).unwrap_or_default();
        text.lines().find(|line| line.contains("VMOD_ABI_Version")).map(str::to_owned)
    };
    let reference = header(&setup.reference.source);
    assert!(reference.is_some(), "no VMOD_ABI_Version in the reference tree");
    assert_eq!(header(&setup.patched.source), reference);
}
