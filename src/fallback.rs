//! The VCL object `fallback`.

use std::ffi::CStr;

use policy::Fallback as Plan;

use crate::ffi::Director;
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
    const NO_SLOW_START: Option<&'static str> = Some("a fallback director has no shares");
    const LISTED_WEIGHTS: Weights = Weights::Never;

    fn vdir(&self) -> &Vdir<Plan> {
        &self.vdir
    }

    fn choose(&self, state: &State<Plan>, healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        state.plan.pick(self.sticky, &state.weights, healthy)
    }

    fn current(&self, state: &State<Plan>) -> Option<Current> {
        Some(Current { place: state.plan.current(), sticky: self.sticky })
    }
}
