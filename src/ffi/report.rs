//! The functions that read load reports: check, convert, delegate.

use std::ffi::CStr;

use super::ctx::Ctx;
use super::{panic, vrt};
use crate::error;

/// The bytes of a string of VCL. One that is not set has none.
///
/// # Safety
/// `string` is null, or a string of VCL that outlives the result.
unsafe fn bytes<'a>(string: vrt::VCL_STRING) -> &'a [u8] {
    if string.is_null() {
        return b"";
    }
    // SAFETY: not null, and a C string that outlives the result.
    unsafe { CStr::from_ptr(string) }.to_bytes()
}

/// `probe_directors.orca(STRING, STRING, REAL)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe extern "C" fn orca(
    _: *const vrt::vrt_ctx,
    header: vrt::VCL_STRING,
    metric: vrt::VCL_STRING,
    fallback: vrt::VCL_REAL,
) -> vrt::VCL_REAL {
    // A VCL may use this and no object.
    panic::install();
    // SAFETY: VCL passes strings that outlive the call, or null.
    let (header, metric) = unsafe { (bytes(header), bytes(metric)) };
    report::orca::metric(header, metric).unwrap_or(fallback)
}

/// `probe_directors.agent(STRING, REAL, REAL)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe extern "C" fn agent(
    _: *const vrt::vrt_ctx,
    reply: vrt::VCL_STRING,
    base: vrt::VCL_REAL,
    fallback: vrt::VCL_REAL,
) -> vrt::VCL_REAL {
    // A VCL may use this and no object.
    panic::install();
    // SAFETY: VCL passes a string that outlives the call, or null.
    report::agent::weight(unsafe { bytes(reply) }, base).unwrap_or(fallback)
}

/// `probe_directors.from_load(REAL, REAL)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe extern "C" fn from_load(
    ctx: *const vrt::vrt_ctx,
    load: vrt::VCL_REAL,
    floor: vrt::VCL_REAL,
) -> vrt::VCL_REAL {
    // A VCL may use this and no object.
    panic::install();
    // SAFETY: VCL passes its context.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    if !report::load::is_floor(floor) {
        ctx.fail(&error::bad_floor(floor));
    }
    // No number: `set_weight` refuses it, and says for which backend.
    report::load::weight(load, floor).unwrap_or(f64::NAN)
}
