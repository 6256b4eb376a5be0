//! The parameters of a pick, and where they come from.
//!
//! Each place says only some of them; what it does not say comes from the next one:
//!
//! ```text
//! .backend(resolve=NOW, ...) ──┐
//!                              ├─> parameters of the task for the director ─┐
//! .backend(resolve=LAZY, ...) ─┘      (kept by resolve=LAZY, if it was)     │
//!         │ param=                                                          │ .associate()
//!         v                                                                 v
//! a shard_param, as set for this VCL <── that shard_param, as set for the task
//!         │
//!         v
//! built-in defaults
//! ```
//!
//! Nothing is resolved before the pick, so that all of them can change independently until then.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::sync::Arc;

use policy::ring;
use policy::shard::Healthy;

use crate::error::shard as texts;
use crate::ffi::snapshot::Snapshot;
use crate::ffi::task::{self, TaskValue};
use crate::ffi::{Ctx, Task};

/// What the key is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// HASH
    Hash,
    /// URL
    Url,
    /// KEY
    Number,
    /// BLOB
    Blob,
}

/// What the key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The hash of the object, or of the URL.
    Hash,
    /// The hash of the URL.
    Url,
    /// This number.
    Key(u32),
    /// This number, the first bytes of a blob.
    Blob(u32),
}

impl By {
    /// The word in VCL.
    #[must_use]
    pub fn word(self) -> &'static CStr {
        match self {
            By::Hash => c"HASH",
            By::Url => c"URL",
            By::Key(_) => c"KEY",
            By::Blob(_) => c"BLOB",
        }
    }
}

/// The word in VCL.
#[must_use]
pub fn healthy_word(healthy: Healthy) -> &'static CStr {
    match healthy {
        Healthy::Chosen => c"CHOSEN",
        Healthy::Ignore => c"IGNORE",
        Healthy::All => c"ALL",
    }
}

/// What one place says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Given {
    by: Option<By>,
    alt: Option<usize>,
    warmup: Option<f64>,
    rampup: Option<bool>,
    healthy: Option<Healthy>,
}

impl Given {
    /// With what is not given from another place.
    #[inline]
    #[must_use]
    pub fn or(self, next: &Given) -> Given {
        Given {
            by: self.by.or(next.by),
            alt: self.alt.or(next.alt),
            warmup: self.warmup.or(next.warmup),
            rampup: self.rampup.or(next.rampup),
            healthy: self.healthy.or(next.healthy),
        }
    }

    /// With built-in defaults.
    #[inline]
    #[must_use]
    pub fn resolve(self) -> Params {
        Params {
            by: self.by.unwrap_or(By::Hash),
            alt: self.alt.unwrap_or(0),
            warmup: self.warmup,
            rampup: self.rampup.unwrap_or(true),
            healthy: self.healthy.unwrap_or_default(),
        }
    }
}

/// All parameters.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// What the key is.
    pub by: By,
    /// Which alternative.
    pub alt: usize,
    /// The part of the requests for the first alternative. `None`: what the director says.
    pub warmup: Option<f64>,
    /// Whether there is ramp-up.
    pub rampup: bool,
    /// Which sick members are passed over.
    pub healthy: Healthy,
}

impl Params {
    /// The key. `None` if there is no request to take it from.
    #[inline]
    pub fn key(&self, ctx: &Ctx<'_>) -> Option<u32> {
        match self.by {
            By::Key(key) | By::Blob(key) => Some(key),
            By::Hash => ctx.hash().or_else(|| url_key(ctx)),
            By::Url => url_key(ctx),
        }
    }
}

fn url_key(ctx: &Ctx<'_>) -> Option<u32> {
    ctx.url().map(|url| ring::key([url]))
}

