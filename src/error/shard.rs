//! The texts of shard directors. Those of the bundled directors, where those are right, as people look for them.

use std::ffi::CStr;

use super::Text;
use crate::shard::params::By;

/// `vmod_probe_directors: shard NAME: WHAT`
fn shard(name: &CStr, what: impl AsRef<[u8]>) -> Text {
    Text::new([b"vmod_probe_directors: shard ", name.to_bytes(), b": ", what.as_ref()].concat())
}

fn debug(what: &str) -> Text {
    Text::new([b"vmod_probe_directors: shard: ", what.as_bytes()].concat())
}

/// `add_backend` of the None backend.
#[must_use]
pub fn none_added(name: &CStr) -> Text {
    shard(name, "None backend cannot be added")
}

/// `add_backend` of the director itself.
#[must_use]
pub fn added_to_itself(name: &CStr) -> Text {
    shard(name, "a director cannot be added to itself")
}

/// `add_backend` with a weight that it does not take.
#[must_use]
pub fn weight_ignored(name: &CStr, weight: f64) -> Text {
    shard(name, format!(".add_backend(weight={weight:.6}) ignored"))
}

/// `add_backend` with a ramp-up time that is none.
#[must_use]
pub fn rampup_ignored(name: &CStr, rampup: f64) -> Text {
    shard(name, format!(".add_backend(rampup={rampup:.3}s) must be a duration that is not negative, taken as 0"))
}

/// `remove_backend` of nothing.
#[must_use]
pub fn nothing_to_remove(name: &CStr) -> Text {
    shard(name, ".remove_backend(): either backend or ident are required")
}

/// `set_warmup` of what is no probability.
#[must_use]
pub fn warmup_ignored(name: &CStr, probability: f64) -> Text {
    shard(name, format!(".set_warmup({probability:.6}) ignored"))
}

/// `set_rampup` of a duration that is none.
#[must_use]
pub fn bad_rampup(name: &CStr, duration: f64) -> Text {
    shard(name, format!(".set_rampup({duration:.3}s) must be a duration that is not negative, ignored"))
}

/// `associate` with a blob of another kind.
#[must_use]
pub fn bad_associate(name: &CStr) -> Text {
    shard(name, "shard .associate param invalid")
}

/// `backend` with a *param* of another kind. That the text names another argument is as it was.
#[must_use]
pub fn bad_param(name: &CStr) -> Text {
    shard(name, ".backend(key_blob) param invalid")
}

/// `reconfigure` with a number of replicas that is none.
#[must_use]
pub fn bad_replicas(name: &CStr, replicas: i64) -> Text {
    shard(name, format!(".reconfigure() invalid replicas argument {replicas}"))
}

/// After all changes, no backend is left.
#[must_use]
pub fn reconfigured_to_nothing(name: &CStr) -> Text {
    shard(name, ".reconfigure() no backends")
}

/// A backend is added under an ident that is there already.
#[must_use]
pub fn already_there(name: &CStr, backend: &CStr, ident: Option<&CStr>) -> Text {
    let (slash, ident): (&[u8], &[u8]) = ident.map_or((b"", b""), |ident| (b"/", ident.to_bytes()));
    shard(name, [b"backend ", backend.to_bytes(), slash, ident, b" already exists - skipping"].concat())
}

/// There is nowhere to keep what belongs to the task.
#[must_use]
pub fn no_task(name: &CStr) -> Text {
    shard(name, "no priv_task")
}

/// A pick from a director without members.
#[must_use]
pub fn no_backends(name: &CStr) -> Text {
    shard(name, "no backends")
}

/// An alternative beyond the last one.
#[must_use]
pub fn alt_limited(name: &CStr, alt: usize, most: usize) -> Text {
    shard(name, format!("parameter alt={alt} limited to {most}"))
}

/// A key is to be taken from a request where there is none.
#[must_use]
pub fn no_request(name: &CStr, by: By) -> Text {
    let by = by.word().to_string_lossy();
    shard(name, format!("by={by} cannot be used outside of client and backend context"))
}

/// `backend(resolve=LAZY)` with parameters, too early.
#[must_use]
pub fn lazy_with_parameters(name: &CStr) -> Text {
    shard(name, ".backend(resolve=LAZY) with other parameters can only be used in backend/pipe context")
}

/// `backend(resolve=NOW)`, too early.
#[must_use]
pub fn now_in_housekeeping(name: &CStr) -> Text {
    shard(name, ".backend(resolve=NOW) cannot be used in vcl_init{}/vcl_fini{}")
}

/// A parameter set is changed where it cannot be.
#[must_use]
pub fn wrong_context(name: &CStr, method: &str) -> Text {
    shard(name, format!("{method} may only be used in vcl_init and in backend/pipe context"))
}

/// The argument that `by` needs is not there.
#[must_use]
pub fn missing(name: &CStr, method: &str, argument: &str, by: &str) -> Text {
    shard(name, format!("{method} missing {argument} argument with by={by}"))
}

/// A key that is not 32 bits.
#[must_use]
pub fn invalid_key(name: &CStr, method: &str, key: i64) -> Text {
    shard(name, format!("{method} invalid key argument {key} with by=KEY"))
}

/// A blob without bytes.
#[must_use]
pub fn no_blob(name: &CStr, method: &str) -> Text {
    shard(name, format!("{method} by=BLOB but no or empty key_blob - using key 0"))
}

/// A key, where it is to be taken from the request.
#[must_use]
pub fn needless_key(name: &CStr, method: &str, by: &CStr) -> Text {
    let by = by.to_string_lossy();
    shard(name, format!("{method} key and key_blob arguments are invalid with by={by}"))
}

/// A negative number of an alternative.
#[must_use]
pub fn invalid_alt(name: &CStr, method: &str, alt: i64) -> Text {
    shard(name, format!("{method} invalid alt argument {alt}"))
}

/// A warm-up that is neither -1 nor a part.
#[must_use]
pub fn invalid_warmup(name: &CStr, method: &str, warmup: f64) -> Text {
    shard(name, format!("{method} invalid warmup argument {warmup:.6}"))
}

/// For `debug`: a point of the ring.
#[must_use]
pub fn debug_point(at: usize, point: u32, host: u32) -> Text {
    debug(&format!("hashcircle[{at:5}] = {{point = {point:8x}, host = {host:2}}}"))
}

/// For `debug`: where a key is.
#[must_use]
pub fn debug_lookup(key: u32, at: usize, host: usize) -> Text {
    debug(&format!("lookup key {key:x} idx {at} host {host}"))
}

/// For `debug`: one of the two candidates, `chosen` or `alt`.
#[must_use]
pub fn debug_rampup(which: &str, host: usize, rampup: f64, age: f64) -> Text {
    debug(&format!("{which} host {host} rampup {rampup:.6} changed {age:.6}"))
}
