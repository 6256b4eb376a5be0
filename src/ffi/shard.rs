//! The methods of the VCL object `shard`: check, convert, delegate.

use std::ffi::{c_char, CStr};
use std::ptr;
use std::sync::Arc;

use super::backend::Backend;
use super::ctx::{Ctx, Task};
use super::director::{within, Object};
use super::{entry, enums, shard_param, vrt};
use crate::error::shard as texts;
use crate::shard::Shard;

type Opaque = vrt::vmod_probe_directors_shard;

fn cast(object: *mut Opaque) -> *mut Object<Shard> {
    object.cast()
}

/// # Safety
/// To be called with the first arguments that VCL gives to a method.
unsafe fn method<'a>(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> Option<(Ctx<'a>, &'a Object<Shard>)> {
    // SAFETY: as the caller promises.
    unsafe { entry::method(ctx, cast(object)) }
}

/// # Safety
/// `args` is the structure of arguments that VCL passes.
pub(super) unsafe fn arguments<'a, T>(args: *mut T) -> &'a T {
    // SAFETY: as the caller promises; VCL leaves it alone for the time of the call.
    match unsafe { args.as_ref() } {
        Some(args) => args,
        None => panic!("no arguments"),
    }
}

/// # Safety
/// `string` is null, or a string of VCL.
unsafe fn string<'a>(string: vrt::VCL_STRING) -> Option<&'a CStr> {
    // SAFETY: not null, and a C string that outlives the call.
    (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) })
}

/// An optional argument.
pub(super) fn given<T>(valid: c_char, value: T) -> Option<T> {
    (valid != 0).then_some(value)
}

/// The arguments that `.backend()` and those of a set have in common, from either structure. Unsafe: VCL has to have passed
/// it, with ENUMs, and blobs that outlive the call.
macro_rules! pick_arguments {
    ($args:expr) => {{
        use $crate::ffi::{enums, shard::given, shard_param};
        let args = $args;
        $crate::shard::params::Arguments {
            by: given(args.valid_by, args.by).map(|by| enums::by(by)),
            key: given(args.valid_key, args.key),
            key_blob: given(args.valid_key_blob, args.key_blob).map(|blob| shard_param::bytes(blob)),
            alt: given(args.valid_alt, args.alt),
            warmup: given(args.valid_warmup, args.warmup),
            rampup: given(args.valid_rampup, args.rampup != 0),
            healthy: given(args.valid_healthy, args.healthy).map(|healthy| enums::healthy(healthy)),
        }
    }};
}
pub(super) use pick_arguments;

pub(super) unsafe extern "C" fn init(ctx: *const vrt::vrt_ctx, place: *mut *mut Opaque, name: *const c_char) {
    // SAFETY: VCL keeps the contract of this function.
    unsafe { entry::init(ctx, place.cast(), name, |name| Ok(Shard::new(name))) }
}

pub(super) unsafe extern "C" fn fini(place: *mut *mut Opaque) {
    // SAFETY: VCL keeps the contract of this function.
    unsafe { entry::fini::<Shard>(place.cast()) }
}

pub(super) unsafe extern "C" fn set_warmup(ctx: *const vrt::vrt_ctx, object: *mut Opaque, probability: vrt::VCL_REAL) {
    // SAFETY: called by VCL.
    let Some((ctx, object)) = (unsafe { method(ctx, object) }) else { return };
    object.kind.set_warmup(&ctx, probability);
}

pub(super) unsafe extern "C" fn set_rampup(ctx: *const vrt::vrt_ctx, object: *mut Opaque, duration: vrt::VCL_DURATION) {
    // SAFETY: called by VCL.
    let Some((ctx, object)) = (unsafe { method(ctx, object) }) else { return };
    object.kind.set_rampup(&ctx, duration);
}

pub(super) unsafe extern "C" fn associate(ctx: *const vrt::vrt_ctx, object: *mut Opaque, param: vrt::VCL_BLOB) {
    // SAFETY: called by VCL, with a blob or null.
    let (called, set) = unsafe { (method(ctx, object), shard_param::from_blob(param)) };
    let Some((ctx, object)) = called else { return };
    if set.is_none() && !param.is_null() {
        ctx.fail(&texts::bad_associate(object.name()));
        return;
    }
    object.kind.associate(set);
}

pub(super) unsafe extern "C" fn add_backend(
    ctx: *const vrt::vrt_ctx,
    object: *mut Opaque,
    args: *mut vrt::arg_vmod_probe_directors_shard_add_backend,
) -> vrt::VCL_BOOL {
    // SAFETY: called by VCL.
    let (called, args) = unsafe { (method(ctx, object), arguments(args)) };
    let Some((ctx, object)) = called else { return 0 };
    // SAFETY: VCL passes a backend, or null, and a string, or null, that outlive the call.
    let (backend, ident) = unsafe { (Backend::from_raw(args.backend), string(args.ident)) };
    let name = object.name();
    let backend = match backend {
        None => {
            ctx.fail(&texts::none_added(name));
            return 0;
        }
        Some(b) if b.as_raw() == object.director() => {
            ctx.fail(&texts::added_to_itself(name));
            return 0;
        }
        Some(b) => b,
    };
    let ident = given(args.valid_ident, ident).flatten().filter(|ident| !ident.is_empty());
    let rampup = given(args.valid_rampup, args.rampup).map(|rampup| {
        if rampup.is_finite() && rampup >= 0.0 {
            return rampup;
        }
        ctx.log_error(&texts::rampup_ignored(name, rampup));
        0.0
    });
    let weight = match given(args.valid_weight, args.weight) {
        None => 1.0,
        Some(weight) if weight >= 1.0 && weight.is_finite() => weight,
        Some(weight) => {
            ctx.log_notice(&texts::weight_ignored(name, weight));
            1.0
        }
    };
    let changes = object.kind.changes(&ctx);
    changes.map(|c| c.add(backend, ident, rampup, weight)).is_some().into()
}

