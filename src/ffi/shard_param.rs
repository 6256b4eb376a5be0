//! The methods of the VCL object `shard_param`: check, convert, delegate.
//!
//! To VCL the object is a pointer to a [`ParamSet`] that is counted, as directors that use it may outlive it.

use std::ffi::{c_char, CStr};
use std::mem::size_of;
use std::ptr;
use std::sync::Arc;

use super::ctx::Ctx;
use super::shard::{arguments, pick_arguments};
use super::{draw, entry, panic, vrt};
use crate::shard::params::{healthy_word, ParamSet};

type Opaque = vrt::vmod_probe_directors_shard_param;

/// By this and its length a blob is known to be from [`use_`]. Not that of the bundled directors, whose sets are others.
const BLOB_TYPE: u32 = 0x5a4d_70b5;

/// # Safety
/// To be called with the first arguments that VCL gives to a method.
unsafe fn method<'a>(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> Option<(Ctx<'a>, &'a ParamSet)> {
    // SAFETY: as the caller promises.
    unsafe { entry::method(ctx, object.cast()) }
}

/// The bytes of a blob. None for null.
///
/// # Safety
/// `blob` is null, or a blob of VCL that lives for the lifetime of the result.
pub(super) unsafe fn bytes<'a>(blob: vrt::VCL_BLOB) -> &'a [u8] {
    // SAFETY: as the caller promises.
    match unsafe { blob.as_ref() } {
        // SAFETY: not null, and as long as it says.
        Some(b) if !b.blob.is_null() && b.len > 0 => unsafe { std::slice::from_raw_parts(b.blob.cast(), b.len) },
        _ => b"",
    }
}

/// The set that `use_` made the blob of. `None` for other blobs, and for null.
///
/// # Safety
/// `blob` is null, or a blob of VCL.
pub(super) unsafe fn from_blob(blob: vrt::VCL_BLOB) -> Option<Arc<ParamSet>> {
    // SAFETY: as the caller promises.
    let blob = unsafe { blob.as_ref() }?;
    if blob.type_ != BLOB_TYPE || blob.len != size_of::<ParamSet>() || blob.blob.is_null() {
        return None;
    }
    let set: *const ParamSet = blob.blob.cast();
    // SAFETY: a blob of this type is from `use_`, hence points into a counted set; the VCL object, whose count is
    // still there, lives at least as long as the blob. What is made here is counted anew.
    unsafe {
        Arc::increment_strong_count(set);
        Some(Arc::from_raw(set))
    }
}

pub(super) unsafe extern "C" fn init(_: *const vrt::vrt_ctx, place: *mut *mut Opaque, name: *const c_char) {
    panic::install();
    draw::init();
    // SAFETY: VCL passes a name as a C string, and a place for the object.
    unsafe { *place = Arc::into_raw(Arc::new(ParamSet::new(CStr::from_ptr(name)))).cast_mut().cast() };
}

pub(super) unsafe extern "C" fn fini(place: *mut *mut Opaque) {
    // SAFETY: VCL passes the place of the object, and does not use it again.
    let object = unsafe { std::mem::replace(&mut *place, ptr::null_mut()) };
    if !object.is_null() {
        // SAFETY: from `init`, and just now taken out of the only place that had it.
        drop(unsafe { Arc::from_raw(object.cast_const().cast::<ParamSet>()) });
    }
}

pub(super) unsafe extern "C" fn clear(ctx: *const vrt::vrt_ctx, object: *mut Opaque) {
    // SAFETY: called by VCL.
    if let Some((ctx, set)) = unsafe { method(ctx, object) } {
        set.clear(&ctx);
    }
}

pub(super) unsafe extern "C" fn set(
    ctx: *const vrt::vrt_ctx,
    object: *mut Opaque,
    args: *mut vrt::arg_vmod_probe_directors_shard_param_set,
) {
    // SAFETY: called by VCL.
    let (called, args) = unsafe { (method(ctx, object), arguments(args)) };
    let Some((ctx, set)) = called else { return };
    // SAFETY: VCL passes ENUMs, and blobs that outlive the call.
    let arguments = unsafe { pick_arguments!(args) };
    set.set(&ctx, &arguments);
}

pub(super) unsafe extern "C" fn get_by(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_STRING {
    // SAFETY: called by VCL.
    unsafe { method(ctx, object) }.map_or(ptr::null(), |(ctx, set)| set.params(&ctx).by.word().as_ptr())
}

pub(super) unsafe extern "C" fn get_key(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_INT {
    // SAFETY: called by VCL.
    unsafe { method(ctx, object) }.map_or(0, |(ctx, set)| set.key_now(&ctx).into())
}

pub(super) unsafe extern "C" fn get_alt(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_INT {
    // SAFETY: called by VCL.
    let called = unsafe { method(ctx, object) };
    // It was an INT when it was set.
    called.map_or(0, |(ctx, set)| set.params(&ctx).alt as vrt::VCL_INT)
}

pub(super) unsafe extern "C" fn get_warmup(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_REAL {
    // SAFETY: called by VCL.
    unsafe { method(ctx, object) }.map_or(0.0, |(ctx, set)| set.params(&ctx).warmup.unwrap_or(-1.0))
}

pub(super) unsafe extern "C" fn get_rampup(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_BOOL {
    // SAFETY: called by VCL.
    unsafe { method(ctx, object) }.map_or(0, |(ctx, set)| set.params(&ctx).rampup.into())
}

pub(super) unsafe extern "C" fn get_healthy(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_STRING {
    // SAFETY: called by VCL.
    unsafe { method(ctx, object) }.map_or(ptr::null(), |(ctx, set)| healthy_word(set.params(&ctx).healthy).as_ptr())
}

pub(super) unsafe extern "C" fn use_(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_BLOB {
    // SAFETY: called by VCL.
    let Some((called, set)) = (unsafe { method(ctx, object) }) else { return ptr::null() };
    let set: *const ParamSet = set;
    // SAFETY: VCL passes its context, and a set that outlives the task, in which the blob is.
    unsafe {
        vrt::VRT_blob(called.as_raw(), c"xshard_param.use()".as_ptr(), set.cast(), size_of::<ParamSet>(), BLOB_TYPE)
    }
}
