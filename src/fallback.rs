//! The VCL object `fallback`.

use std::ffi::CStr;

use policy::Fallback as Plan;

use crate::ffi::{Backend, Ctx, Director};
use crate::list::{Current, Weights};
use crate::vdir::{State, Vdir};

/// A director that takes the first healthy member.
pub struct Fallback {
    vdir: Vdir<Plan>,
    sticky: bool,
}

impl Fallback {
    /// A sticky one keeps the member that it has while that is healthy, also when one before it recovers.
    #[must_use]
    pub fn new(sticky: bool) -> Self {
        Fallback { vdir: Vdir::default(), sticky }
    }
}

impl Director for Fallback {
    type Plan = Plan;
    const TYPE: &'static CStr = c"fallback";
    const LISTED_WEIGHTS: Weights = Weights::Never;

    fn vdir(&self) -> &Vdir<Plan> {
        &self.vdir
    }

    fn pick<R>(&self, ctx: &Ctx<'_>, then: impl FnOnce(Backend<'_>) -> R) -> Option<R> {
        let state = self.vdir.state();
        let picked = state.plan.pick(self.sticky, &state.weights, |i| state.healthy(ctx, i))?;
        state.backend(picked).map(then)
    }

    fn current(&self, state: &State<Plan>) -> Option<Current> {
        Some(Current { place: state.plan.current(), sticky: self.sticky })
    }
}
