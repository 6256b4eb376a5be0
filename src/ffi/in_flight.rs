//! Requests in flight: how many tasks have picked a member and are not done with it.
//!
//! The server tells a VMOD when a request to a backend is over by freeing what the VMOD has kept with its task. So a pick
//! keeps a token there. A request that is sent again picks again, and the new token takes the place of the old one.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

use super::ctx::Ctx;
use super::task::{self, TaskValue};

/// A number of requests. Nothing else depends on the order in which threads see it change.
#[derive(Clone, Default)]
pub struct InFlight(Arc<AtomicU64>);

impl InFlight {
    /// How many there are now.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// One of them, for as long as it is kept.
struct Token(InFlight);

impl Token {
    fn new(of: &InFlight) -> Self {
        of.0.fetch_add(1, Relaxed);
        Token(of.clone())
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0 .0.fetch_sub(1, Relaxed);
    }
}

/// The token of a task for one director.
#[derive(Default)]
struct Current(RefCell<Option<Token>>);

impl TaskValue for Current {
    const TYPE: &'static CStr = c"vmod_probe_directors_in_flight";
}

/// Counts this request to a backend for `of`, and no longer for what the same director has picked for it before. Does
/// nothing where there is no such request: `director` was only asked. The address is just the key.
pub fn begin(ctx: &Ctx<'_>, director: *const (), of: &InFlight) {
    if !ctx.has_backend_request() {
        return;
    }
    if let Some(current) = task::get_or_make(ctx, director, Current::default) {
        // The old one first, as it may be the same
        drop(current.0.take());
        current.0.replace(Some(Token::new(of)));
    }
}
