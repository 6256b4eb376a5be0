//! The one symbol that the library exports, and the table of entry points behind it.
//!
//! Both are statics of Rust rather than the C that vmodtool writes: the linker hides C symbols in a Rust library, and
//! the table is checked against `vmod.vcc`, entry by entry.

use std::ffi::{c_char, c_int};
use std::mem::size_of_val;
use std::ptr;

use super::director::Object;
use super::{entry, enums, report, shard, shard_param, vrt};
use crate::fallback::Fallback;
use crate::hash::Hash;
use crate::least::Least;
use crate::random::Random;
use crate::round_robin::RoundRobin;

mod ids {
    include!(concat!(env!("OUT_DIR"), "/ids.rs"));
}

extern "C" {
    /// The description of the VMOD for the VCL compiler, which reads it from the file, without loading the library.
    static probe_directors_json: c_char;
}

/// The entry points of one kind of director, in a module of its name. To VCL an object is a pointer to an opaque
/// structure, `$opaque`. `$make` makes one from its name and the arguments of `init`, `$pick` is what `.backend()` does
/// with its own.
macro_rules! entry_points {
    (
        $module:ident, $kind:ty, $opaque:ident,
        init($($arg:ident: $type:ty),*) => $make:expr,
        backend($($key:ident: $key_type:ty),*) => $pick:path
    ) => {
        mod $module {
            use super::*;

            fn cast(object: *mut vrt::$opaque) -> *mut Object<$kind> {
                object.cast()
            }

            pub unsafe extern "C" fn init(
                ctx: *const vrt::vrt_ctx,
                place: *mut *mut vrt::$opaque,
                name: *const c_char,
                $($arg: $type,)*
            ) {
                // SAFETY: VCL keeps the contract of this function.
                unsafe { entry::init::<$kind>(ctx, place.cast(), name, $make) }
            }

            pub unsafe extern "C" fn fini(place: *mut *mut vrt::$opaque) {
                // SAFETY: VCL keeps the contract of this function.
                unsafe { entry::fini::<$kind>(place.cast()) }
            }

            pub unsafe extern "C" fn add_backend(
                ctx: *const vrt::vrt_ctx,
                object: *mut vrt::$opaque,
                backend: vrt::VCL_BACKEND,
                weight: vrt::VCL_REAL,
            ) {
                // SAFETY: VCL keeps the contract of this function.
                unsafe { entry::add_backend(ctx, cast(object), backend, weight) }
            }

            pub unsafe extern "C" fn remove_backend(
                ctx: *const vrt::vrt_ctx,
                object: *mut vrt::$opaque,
                backend: vrt::VCL_BACKEND,
            ) {
                // SAFETY: VCL keeps the contract of this function.
                unsafe { entry::remove_backend(ctx, cast(object), backend) }
            }

            pub unsafe extern "C" fn backend(
                ctx: *const vrt::vrt_ctx,
                object: *mut vrt::$opaque,
                $($key: $key_type,)*
            ) -> vrt::VCL_BACKEND {
                // SAFETY: VCL keeps the contract of this function.
                unsafe { $pick(ctx, cast(object), $($key),*) }
            }

            entry::weight_entry_points!($kind, $opaque);
        }
    };
}

entry_points!(
    round_robin, RoundRobin, vmod_probe_directors_round_robin,
    init() => |_| Ok(RoundRobin::default()), backend() => entry::backend
);
entry_points!(
    random, Random, vmod_probe_directors_random,
    init() => |_| Ok(Random::default()), backend() => entry::backend
);
entry_points!(
    fallback, Fallback, vmod_probe_directors_fallback,
    init(sticky: vrt::VCL_BOOL) => |_| Ok(Fallback::new(sticky != 0)), backend() => entry::backend
);
entry_points!(
    hash, Hash, vmod_probe_directors_hash,
    init() => |_| Ok(Hash::default()), backend(key: vrt::VCL_STRANDS) => entry::backend_by_key
);
entry_points!(
    least, Least, vmod_probe_directors_least,
    init(choices: vrt::VCL_INT) => |name| Least::new(name, choices), backend() => entry::backend
);

