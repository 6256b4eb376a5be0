//! The VCL object `round_robin`.

use std::ffi::CStr;

use policy::RoundRobin as Plan;

use crate::ffi::{Backend, Ctx, Director};
use crate::list::Weights;
use crate::vdir::Vdir;

/// A director that takes its members in turn, in proportion to their weights.
#[derive(Default)]
pub struct RoundRobin {
    vdir: Vdir<Plan>,
}

impl Director for RoundRobin {
    type Plan = Plan;
    const TYPE: &'static CStr = c"round-robin";
    /// The bundled directors show none for a round robin. So are weights that nobody set.
    const LISTED_WEIGHTS: Weights = Weights::IfSet;

    fn vdir(&self) -> &Vdir<Plan> {
        &self.vdir
    }

    fn pick<R>(&self, ctx: &Ctx<'_>, then: impl FnOnce(Backend<'_>) -> R) -> Option<R> {
        let state = self.vdir.state();
        let picked = state.plan.pick(&state.weights, |i| state.healthy(ctx, i))?;
        state.backend(picked).map(then)
    }
}
