//! The VCL objects `shard` and `shard_param`.
//!
//! | module | what |
//! |---|---|
//! | [`members`] | members, weights and the ring: one immutable state |
//! | [`change`] | changes of members, noted down until the end of the task or `reconfigure` |
//! | [`defaults`] | what methods set for all picks |
//! | [`params`] | the parameters of a pick, and where they come from |
//! | [`pick`] | a pick: health, ramp-up and warm-up |
//! | [`list`] | `backend.list` |

pub mod change;
pub mod defaults;
pub mod list;
pub mod members;
pub mod params;
pub mod pick;

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;

use crate::error::shard as texts;
use crate::ffi::snapshot::Snapshot;
use crate::ffi::{Backend, Ctx, Kind, Member, Statistics, Task, Vsb};
use crate::list::Form;
use crate::vdir::{self, Health};
use crate::weighing::Weighing;
use change::Changes;
use defaults::Defaults;
use members::State;
use params::{Given, ParamSet, Params, Source, TaskParams};

/// What `.debug()` turns on.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Debug {
    /// Keys that are looked up.
    Lookup = 1,
    /// The ring, when it changes.
    Ring = 2,
    /// Ramp-up and warm-up.
    Rampup = 4,
}

/// A director that picks by a key.
pub struct Shard(Arc<Core>);

/// What a director is. Shared with the changes that a task has noted down, which may end after the VCL object.
pub struct Core {
    name: CString,
    /// Members, weights and the ring. Lock-free for readers; writers take turns, and call nobody meanwhile.
    state: Snapshot<State>,
    /// How reports become weights.
    weighing: Weighing,
    /// What is shown of the members.
    statistics: Statistics,
    /// What methods set.
    defaults: Defaults,
    /// Whether a task may have kept parameters. Tasks see what they set themselves, in whatever thread they go on.
    keeps: AtomicBool,
    /// Bits of [`enum@Debug`]. Nothing depends on the order in which threads see them.
    debug: AtomicU32,
}

impl Core {
    #[inline]
    fn debug(&self, what: Debug) -> bool {
        self.debug.load(Ordering::Relaxed) & what as u32 != 0
    }
}

impl Shard {
    /// The director of that name.
    #[must_use]
    pub fn new(name: &CStr) -> Self {
        Shard(Arc::new(Core {
            name: name.to_owned(),
            state: Snapshot::new(State::default()),
            weighing: Weighing::default(),
            statistics: Statistics::default(),
            defaults: Defaults::default(),
            keeps: AtomicBool::new(false),
            debug: AtomicU32::new(0),
        }))
    }