static FUNCTIONS: Functions = Functions(vrt::Vmod_vmod_probe_directors_Func {
    f_round_robin__init: Some(round_robin::init),
    f_round_robin__fini: Some(round_robin::fini),
    f_round_robin_add_backend: Some(round_robin::add_backend),
    f_round_robin_remove_backend: Some(round_robin::remove_backend),
    f_round_robin_backend: Some(round_robin::backend),
    f_round_robin_set_weight: Some(round_robin::set_weight),
    f_round_robin_weight: Some(round_robin::weight),
    f_round_robin_weight_policy: Some(round_robin::weight_policy),
    f_fallback__init: Some(fallback::init),
    f_fallback__fini: Some(fallback::fini),
    f_fallback_add_backend: Some(fallback::add_backend),
    f_fallback_remove_backend: Some(fallback::remove_backend),
    f_fallback_backend: Some(fallback::backend),
    f_fallback_set_weight: Some(fallback::set_weight),
    f_fallback_weight: Some(fallback::weight),
    f_fallback_weight_policy: Some(fallback::weight_policy),
    f_random__init: Some(random::init),
    f_random__fini: Some(random::fini),
    f_random_add_backend: Some(random::add_backend),
    f_random_remove_backend: Some(random::remove_backend),
    f_random_backend: Some(random::backend),
    f_random_set_weight: Some(random::set_weight),
    f_random_weight: Some(random::weight),
    f_random_weight_policy: Some(random::weight_policy),
    f_hash__init: Some(hash::init),
    f_hash__fini: Some(hash::fini),
    f_hash_add_backend: Some(hash::add_backend),
    f_hash_remove_backend: Some(hash::remove_backend),
    f_hash_backend: Some(hash::backend),
    f_hash_set_weight: Some(hash::set_weight),
    f_hash_weight: Some(hash::weight),
    f_hash_weight_policy: Some(hash::weight_policy),
    f_least__init: Some(least::init),
    f_least__fini: Some(least::fini),
    f_least_add_backend: Some(least::add_backend),
    f_least_remove_backend: Some(least::remove_backend),
    f_least_backend: Some(least::backend),
    f_least_set_weight: Some(least::set_weight),
    f_least_weight: Some(least::weight),
    f_least_weight_policy: Some(least::weight_policy),
    f_shard__init: Some(shard::init),
    f_shard__fini: Some(shard::fini),
    f_shard_set_warmup: Some(shard::set_warmup),
    f_shard_set_rampup: Some(shard::set_rampup),
    f_shard_associate: Some(shard::associate),
    f_shard_add_backend: Some(shard::add_backend),
    f_shard_remove_backend: Some(shard::remove_backend),
    f_shard_clear: Some(shard::clear),
    f_shard_reconfigure: Some(shard::reconfigure),
    f_shard_key: Some(shard::key),
    f_shard_backend: Some(shard::backend),
    f_shard_debug: Some(shard::debug),
    f_shard_set_weight: Some(shard::set_weight),
    f_shard_weight: Some(shard::weight),
    f_shard_weight_policy: Some(shard::weight_policy),
    f_shard_param__init: Some(shard_param::init),
    f_shard_param__fini: Some(shard_param::fini),
    f_shard_param_clear: Some(shard_param::clear),
    f_shard_param_set: Some(shard_param::set),
    f_shard_param_get_by: Some(shard_param::get_by),
    f_shard_param_get_key: Some(shard_param::get_key),
    f_shard_param_get_alt: Some(shard_param::get_alt),
    f_shard_param_get_warmup: Some(shard_param::get_warmup),
    f_shard_param_get_rampup: Some(shard_param::get_rampup),
    f_shard_param_get_healthy: Some(shard_param::get_healthy),
    f_shard_param_use: Some(shard_param::use_),
    f_lookup: Some(entry::lookup),
    f_orca: Some(report::orca),
    f_agent: Some(report::agent),
    f_from_load: Some(report::from_load),
    enum_ALL: enums::ALL.entry(),
    enum_BLOB: enums::BLOB.entry(),
    enum_CHOSEN: enums::CHOSEN.entry(),
    enum_HASH: enums::HASH.entry(),
    enum_IGNORE: enums::IGNORE.entry(),
    enum_KEY: enums::KEY.entry(),
    enum_LAZY: enums::LAZY.entry(),
    enum_NOW: enums::NOW.entry(),
    enum_URL: enums::URL.entry(),
});

#[repr(transparent)]
struct Functions(vrt::Vmod_vmod_probe_directors_Func);

// SAFETY: constant, and all that it points to is constant: nobody writes to the words of ENUMs.
unsafe impl Sync for Functions {}

/// What the server looks for in the library.
#[repr(transparent)]
pub struct Data(vrt::vmod_data);

// SAFETY: constant, and all that it points to is constant.
unsafe impl Sync for Data {}

/// What the server looks for in the library. `$ABI strict`: the version string decides, both numbers are 0.
#[allow(non_upper_case_globals)]
#[no_mangle]
pub static Vmod_probe_directors_Data: Data = Data(vrt::vmod_data {
    vrt_major: 0,
    vrt_minor: 0,
    file_id: ids::FILE_ID.as_ptr(),
    name: c"probe_directors".as_ptr(),
    func_name: c"Vmod_vmod_probe_directors_Func".as_ptr(),
    func: ptr::addr_of!(FUNCTIONS).cast(),
    func_len: size_of_val(&FUNCTIONS) as c_int,
    proto: ptr::null(),
    json: ptr::addr_of!(probe_directors_json),
    abi: vrt::VMOD_ABI_Version.as_ptr(),
    vcs: ids::VERSION.as_ptr(),
    version: ids::VERSION.as_ptr(),
});
