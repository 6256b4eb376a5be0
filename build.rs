//! Makes, from `vmod.vcc`, `member.vsc` and the headers of the server that pkg-config knows as `varnishapi` or `vinylapi`:
//!
//! - `vrt.rs`: the parts of the server's C interface that `src/ffi` uses, and the type of the VMOD's function table;
//! - `ids.rs`: the constants by which the server recognises the VMOD;
//! - a C library with the VMOD's description for the VCL compiler, exactly as vmodtool wrote it, and the functions that make
//!   and destroy sections of `varnishstat`, as vsctool wrote them.
//!
//! `SERVER_API` says which of the two, and is needed only where there are two servers. `PKG_CONFIG`, `PKG_CONFIG_PATH` and
//! `PYTHON3` are honoured. Every failure is one line that says what to do.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

/// What C headers the VMOD is built from. The last one is vmodtool's output, which alone declares the function table.
const HEADERS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include "cache/cache.h"
#include "vcl.h"
#include "vsb.h"
#include "vrnd.h"
#include "vre.h"
#include "common/common_param.h"
typedef ElfW(Sym) elf_symbol;
extern volatile struct params * cache_param;
#include "functions.h"
#include "VSC_pdir.h"
"#;

const FUNCTIONS: &str =
    "VRT_(AddDirector|DelDirector|Assign_Backend|BACKEND_string|DirectorResolve|HashStrands32|Healthy|LookupDirector|SetChanged|fail)\
    |VRT_(priv_task|priv_task_get|blob)|VSLb?|VSB_(bcat|indent)|VAS_Fail|VRND_Random(Crypto|Testable)|dlsym|dladdr1\
    |VRT_VSM_Cluster_(New|Destroy)|VRT_VSC_(Overhead|Hide|Reveal)|VSC_pdir_(New|Destroy)|VCL_Name";
const TYPES: &str =
    "Vmod_vmod_probe_directors_Func|vmod_data|director|params|debug_bits|elf_symbol|busyobj|http|strands|vrt_blob|VSC_pdir\
    |vcl_event_e";
/// Only pointers to these are passed on.
const OPAQUE: &str =
    "wrk_vpi|vsl_log|vcl|ws|sess|req|lock|vsb|vcldir|http_conn|objcore|worker|vfp_ctx|stevedore|vrt_privs|vsmw_cluster|vsc_seg";
const CONSTANTS: &str = "VMOD_ABI_Version|VRT_CTX_MAGIC|DIRECTOR_MAGIC|VDI_METHODS_MAGIC|RTLD_DL_SYMENT|cache_param\
    |VMOD_PRIV_METHODS_MAGIC|HTTP_HDR_URL|BUSYOBJ_MAGIC|HTTP_MAGIC|VCL_MET_(PIPE|TASK_[BCH])";

