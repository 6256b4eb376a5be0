//! The VCL object `round_robin`.

use std::ffi::CStr;

use policy::RoundRobin as Plan;

use crate::ffi::Director;
use crate::list::Weights;
use crate::vdir::{State, Vdir};

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

    fn choose(&self, state: &State<Plan>, healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        state.plan.pick(&state.weights, healthy)
    }
}