/// The arguments of a method, as VCL gives them: `None` for one that it does not give.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arguments<'a> {
    /// HASH, URL, KEY or BLOB.
    pub by: Option<Key>,
    /// For KEY.
    pub key: Option<i64>,
    /// For BLOB. May be given and have no bytes.
    pub key_blob: Option<&'a [u8]>,
    /// Which alternative.
    pub alt: Option<i64>,
    /// The part of the requests for the first alternative.
    pub warmup: Option<f64>,
    /// Whether there is ramp-up.
    pub rampup: Option<bool>,
    /// CHOSEN, IGNORE or ALL.
    pub healthy: Option<Healthy>,
}

impl Arguments<'_> {
    /// Whether none is given.
    #[inline]
    #[must_use]
    pub fn are_none(&self) -> bool {
        *self == Arguments::default()
    }

    /// Checks them. `whose` gives the name of the object, and `method` is that of the method, for texts. `None` is a VCL
    /// failure. A missing blob is only logged.
    #[inline]
    pub fn check<'n>(&self, ctx: &Ctx<'_>, whose: impl Fn() -> &'n CStr, method: &str) -> Option<Given> {
        // Not a Result: a pick has what is given in registers, and would have to put it into memory for one
        let fail = |text| {
            ctx.fail(&text);
            None
        };
        let by = match self.by.unwrap_or(Key::Hash) {
            Key::Number => {
                let Some(key) = self.key else { return fail(texts::missing(whose(), method, "key", "KEY")) };
                let Ok(number) = u32::try_from(key) else { return fail(texts::invalid_key(whose(), method, key)) };
                By::Key(number)
            }
            Key::Blob => {
                let Some(bytes) = self.key_blob else {
                    return fail(texts::missing(whose(), method, "key_blob", "BLOB"));
                };
                if bytes.is_empty() {
                    ctx.log_error(&texts::no_blob(whose(), method));
                }
                By::Blob(blob_key(bytes))
            }
            url_or_hash => {
                let by = if url_or_hash == Key::Url { By::Url } else { By::Hash };
                if self.key.is_some() || self.key_blob.is_some() {
                    return fail(texts::needless_key(whose(), method, by.word()));
                }
                by
            }
        };
        let mut alt = None;
        if let Some(given) = self.alt {
            let Ok(number) = usize::try_from(given) else { return fail(texts::invalid_alt(whose(), method, given)) };
            alt = Some(number);
        }
        match self.warmup {
            None => {}
            Some(warmup) if warmup == -1.0 || (0.0..=1.0).contains(&warmup) => {}
            Some(warmup) => return fail(texts::invalid_warmup(whose(), method, warmup)),
        }
        Some(Given { by: self.by.map(|_| by), alt, warmup: self.warmup, rampup: self.rampup, healthy: self.healthy })
    }
}

/// The first four bytes, big-endian, with zeros in front of fewer.
fn blob_key(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |key, byte| key << 8 | u32::from(*byte))
}

/// The VCL object `shard_param`.
pub struct ParamSet {
    name: CString,
    /// For the whole VCL. Lock-free for readers; written by `vcl_init` and `vcl_fini` only.
    given: Snapshot<Given>,
}

/// What was set for a task.
struct TaskSet(Cell<Given>);

impl TaskValue for TaskSet {
    const TYPE: &'static CStr = c"vmod_probe_directors_shard_param";
}

impl ParamSet {
    /// The object of that name.
    #[must_use]
    pub fn new(name: &CStr) -> Self {
        ParamSet { name: name.to_owned(), given: Snapshot::new(Given::default()) }
    }

    fn key(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }

    /// As set for this VCL.
    pub(super) fn in_vcl(&self) -> Given {
        *self.given.load()
    }

    /// As set for this task, and for this VCL where it is not.
    pub(super) fn in_task(&self, ctx: &Ctx<'_>) -> Given {
        let own = task::get::<TaskSet>(ctx, self.key()).map_or(Given::default(), |set| set.0.get());
        own.or(&self.in_vcl())
    }

    /// `.set()`
    pub fn set(&self, ctx: &Ctx<'_>, arguments: &Arguments<'_>) {
        const METHOD: &str = "shard_param.set()";
        if self.may_be_set(ctx, METHOD) {
            if let Some(given) = arguments.check(ctx, || &self.name, METHOD) {
                self.replace(ctx, given);
            }
        }
    }

