//! Where the servers, sources and tests are. `make check` sets SERIES and BUILD; the defaults are its own.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::sanitizer::Sanitizer;

/// One built server: its source tree and where it is installed.
pub struct Server {
    pub name: &'static str,
    pub source: PathBuf,
    pub prefix: PathBuf,
}

pub struct Setup {
    pub root: PathBuf,
    /// The folder of the series under build/, with a sanitizer another one.
    pub here: PathBuf,
    pub sanitizer: Option<Sanitizer>,
    pub patches: PathBuf,
    /// The settings of patches/SERIES/series.conf.
    conf: HashMap<String, String>,
    pub patched: Server,
    pub reference: Server,
}

impl Setup {
    pub fn find() -> Result<Setup, String> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let series = env::var("SERIES").unwrap_or_else(|_| "varnish-7.7".to_owned());
        let build = root.join(env::var("BUILD").unwrap_or_else(|_| "build".to_owned()));
        let sanitizer = Sanitizer::from_env(&root.join("tests/sanitizers"))?;
        let here = build.join(match &sanitizer {
            Some(sanitizer) => format!("{series}-{}", sanitizer.name),
            None => series.clone(),
        });
        let patches = root.join("patches").join(&series);
        let text = fs::read_to_string(patches.join("series.conf")).map_err(|e| format!("no series {series}: {e}"))?;
        let setup = Setup {
            conf: parse(&text),
            patched: Server { name: "patched", source: here.join("src"), prefix: here.join("prefix") },
            reference: Server {
                name: "reference",
                source: here.join("reference/src"),
                prefix: here.join("reference/prefix"),
            },
            root,
            here,
            sanitizer,
            patches,
        };
        for server in [&setup.patched, &setup.reference] {
            if !setup.built(server)? && (setup.sanitizer.is_none() || server.name == setup.patched.name) {
                let at = server.prefix.display();
                return Err(format!("no {} server in {at}: run make check", server.name));
            }
        }
        Ok(setup)
    }

    /// Why this test, `SUITE::NAME`, is left out, if it is.
    pub fn left_out(&self, test: &str) -> Option<&str> {
        self.sanitizer.as_ref()?.left_out(test)
    }

    /// With a sanitizer the unpatched server need not be there.
    pub fn built(&self, server: &Server) -> Result<bool, String> {
        Ok(server.program(&self.conf("VTEST")?).exists())
    }

    pub fn conf(&self, key: &str) -> Result<String, String> {
        self.conf.get(key).cloned().ok_or_else(|| format!("series.conf has no {key}"))
    }

    /// The library as cargo built it, which is also the one that is installed.
    pub fn library_folder(&self) -> PathBuf {
        env::var_os("LIBRARY_FOLDER").map_or_else(|| self.here.join("target/release"), PathBuf::from)
    }
}

impl Server {
    pub fn program(&self, name: &str) -> PathBuf {
        let daemon = self.prefix.join("sbin").join(name);
        if daemon.exists() {
            daemon
        } else {
            self.prefix.join("bin").join(name)
        }
    }

    /// The VMODs that were built with this server.
    pub fn vmods(&self) -> PathBuf {
        self.source.join("vmod/.libs")
    }
}

/// KEY="value" lines; everything else is comment.
fn parse(text: &str) -> HashMap<String, String> {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned()))
        .collect()
}

/// The files of a folder with this ending, sorted; none if there is no such folder.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    found.sort();
    found
}

/// A file's name without folder and extension.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
