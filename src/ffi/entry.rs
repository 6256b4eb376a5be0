//! What VCL calls: check, convert, delegate.
//!
//! The functions with a type parameter do it for all directors. The macro `entry_points` in `vmod` gives them the
//! names that the function table wants.

use std::ffi::{c_char, CStr};
use std::ptr;

use super::backend::Backend;
use super::ctx::Ctx;
use super::director::{Director, Keyed, Kind, Object};
use super::{draw, panic, vrt};
use crate::error::{self, Text};
use policy::reported::WeightPolicy;

/// `new object = probe_directors.kind()`
///
/// # Safety
/// To be called as VCL does: with a context, the place of a VCL object that has not been made, and its name.
pub(super) unsafe fn init<D: Kind>(
    ctx: *const vrt::vrt_ctx,
    place: *mut *mut Object<D>,
    name: *const c_char,
    make: impl FnOnce(&CStr) -> Result<D, Text>,
) {
    panic::install();
    draw::init();
    // SAFETY: VCL passes its context.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    // SAFETY: VCL passes the name as a C string.
    let name = unsafe { CStr::from_ptr(name) };
    let made = make(name).and_then(|kind| Object::add(&ctx, name, kind).ok_or_else(|| error::not_added(name)));
    match made {
        // SAFETY: VCL passes a place for the object.
        Ok(object) => unsafe { *place = object },
        Err(text) => ctx.fail(&text),
    }
}

/// The end of a VCL object.
///
/// # Safety
/// To be called as VCL does: with the place of an object that `init` has made, or of none.
pub(super) unsafe fn fini<D: Kind>(place: *mut *mut Object<D>) {
    // SAFETY: VCL passes the place of the object, and does not use it again.
    let object = unsafe { std::mem::replace(&mut *place, ptr::null_mut()) };
    if !object.is_null() {
        // SAFETY: made by `init`, and just now taken out of the only place that had it.
        unsafe { Object::delete(object) };
    }
}

/// The arguments of a method. `None` is a VCL failure: there is no such object, as `vcl_init` failed before it was made,
/// and it is `vcl_fini` that calls.
///
/// # Safety
/// To be called with the first arguments that VCL gives to a method: its context, and the object, a `T`, or null.
pub(super) unsafe fn method<'a, T>(ctx: *const vrt::vrt_ctx, object: *mut T) -> Option<(Ctx<'a>, &'a T)> {
    // SAFETY: as the caller promises. An object outlives the call.
    let (ctx, object) = unsafe { (Ctx::from_raw(ctx), object.as_ref()) };
    if object.is_none() {
        ctx.fail(&error::not_made());
    }
    object.map(|object| (ctx, object))
}

/// `.add_backend(BACKEND, REAL)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe fn add_backend<D: Director>(
    ctx: *const vrt::vrt_ctx,
    object: *mut Object<D>,
    backend: vrt::VCL_BACKEND,
    weight: f64,
) {
    // SAFETY: VCL passes a backend, or null, that outlives the call.
    let (called, backend) = unsafe { (method(ctx, object), Backend::from_raw(backend)) };
    let Some((ctx, object)) = called else { return };
    match backend {
        None => ctx.fail(&error::none_added(object.name())),
        Some(b) if b.as_raw() == object.director() => ctx.fail(&error::added_to_itself(object.name())),
        Some(b) => match policy::weight::checked(weight) {
            None => ctx.fail(&error::bad_weight(object.name(), b.name(), weight)),
            Some(weight) => object.kind.vdir().add(b, weight),
        },
    }
}

/// `.remove_backend(BACKEND)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe fn remove_backend<D: Director>(
    ctx: *const vrt::vrt_ctx,
    object: *mut Object<D>,
    backend: vrt::VCL_BACKEND,
) {
    // SAFETY: VCL passes a backend, or null, that outlives the call.
    let (called, backend) = unsafe { (method(ctx, object), Backend::from_raw(backend)) };
    let Some((ctx, object)) = called else { return };
    match backend {
        None => ctx.fail(&error::none_removed(object.name())),
        Some(b) => object.kind.vdir().remove(b),
    }
}

/// `.backend()`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe fn backend<D: Kind>(ctx: *const vrt::vrt_ctx, object: *mut Object<D>) -> vrt::VCL_BACKEND {
    // SAFETY: as the caller promises.
    unsafe { method(ctx, object) }.map_or(ptr::null(), |(_, object)| object.director())
}

/// `.backend(STRANDS)`
///
/// The member that is picked is not counted for the caller, as with all that VCL gets: the director holds it.
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe fn backend_by_key<D: Keyed>(
    ctx: *const vrt::vrt_ctx,
    object: *mut Object<D>,
    key: vrt::VCL_STRANDS,
) -> vrt::VCL_BACKEND {
    // SAFETY: as the caller promises.
    let Some((ctx, object)) = (unsafe { method(ctx, object) }) else { return ptr::null() };
    // SAFETY: VCL passes strands, any of which may be null: an unset header counts as empty.
    let hash = unsafe { vrt::VRT_HashStrands32(key) };
    object.expire(&ctx);
    let state = object.kind.vdir().state();
    let slow_start = object.kind.weighing().policy().slow_start;
    let mut place = None;
    if slow_start > 0.0 {
        // Which keys a member gets first does not depend on chance
        let admitted = |i| state.admitted(&ctx, i, slow_start, || policy::hash::fraction(hash, i));
        place = object.kind.choose_by_hash(&state, hash, admitted);
    }
    let place = place.or_else(|| object.kind.choose_by_hash(&state, hash, |i| state.healthy(&ctx, i)));
    place.and_then(|i| state.backend(i)).map_or(ptr::null(), Backend::as_raw)
}