    /// `.clear()`
    pub fn clear(&self, ctx: &Ctx<'_>) {
        if self.may_be_set(ctx, "shard_param.clear()") {
            self.replace(ctx, Given::default());
        }
    }

    /// A VCL failure if not.
    fn may_be_set(&self, ctx: &Ctx<'_>, method: &str) -> bool {
        let may = matches!(ctx.task(), Task::Housekeeping | Task::Backend);
        if !may {
            ctx.fail(&texts::wrong_context(&self.name, method));
        }
        may
    }

    fn replace(&self, ctx: &Ctx<'_>, given: Given) {
        if ctx.task() == Task::Housekeeping {
            self.given.write().publish(given);
            return;
        }
        match task::get_or_make(ctx, self.key(), || TaskSet(Cell::default())) {
            Some(set) => set.0.set(given),
            None => ctx.fail(&texts::no_task(&self.name)),
        }
    }

    /// What a director would use.
    pub fn params(&self, ctx: &Ctx<'_>) -> Params {
        let in_task = matches!(ctx.task(), Task::None | Task::Backend);
        if in_task { self.in_task(ctx) } else { self.in_vcl() }.resolve()
    }

    /// `.get_key()`
    pub fn key_now(&self, ctx: &Ctx<'_>) -> u32 {
        let params = self.params(ctx);
        params.key(ctx).unwrap_or_else(|| {
            ctx.fail(&texts::no_request(&self.name, params.by));
            0
        })
    }
}

/// Where parameters come from that a task has not kept for a director.
pub(super) enum Source {
    Builtin,
    /// The set of the director.
    InTask(Arc<ParamSet>),
    /// The set that was given to `backend()`. Stock takes it as it is in VCL.
    InVcl(Arc<ParamSet>),
}

/// What a task has kept for a director.
pub(super) struct TaskParams {
    given: Cell<Given>,
    source: RefCell<Source>,
}

impl TaskValue for TaskParams {
    const TYPE: &'static CStr = c"vmod_probe_directors_shard";
}

impl TaskParams {
    pub(super) fn of_task<'a>(ctx: &Ctx<'a>, key: *const (), source: impl FnOnce() -> Source) -> Option<&'a Self> {
        task::get_or_make(ctx, key, || TaskParams { given: Cell::default(), source: RefCell::new(source()) })
    }

    pub(super) fn if_any<'a>(ctx: &Ctx<'a>, key: *const ()) -> Option<&'a Self> {
        task::get(ctx, key)
    }

    pub(super) fn set(&self, given: Given, param: Option<Arc<ParamSet>>) {
        self.given.set(given);
        if let Some(set) = param {
            self.source.replace(Source::InVcl(set));
        }
    }

    pub(super) fn get(&self, ctx: &Ctx<'_>) -> Given {
        let next = match &*self.source.borrow() {
            Source::Builtin => Given::default(),
            Source::InTask(set) => set.in_task(ctx),
            Source::InVcl(set) => set.in_vcl(),
        };
        self.given.get().or(&next)
    }
}

#[cfg(test)]
mod tests {
    use super::{blob_key, By, Given};

    #[test]
    fn keys_from_blobs() {
        assert_eq!(blob_key(b""), 0);
        assert_eq!(blob_key(b"\x01"), 1);
        assert_eq!(blob_key(b"\x01\x02\x03"), 0x0001_0203);
        assert_eq!(blob_key(b"\xff\x02\x03\x04\x05"), 0xff02_0304);
    }

    #[test]
    fn the_nearest_place_counts() {
        let near = Given { by: Some(By::Url), alt: None, ..Given::default() };
        let far = Given { by: Some(By::Key(7)), alt: Some(3), ..Given::default() };
        let both = near.or(&far).resolve();
        assert_eq!((both.by, both.alt, both.warmup, both.rampup), (By::Url, 3, None, true));
    }
}
