//! The VCL object `random`.

use std::ffi::CStr;

use policy::random::pick_exactly;
use policy::Random as Plan;

use crate::ffi::{draw, Director};
use crate::list::Weights;
use crate::vdir::{State, Vdir};

/// A director that draws a member, with a probability in proportion to its weight.
#[derive(Default)]
pub struct Random {
    vdir: Vdir<Plan>,
}

impl Director for Random {
    type Plan = Plan;
    const TYPE: &'static CStr = c"random";
    const LISTED_WEIGHTS: Weights = Weights::Always;

    fn vdir(&self) -> &Vdir<Plan> {
        &self.vdir
    }

    /// Where tests seed the draw, one draw decides, over the healthy members alone, as in the bundled directors.
    /// Elsewhere nobody can tell, and not all members have to be asked.
    fn choose(&self, state: &State<Plan>, healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        match draw::testable() {
            Some(r) => pick_exactly(&state.weights, r, healthy),
            None => state.plan.pick(&state.weights, draw::fast, healthy),
        }
    }
}