/// `probe_directors.lookup(STRING)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe extern "C" fn lookup(ctx: *const vrt::vrt_ctx, name: vrt::VCL_STRING) -> vrt::VCL_BACKEND {
    // A VCL may use this and no object.
    panic::install();
    // SAFETY: VCL passes its context.
    let ctx = unsafe { Ctx::from_raw(ctx) };
    if name.is_null() {
        ctx.fail(&error::nothing_looked_up());
        return ptr::null();
    }
    // SAFETY: a C string. The compiler lets this be called from vcl_init and vcl_fini only, as the server wants it.
    unsafe { vrt::VRT_LookupDirector(ctx.as_raw(), name) }
}

/// `.set_weight(BACKEND, REAL)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe fn set_weight<D: Kind>(
    ctx: *const vrt::vrt_ctx,
    object: *mut Object<D>,
    backend: vrt::VCL_BACKEND,
    weight: f64,
) {
    // SAFETY: VCL passes a backend, or null, that outlives the call.
    let (called, backend) = unsafe { (method(ctx, object), Backend::from_raw(backend)) };
    let Some((ctx, object)) = called else { return };
    match backend {
        None => ctx.fail(&error::none_weighed(object.name())),
        Some(b) => match policy::weight::checked(weight) {
            None => {
                object.kind.refuse(&ctx, b);
                ctx.log_error(&error::bad_weight(object.name(), b.name(), weight));
            }
            Some(weight) => object.log(&ctx, &object.kind.set_weight(&ctx, b, weight)),
        },
    }
}

/// `.weight(BACKEND)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe fn weight<D: Kind>(
    ctx: *const vrt::vrt_ctx,
    object: *mut Object<D>,
    backend: vrt::VCL_BACKEND,
) -> f64 {
    // SAFETY: VCL passes a backend, or null, that outlives the call.
    match unsafe { (method(ctx, object), Backend::from_raw(backend)) } {
        (Some((ctx, object)), Some(b)) => {
            object.expire(&ctx);
            object.kind.weight(&ctx, b)
        }
        // The None backend is no member of anything.
        _ => 0.0,
    }
}

/// `.weight_policy(...)`
///
/// # Safety
/// To be called as VCL does.
pub(super) unsafe fn weight_policy<D: Kind>(ctx: *const vrt::vrt_ctx, object: *mut Object<D>, policy: WeightPolicy) {
    // SAFETY: as the caller promises.
    let Some((ctx, object)) = (unsafe { method(ctx, object) }) else { return };
    let name = object.name();
    if let Some(fault) = policy.fault() {
        return ctx.fail(&error::bad_policy(name, &policy, fault));
    }
    match D::NO_SLOW_START {
        Some(why) if policy.slow_start > 0.0 => ctx.fail(&error::no_slow_start(name, why)),
        _ if !object.kind.weighing().set_policy(policy) => ctx.fail(&error::policy_is_set(name)),
        _ => {}
    }
}

/// The entry points for weights, which all directors have, with the names that the function table wants; for where `entry`
/// and `vrt` are in scope. To VCL an object is a pointer to an opaque structure, `$opaque`.
macro_rules! weight_entry_points {
    ($kind:ty, $opaque:ident) => {
        pub(super) unsafe extern "C" fn set_weight(
            ctx: *const vrt::vrt_ctx,
            object: *mut vrt::$opaque,
            backend: vrt::VCL_BACKEND,
            weight: vrt::VCL_REAL,
        ) {
            // SAFETY: VCL keeps the contract of this function.
            unsafe { entry::set_weight::<$kind>(ctx, object.cast(), backend, weight) }
        }

        pub(super) unsafe extern "C" fn weight_policy(
            ctx: *const vrt::vrt_ctx,
            object: *mut vrt::$opaque,
            smoothing: vrt::VCL_REAL,
            ttl: vrt::VCL_DURATION,
            slow_start: vrt::VCL_DURATION,
            min: vrt::VCL_REAL,
            max: vrt::VCL_REAL,
            hysteresis: vrt::VCL_REAL,
        ) {
            let policy = policy::reported::WeightPolicy { smoothing, ttl, slow_start, min, max, hysteresis };
            // SAFETY: VCL keeps the contract of this function.
            unsafe { entry::weight_policy::<$kind>(ctx, object.cast(), policy) }
        }

        pub(super) unsafe extern "C" fn weight(
            ctx: *const vrt::vrt_ctx,
            object: *mut vrt::$opaque,
            backend: vrt::VCL_BACKEND,
        ) -> vrt::VCL_REAL {
            // SAFETY: VCL keeps the contract of this function.
            unsafe { entry::weight::<$kind>(ctx, object.cast(), backend) }
        }
    };
}
pub(super) use weight_entry_points;