fn main() {
    // A change of any source changes the identity of the library, see `ids`.
    for path in ["build.rs", "Cargo.lock", "Cargo.toml", "vmod.vcc", "member.vsc", "src", "policy", "report"] {
        println!("cargo:rerun-if-changed={path}");
    }
    for name in ["SERVER_API", "PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PYTHON3", "LIBCLANG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let out = PathBuf::from(var("OUT_DIR"));
    let root = PathBuf::from(var("CARGO_MANIFEST_DIR"));

    let api = server_api();
    let version = pkg_config(&api, "--modversion");
    let vmodtool = pkg_config(&api, "--variable=vmodtool");
    let vsctool = pkg_config(&api, "--variable=vsctool");
    let include = pkg_config(&api, "--variable=pkgincludedir");
    for (name, tool) in [("vmodtool.py", &vmodtool), ("vsctool.py", &vsctool)] {
        if !Path::new(tool).is_file() {
            fail(&format!(
                "{name} is not where pkg-config says ({tool}): install the server's development files (Debian: {})",
                debian_package(&api)
            ));
        }
    }
    if !Path::new(&include).join("cache/cache.h").is_file() {
        fail(&format!(
            "{include} has no cache/cache.h: install the server's development files (Debian: {})",
            debian_package(&api)
        ));
    }
    println!("cargo:rerun-if-changed={include}/vmod_abi.h");
    println!("cargo:rerun-if-changed={include}/vrt.h");
    println!("cargo:rerun-if-changed={include}/cache/cache.h");

    run_tool(&vmodtool, &["--strict"], &root.join("vmod.vcc"), &out);
    run_vsctool(&vsctool, &root.join("member.vsc"), &out);
    let generated = read(&out.join("vcc_if.c"));
    let stock_id = between(&generated, ".file_id =\t\"", "\"");
    let file_id = identity(stock_id, &root, &version, &read(&Path::new(&include).join("vmod_abi.h")));
    write_ids(&out, &file_id);
    compile(&write_description(&generated, stock_id, &file_id, &out), &include, &out);
    write_functions(&generated, &out);
    write_bindings(&include, &out);
}

/// vsctool knows its own directives by the name of the server.
fn run_vsctool(vsctool: &str, vsc: &Path, out: &Path) {
    let tool = read(Path::new(vsctool));
    let server = tool.split('"').find_map(|text| text.strip_suffix("_vsc_begin::"));
    let Some(server) = server else {
        fail("vsctool is not what build.rs expects: its format has changed");
    };
    let file = out.join("member.vsc");
    write(&file, &read(vsc).replace("\n.. varnish_vsc", &format!("\n.. {server}_vsc")));
    run_tool(vsctool, &["-c", "-h"], &file, out);
    // What it writes includes one, as the server's own files do
    write(&out.join("config.h"), "");
}

/// The tools write their files into the current directory.
fn run_tool(tool: &str, options: &[&str], file: &Path, out: &Path) {
    let python = env::var("PYTHON3").unwrap_or_else(|_| "python3".into());
    let result = Command::new(&python).arg(tool).args(options).arg(file).current_dir(out).output();
    match result {
        Err(e) => fail(&format!("cannot run {python} ({e}): install Python 3, or set PYTHON3")),
        Ok(r) if !r.status.success() => {
            let text = String::from_utf8_lossy(&r.stderr).into_owned() + &String::from_utf8_lossy(&r.stdout);
            let why = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ");
            fail(&format!("{tool} rejects {}: {why}", file.display()))
        }
        Ok(_) => {}
    }
}

/// vmodtool's own identity covers the `$` lines of vmod.vcc only. The server keeps a loaded library under its
/// identity, so a rebuilt one would not be picked up. Hence the tail is taken from all that the library is made of.
fn identity(stock_id: &str, root: &Path, version: &str, abi: &str) -> String {
    let mut hasher = DefaultHasher::new();
    let mut files: Vec<_> = ["build.rs", "Cargo.lock", "Cargo.toml", "vmod.vcc", "member.vsc"]
        .into_iter()
        .map(|name| root.join(name))
        .collect();
    for dir in ["src", "policy/src", "report/src"] {
        sources(&root.join(dir), &mut files);
    }
    files.sort();
    for file in files {
        read(&file).hash(&mut hasher);
    }
    for name in ["PROFILE", "TARGET", "CARGO_ENCODED_RUSTFLAGS"] {
        env::var(name).unwrap_or_default().hash(&mut hasher);
    }
    version.hash(&mut hasher);
    abi.hash(&mut hasher);
    let head = stock_id
        .get(..48)
        .unwrap_or_else(|| fail("vmodtool's file_id is not what build.rs expects: its format has changed"));
    format!("{head}{:016x}", hasher.finish())
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        fail(&format!("cannot read {}", dir.display()));
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn write_ids(out: &Path, file_id: &str) {
    let text = format!(
        "pub const FILE_ID: &::std::ffi::CStr = c\"{file_id}\";\n\
         pub const VERSION: &::std::ffi::CStr = c\"probe_directors {}\";\n",
        var("CARGO_PKG_VERSION")
    );
    write(&out.join("ids.rs"), &text);
}

/// The description is a C string with parts that only the preprocessor knows. It needs another identity and a name
/// that the linker sees, and is otherwise left alone.
fn write_description(generated: &str, stock_id: &str, file_id: &str, out: &Path) -> PathBuf {
    let start = "#define STRINGIFY3(arg)";
    let body = between(generated, start, "#undef STRINGIFY\n").replace(stock_id, file_id);
    let mark = "static const char Vmod_Json[]";
    if !body.contains(mark) || !body.contains(file_id) {
        fail("vmodtool's output is not what build.rs expects: its format has changed");
    }
    let body = body.replace(mark, "extern const char probe_directors_json[];\nconst char probe_directors_json[]");
    let file = out.join("description.c");
    write(&file, &format!("#include \"vmod_abi.h\"\n{start}{body}"));
    file
}

fn compile(description: &Path, include: &str, out: &Path) {
    let mut build = cc::Build::new();
    build.include(include).include(out).file(description).file(out.join("VSC_pdir.c")).cargo_metadata(true);
    if let Err(e) = build.try_compile("generated") {
        fail(&format!("cannot compile C ({}): install a C compiler, or set CC", e.to_string().replace('\n', " ")));
    }
}

/// vmodtool's output includes what must not be included twice.
fn write_functions(generated: &str, out: &Path) {
    let mut text = generated.to_owned();
    for line in ["#include \"config.h\"\n", "#include \"vdef.h\"\n", "#include \"vrt.h\"\n"] {
        if !text.contains(line) {
            fail(&format!("vmodtool's output lacks {line:?}: its format has changed"));
        }
        text = text.replace(line, "");
    }
    write(&out.join("functions.h"), &text);
}

fn write_bindings(include: &str, out: &Path) {
    let header = out.join("headers.h");
    write(&header, HEADERS);
    let result = std::panic::catch_unwind(|| {
        bindgen::Builder::default()
            .header(header.to_string_lossy())
            .clang_arg(format!("-I{include}"))
            .clang_arg(format!("-I{}", out.display()))
            .allowlist_function(FUNCTIONS)
            .allowlist_type(TYPES)
            .allowlist_var(CONSTANTS)
            .opaque_type(OPAQUE)
            .generate_cstr(true)
            .derive_copy(true)
            .layout_tests(false)
            .merge_extern_blocks(true)
            .prepend_enum_name(false)
            .generate()
    });
    let bindings = match result {
        Ok(Ok(bindings)) => bindings,
        Ok(Err(e)) => fail(&format!(
            "bindgen cannot read the server's headers in {include}: {}",
            e.to_string().replace('\n', " ").chars().take(300).collect::<String>()
        )),
        Err(_) => fail("libclang is missing: install it (Debian: libclang-dev), or set LIBCLANG_PATH"),
    };
    if let Err(e) = bindings.write_to_file(out.join("vrt.rs")) {
        fail(&format!("cannot write {}: {e}", out.join("vrt.rs").display()));
    }
}

/// The names by which pkg-config knows servers.
const APIS: [&str; 2] = ["varnishapi", "vinylapi"];

/// The server to build for.
fn server_api() -> String {
    if let Ok(api) = env::var("SERVER_API") {
        return api;
    }
    let include = |api| ask_pkg_config(api, "--variable=pkgincludedir").map(|folder| (api, folder));
    let mut found: Vec<(&str, String)> = APIS.into_iter().filter_map(include).collect();
    // One server under two names, as Debian has Vinyl Cache
    found.dedup_by(|second, first| second.1 == first.1);
    match &found[..] {
        [(api, _)] => (*api).to_owned(),
        [] => fail(&format!(
            "pkg-config knows neither {}: install the server's development files (Debian: {}), \
             or set PKG_CONFIG_PATH to the folder that has its .pc file",
            APIS.join(" nor "),
            APIS.map(debian_package).join(" or ")
        )),
        _ => fail(&format!("pkg-config knows {}: set SERVER_API to the one to build for", APIS.join(" and "))),
    }
}

fn debian_package(api: &str) -> String {
    format!("lib{api}-dev")
}

fn pkg_config(api: &str, question: &str) -> String {
    ask_pkg_config(api, question).unwrap_or_else(|| {
        fail(&format!(
            "pkg-config does not know {api}: install the server's development files (Debian: {}), \
             or set PKG_CONFIG_PATH to the folder that has {api}.pc",
            debian_package(api)
        ))
    })
}

/// The answer, or none if there is no such package.
fn ask_pkg_config(api: &str, question: &str) -> Option<String> {
    let tool = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    match Command::new(&tool).args([question, api]).output() {
        Err(e) => fail(&format!("cannot run {tool} ({e}): install pkg-config, or set PKG_CONFIG")),
        Ok(r) if r.status.success() => Some(String::from_utf8_lossy(&r.stdout).trim().to_owned()),
        Ok(_) => None,
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start)
        .and_then(|(_, rest)| rest.split_once(end))
        .map(|(found, _)| found)
        .unwrap_or_else(|| fail(&format!("vmodtool's output lacks {start:?}: its format has changed")))
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| fail(&format!("{name} is not set: run this through cargo")))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| fail(&format!("cannot read {}: {e}", path.display())))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| fail(&format!("cannot write {}: {e}", path.display())));
}

fn fail(text: &str) -> ! {
    println!("cargo:warning={text}");
    eprintln!("probe_directors: {text}");
    exit(1)
}