    /// By this, tasks know their parameters of this director.
    fn params_key(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    /// By this, tasks know their changes of this director. An address within the same allocation, hence unique.
    fn changes_key(&self) -> *const () {
        self.params_key().wrapping_byte_add(1)
    }

    /// `.set_warmup()`
    pub fn set_warmup(&self, ctx: &Ctx<'_>, probability: f64) {
        if (0.0..1.0).contains(&probability) {
            self.0.defaults.set_warmup(probability);
        } else {
            ctx.log_notice(&texts::warmup_ignored(&self.0.name, probability));
        }
    }

    /// `.set_rampup()`
    pub fn set_rampup(&self, ctx: &Ctx<'_>, duration: f64) {
        if duration.is_finite() && duration >= 0.0 {
            self.0.defaults.set_rampup(duration);
        } else {
            ctx.log_error(&texts::bad_rampup(&self.0.name, duration));
        }
    }

    /// `.associate()`
    pub fn associate(&self, param: Option<Arc<ParamSet>>) {
        self.0.defaults.set_param(param);
    }

    /// `.debug()`
    pub fn set_debug(&self, bits: u32) {
        self.0.debug.store(bits, Ordering::Relaxed);
    }

    /// The changes that this task has noted down, of which there may be none. `None` is a VCL failure.
    pub fn changes<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a Changes> {
        let changes = Changes::of_task(ctx, self.changes_key(), &self.0);
        if changes.is_none() {
            ctx.fail(&texts::no_task(&self.0.name));
        }
        changes
    }

    /// `.reconfigure()`
    pub fn reconfigure(&self, ctx: &Ctx<'_>, replicas: i64) -> bool {
        match u32::try_from(replicas) {
            Ok(replicas) if replicas > 0 => self.changes(ctx).is_some_and(|c| c.apply(ctx, replicas)),
            // More than there can be points
            _ if replicas > 0 => self.changes(ctx).is_some_and(|c| c.apply(ctx, u32::MAX)),
            _ => {
                ctx.log_error(&texts::bad_replicas(&self.0.name, replicas));
                false
            }
        }
    }

    /// `.backend(resolve=LAZY)` with parameters: keeps them for this task. `false` is a VCL failure.
    pub fn keep(&self, ctx: &Ctx<'_>, given: Given, param: Option<Arc<ParamSet>>) -> bool {
        if !self.0.keeps.load(Ordering::Relaxed) {
            self.0.keeps.store(true, Ordering::Relaxed);
        }
        let source = || self.0.defaults.with_param(Arc::clone).map_or(Source::Builtin, Source::InTask);
        let kept = TaskParams::of_task(ctx, self.params_key(), source);
        match kept {
            Some(task) => task.set(given, param),
            None => ctx.fail(&texts::no_task(&self.0.name)),
        }
        kept.is_some()
    }

    /// `.backend(resolve=NOW)`: picks with parameters that leave no trace.
    #[inline]
    pub fn pick_now<R>(
        &self,
        ctx: &Ctx<'_>,
        given: Given,
        param: Option<&ParamSet>,
        then: impl FnMut(&Member) -> Option<R>,
    ) -> Option<R> {
        let defaults = match param {
            Some(set) => Some(set.in_vcl()),
            None => self.task_params(ctx),
        };
        let params = match defaults {
            Some(defaults) => given.or(&defaults).resolve(),
            None => given.resolve(),
        };
        self.pick_with(ctx, &params, then)
    }

    /// What the task has kept for this director or for the set that is associated with it, or else the set itself.
    #[inline]
    fn task_params(&self, ctx: &Ctx<'_>) -> Option<Given> {
        // Most directors have no set, and have never kept anything: their picks are not to pay for a look
        if self.0.keeps.load(Ordering::Relaxed) || self.0.defaults.has_param() {
            return self.find_task_params(ctx);
        }
        None
    }

    #[inline(never)]
    fn find_task_params(&self, ctx: &Ctx<'_>) -> Option<Given> {
        match TaskParams::if_any(ctx, self.params_key()) {
            Some(task) => Some(task.get(ctx)),
            None => self.0.defaults.with_param(|set| set.in_task(ctx)),
        }
    }

    /// The parameters where the server asks, rather than VCL.
    fn lazy_params(&self, ctx: &Ctx<'_>) -> Option<Given> {
        if matches!(ctx.task(), Task::None | Task::Backend) {
            return self.task_params(ctx);
        }
        self.0.defaults.with_param(|set| set.in_vcl())
    }

    #[inline]
    fn pick_with<R>(&self, ctx: &Ctx<'_>, params: &Params, then: impl FnMut(&Member) -> Option<R>) -> Option<R> {
        match params.key(ctx) {
            Some(key) => self.0.pick(ctx, key, params, then),
            None => {
                ctx.fail(&texts::no_request(&self.0.name, params.by));
                None
            }
        }
    }
}

impl Kind for Shard {
    const TYPE: &'static CStr = c"shard";
    const NO_SLOW_START: Option<&'static str> = Some("a shard director has set_rampup()");

    fn weighing(&self) -> &Weighing {
        &self.0.weighing
    }

    fn statistics(&self) -> &Statistics {
        &self.0.statistics
    }

    fn with_members(&self, then: impl FnOnce(&[&Member])) {
        self.0.with_members(then);
    }

    /// What the task has noted down to be added gets the weight as well.
    fn set_weight(&self, ctx: &Ctx<'_>, backend: Backend<'_>, weight: f64) -> vdir::Changes {
        if let Some(changes) = Changes::if_any(ctx, self.changes_key()) {
            changes.set_weight(backend, weight, ctx.now());
        }
        self.0.set_weight(backend, weight, ctx.now())
    }

    fn refuse(&self, ctx: &Ctx<'_>, backend: Backend<'_>) {
        if let Some(changes) = Changes::if_any(ctx, self.changes_key()) {
            changes.refuse(backend);
        }
        self.0.refuse(backend);
    }

    fn expire(&self, now: f64) -> vdir::Changes {
        self.0.expire(now)
    }

    fn weight(&self, ctx: &Ctx<'_>, backend: Backend<'_>) -> f64 {
        let noted = || Changes::if_any(ctx, self.changes_key()).and_then(|c| c.weight(backend));
        self.0.weight(backend).or_else(noted).unwrap_or(0.0)
    }

    fn health(&self, ctx: &Ctx<'_>) -> Health {
        self.0.health(ctx)
    }

    fn pick<R>(&self, ctx: &Ctx<'_>, then: impl FnMut(&Member) -> Option<R>) -> Option<R> {
        self.pick_with(ctx, &self.lazy_params(ctx).unwrap_or_default().resolve(), then)
    }

    fn list(&self, ctx: &Ctx<'_>, form: Form, out: &mut Vsb<'_>) -> f64 {
        list::write(ctx, &self.0, form, out)
    }

    fn release(&self) {
        self.0.release();
    }
}
