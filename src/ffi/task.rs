//! Values that live as long as a task of VCL: a request of a client, one to a backend, `vcl_init`, a probe.
//!
//! A task runs on one thread at a time, so that what is stored here needs no lock. Nobody has it exclusively: values
//! are shared, and change through cells.

use std::ffi::{c_void, CStr};

use super::ctx::Ctx;
use super::vrt;

/// A type of values that tasks can have.
pub trait TaskValue: Sized + 'static {
    /// A name that no other such type has.
    const TYPE: &'static CStr;

    /// What is done at the end of the task.
    fn finish(self, _ctx: &Ctx<'_>) {}
}

/// How the server gets rid of a value.
struct Methods<T>(std::marker::PhantomData<T>);

impl<T: TaskValue> Methods<T> {
    const STATIC: &'static vrt::vmod_priv_methods =
        &vrt::vmod_priv_methods { magic: vrt::VMOD_PRIV_METHODS_MAGIC, type_: T::TYPE.as_ptr(), fini: Some(fini::<T>) };
}

/// The value that this task has for `key`, an address of our own, if it has one.
pub fn get<'a, T: TaskValue>(ctx: &Ctx<'a>, key: *const ()) -> Option<&'a T> {
    // SAFETY: the context is valid, and the server only compares the key.
    let slot = unsafe { vrt::VRT_priv_task_get(ctx.as_raw(), key.cast()) };
    // SAFETY: null, or the server's until the end of the task; nobody has a reference to it beyond a call.
    value(unsafe { slot.as_ref() }?)
}

/// The value that this task has for `key`, made if it has none. `None` if it cannot have one.
pub fn get_or_make<'a, T: TaskValue>(ctx: &Ctx<'a>, key: *const (), make: impl FnOnce() -> T) -> Option<&'a T> {
    // SAFETY: the context is valid, and the server only compares the key.
    let slot = unsafe { vrt::VRT_priv_task(ctx.as_raw(), key.cast()) };
    // SAFETY: null, or the server's until the end of the task; nobody has a reference to it beyond a call, and `make`
    // is called before it is used.
    let slot = unsafe { slot.as_mut() }?;
    if slot.priv_.is_null() {
        slot.priv_ = Box::into_raw(Box::new(make())).cast();
        slot.methods = Methods::<T>::STATIC;
    }
    value(slot)
}

fn value<'a, T: TaskValue>(slot: &vrt::vmod_priv) -> Option<&'a T> {
    if slot.priv_.is_null() {
        return None;
    }
    // SAFETY: null, or static, as whoever sets it has to see to.
    let methods = unsafe { slot.methods.as_ref() };
    // SAFETY: the name of a type is a C string.
    let same_type = methods.is_some_and(|m| unsafe { CStr::from_ptr(m.type_) } == T::TYPE);
    assert!(same_type, "a value of another type");
    // SAFETY: made by `get_or_make` with this type, whose name no other type has; it is freed in `fini`, after all
    // calls of the task.
    unsafe { slot.priv_.cast::<T>().as_ref() }
}

unsafe extern "C" fn fini<T: TaskValue>(ctx: *const vrt::vrt_ctx, value: *mut c_void) {
    // SAFETY: the server calls this once, at the end of the task, with a value that `get_or_make` made.
    let (ctx, value) = unsafe { (Ctx::from_raw(ctx), Box::from_raw(value.cast::<T>())) };
    value.finish(&ctx);
}
