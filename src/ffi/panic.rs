//! A Rust panic becomes a panic of the server, so that `panic.show` has its text, file and line.

use std::ffi::CString;
use std::panic::PanicHookInfo;
use std::sync::Once;

use super::vrt;

static INSTALLED: Once = Once::new();

/// Installs the hook, once in the life of the loaded library. The hook is a function without data, so that nothing is
/// left behind when the library is unloaded.
///
/// The hook does not return. Should it ever, entry points are `extern "C"`, which ends the process rather than unwind
/// into C.
pub fn install() {
    INSTALLED.call_once(|| std::panic::set_hook(Box::new(hook)));
}

fn hook(info: &PanicHookInfo<'_>) {
    let text = match (info.payload().downcast_ref::<&str>(), info.payload().downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "panic".to_owned(),
    };
    let (file, line) = info.location().map_or(("?", 0), |l| (l.file(), l.line()));
    let c = |text: &str| CString::new(text.replace('\0', "?")).unwrap_or_default();
    let (file, text) = (c(file), c(&text));
    // SAFETY: all arguments are C strings; the function does not return.
    unsafe {
        vrt::VAS_Fail(
            c"probe_directors".as_ptr(),
            file.as_ptr(),
            i32::try_from(line).unwrap_or(0),
            text.as_ptr(),
            vrt::VAS_WRONG,
        );
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::ffi::{c_char, c_int, c_uint, CStr};
    use std::process::{exit, Command};

    const STATUS: i32 = 17;

    /// In place of the server's, which says all of it in `panic.show`.
    #[no_mangle]
    unsafe extern "C" fn VAS_Fail(
        function: *const c_char,
        file: *const c_char,
        line: c_int,
        text: *const c_char,
        _kind: c_uint,
    ) -> ! {
        // SAFETY: the hook passes C strings.
        let [function, file, text] = [function, file, text].map(|s| unsafe { CStr::from_ptr(s) }.to_string_lossy());
        eprintln!("{function} {file} {line}: {text}");
        exit(STATUS)
    }

    /// The test runs itself again, to die.
    #[test]
    fn the_server_is_told_text_file_and_line() {
        const WHICH: &str = "PROBE_DIRECTORS_TEST_PANIC";
        const NAME: &str = "ffi::panic::tests::the_server_is_told_text_file_and_line";
        let line = line!() + 5;
        if let Ok(which) = env::var(WHICH) {
            super::install();
            super::install();
            match which.as_str() {
                "formatted" => panic!("{which}\0{}", 1),
                "index" => assert_eq!([1, 2].get(which.len()), Some(&1), "told"),
                _ => panic!("plain"),
            }
        }
        for (which, text) in [("plain", "plain"), ("formatted", "formatted?1"), ("index", "told")] {
            let program = env::current_exe().unwrap_or_default();
            let child = Command::new(program).args(["--exact", NAME, "--nocapture"]).env(WHICH, which).output();
            let (status, said) = child.map_or((None, String::new()), |output| {
                (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
            });
            assert_eq!(status, Some(STATUS), "{said}");
            assert!(said.contains(text), "{said}");
            let told = said.lines().find(|l| l.starts_with("probe_directors src/ffi/panic.rs "));
            let at: Option<u32> = told.and_then(|l| l.split([' ', ':']).nth(2)).and_then(|n| n.parse().ok());
            assert!(at.is_some_and(|at| (line..line + 5).contains(&at)), "{said}");
        }
    }
}
