//! The VCL object `hash`.

use std::ffi::CStr;

use policy::Hash as Plan;

use crate::ffi::{Ctx, Director, Keyed};
use crate::list::Weights;
use crate::vdir::{Health, State, Vdir};

/// A director that picks a member by a key, which VCL gives with each call.
///
/// So it picks when it is called, and what VCL gets is the member. The director itself is not to be had in VCL, but
/// for `lookup()` of its name; without a key it picks nothing.
#[derive(Default)]
pub struct Hash {
    vdir: Vdir<Plan>,
}

impl Keyed for Hash {
    fn choose_by_hash(&self, state: &State<Plan>, hash: u32, healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        state.plan.pick(&state.weights, hash, healthy)
    }
}

impl Director for Hash {
    type Plan = Plan;
    const TYPE: &'static CStr = c"hash";
    const LISTED_WEIGHTS: Weights = Weights::Always;

    fn vdir(&self) -> &Vdir<Plan> {
        &self.vdir
    }

    fn choose(&self, _: &State<Plan>, _: impl FnMut(usize) -> bool) -> Option<usize> {
        None
    }

    /// As it picks nothing without a key, other directors are to pass it over.
    fn health(&self, _: &Ctx<'_>) -> Health {
        Health { healthy: false, changed: 0.0 }
    }
}
