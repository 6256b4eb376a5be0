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