pub(super) unsafe extern "C" fn remove_backend(
    ctx: *const vrt::vrt_ctx,
    object: *mut Opaque,
    args: *mut vrt::arg_vmod_probe_directors_shard_remove_backend,
) -> vrt::VCL_BOOL {
    // SAFETY: called by VCL.
    let (called, args) = unsafe { (method(ctx, object), arguments(args)) };
    let Some((ctx, object)) = called else { return 0 };
    // SAFETY: VCL passes a backend, or null, and a string, or null, that outlive the call.
    let (backend, ident) = unsafe { (Backend::from_raw(args.backend), string(args.ident)) };
    let backend = given(args.valid_backend, backend).flatten();
    let ident = given(args.valid_ident, ident).flatten();
    if backend.is_none() && ident.is_none() {
        ctx.fail(&texts::nothing_to_remove(object.name()));
        return 0;
    }
    // An empty ident is none, as when backends are added.
    let ident = ident.filter(|ident| !ident.is_empty());
    object.kind.changes(&ctx).map(|c| c.remove(backend, ident)).is_some().into()
}

pub(super) unsafe extern "C" fn clear(ctx: *const vrt::vrt_ctx, object: *mut Opaque) -> vrt::VCL_BOOL {
    // SAFETY: called by VCL.
    let Some((ctx, object)) = (unsafe { method(ctx, object) }) else { return 0 };
    object.kind.changes(&ctx).map(|c| c.clear()).is_some().into()
}

pub(super) unsafe extern "C" fn reconfigure(
    ctx: *const vrt::vrt_ctx,
    object: *mut Opaque,
    replicas: vrt::VCL_INT,
) -> vrt::VCL_BOOL {
    // SAFETY: called by VCL.
    let Some((ctx, object)) = (unsafe { method(ctx, object) }) else { return 0 };
    object.kind.reconfigure(&ctx, replicas).into()
}

pub(super) unsafe extern "C" fn key(_: *const vrt::vrt_ctx, _: *mut Opaque, strands: vrt::VCL_STRANDS) -> vrt::VCL_INT {
    // SAFETY: VCL passes strands, any of which may be null: an unset header counts as empty.
    unsafe { vrt::VRT_HashStrands32(strands) }.into()
}

pub(super) unsafe extern "C" fn backend(
    ctx: *const vrt::vrt_ctx,
    object: *mut Opaque,
    args: *mut vrt::arg_vmod_probe_directors_shard_backend,
) -> vrt::VCL_BACKEND {
    // SAFETY: called by VCL.
    let (called, args) = unsafe { (method(ctx, object), arguments(args)) };
    let Some((ctx, object)) = called else { return ptr::null() };
    let director = object.director();
    let housekeeping = ctx.task() == Task::Housekeeping;
    let lazy = match given(args.valid_resolve, args.resolve) {
        // SAFETY: an ENUM argument.
        Some(resolve) => unsafe { enums::is_lazy(resolve) },
        None => housekeeping,
    };
    // SAFETY: VCL passes ENUMs, and blobs that outlive the call.
    let arguments = unsafe { pick_arguments!(args) };
    let param = given(args.valid_param, args.param);
    if lazy && param.is_none() && arguments.are_none() {
        return director;
    }
    if lazy && ctx.task() != Task::Backend {
        ctx.fail(&texts::lazy_with_parameters(object.name()));
        return ptr::null();
    }
    if housekeeping {
        ctx.fail(&texts::now_in_housekeeping(object.name()));
        return ptr::null();
    }
    // SAFETY: VCL passes a blob, or null.
    let param: Option<Arc<_>> = match param.map(|blob| unsafe { shard_param::from_blob(blob) }) {
        None => None,
        Some(Some(set)) => Some(set),
        Some(None) => {
            ctx.fail(&texts::bad_param(object.name()));
            return ptr::null();
        }
    };
    let Some(given) = arguments.check(&ctx, || object.name(), "shard.backend()") else { return ptr::null() };
    if lazy {
        return if object.kind.keep(&ctx, given, param) { director } else { ptr::null() };
    }
    let ask = || {
        object.expire(&ctx);
        object.kind.pick_now(&ctx, given, param.as_deref(), |member| Some(member.backend().as_raw()))
    };
    // SAFETY: the director of an object is alive as long as the object.
    let Some(backend) = (unsafe { Backend::from_raw(director) }) else { return ptr::null() };
    within(&ctx, backend, ask).flatten().unwrap_or(ptr::null())
}

pub(super) unsafe extern "C" fn debug(ctx: *const vrt::vrt_ctx, object: *mut Opaque, bits: vrt::VCL_INT) {
    // SAFETY: called by VCL.
    let Some((_, object)) = (unsafe { method(ctx, object) }) else { return };
    // The lower 32 bits, as in the bundled directors.
    object.kind.set_debug(bits as u32);
}

entry::weight_entry_points!(Shard, vmod_probe_directors_shard);
