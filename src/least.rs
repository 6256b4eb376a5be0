//! The VCL object `least`.

use std::ffi::CStr;

use policy::Least as Plan;

use crate::error::{self, Text};
use crate::ffi::{draw, in_flight, Ctx, Director};
use crate::list::Weights;
use crate::vdir::{State, Vdir};

/// A director that draws a few members and takes the one that has the least to do, for its weight.
pub struct Least {
    vdir: Vdir<Plan>,
    choices: usize,
}

impl Least {
    /// The director of that name, which draws as many members.
    pub fn new(name: &CStr, choices: i64) -> Result<Self, Text> {
        match usize::try_from(choices) {
            Ok(choices) if choices > 0 => Ok(Least { vdir: Vdir::default(), choices }),
            _ => Err(error::bad_choices(name, choices)),
        }
    }
}

impl Director for Least {
    type Plan = Plan;
    const TYPE: &'static CStr = c"least";
    const LISTED_WEIGHTS: Weights = Weights::Always;

    fn vdir(&self) -> &Vdir<Plan> {
        &self.vdir
    }

    fn choose(&self, state: &State<Plan>, healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        let in_flight = |place| state.member(place).map_or(0, |m| m.in_flight().get());
        state.plan.pick(&state.weights, self.choices, draw::any, healthy, in_flight)
    }

    /// From now on it is one more, until the task is done or picks again.
    fn picked(&self, ctx: &Ctx<'_>, state: &State<Plan>, place: usize) {
        if let Some(member) = state.member(place) {
            in_flight::begin(ctx, (&raw const *self).cast(), member.in_flight());
        }
    }
}
