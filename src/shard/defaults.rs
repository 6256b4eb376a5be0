//! What picks get that is not said otherwise.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::Arc;

use super::params::ParamSet;
use crate::ffi::snapshot::Snapshot;

/// What methods of a director set. Each is by itself, and a pick that begins meanwhile goes by the old one or the new one.
pub struct Defaults {
    /// The bits of an `f64`.
    warmup: AtomicU64,
    /// The bits of an `f64`, in seconds.
    rampup: AtomicU64,
    param: Snapshot<Option<Arc<ParamSet>>>,
    /// Whether there is one: most directors have none, and are not to pay for a look at it.
    has_param: AtomicBool,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults {
            warmup: AtomicU64::new(0.0_f64.to_bits()),
            rampup: AtomicU64::new(0.0_f64.to_bits()),
            param: Snapshot::new(None),
            has_param: AtomicBool::new(false),
        }
    }
}

impl Defaults {
    /// The probability of a warm-up.
    pub fn warmup(&self) -> f64 {
        f64::from_bits(self.warmup.load(Relaxed))
    }

    /// Of members that do not say, in seconds.
    pub fn rampup(&self) -> f64 {
        f64::from_bits(self.rampup.load(Relaxed))
    }

    /// Whether a parameter set is associated.
    #[inline]
    pub fn has_param(&self) -> bool {
        // Acquire: who sees that there is one finds it
        self.has_param.load(Acquire)
    }

    /// Calls `then` with the parameter set that is associated, if there is one.
    pub fn with_param<R>(&self, then: impl FnOnce(&Arc<ParamSet>) -> R) -> Option<R> {
        self.has_param().then(|| self.param.load().as_ref().map(then)).flatten()
    }

    pub(super) fn set_warmup(&self, probability: f64) {
        self.warmup.store(probability.to_bits(), Relaxed);
    }

    pub(super) fn set_rampup(&self, duration: f64) {
        self.rampup.store(duration.to_bits(), Relaxed);
    }

    pub(super) fn set_param(&self, param: Option<Arc<ParamSet>>) {
        let is_one = param.is_some();
        self.param.write().publish(param);
        self.has_param.store(is_one, Release);
    }
}
