//! A pick: what `policy::shard` asks for, answered by the server.

use policy::shard::{self, Ask, Step, World};

use super::members::State;
use super::params::Params;
use super::{Core, Debug};
use crate::error::shard as texts;
use crate::ffi::{draw, Ctx, Member};
use crate::vdir::Tried;

struct Asked<'a> {
    core: &'a Core,
    ctx: &'a Ctx<'a>,
    state: &'a State,
    tried: &'a Tried,
    /// Of members that do not say.
    rampup: f64,
}

impl World for Asked<'_> {
    #[inline]
    fn health(&mut self, host: usize) -> (bool, f64) {
        match self.state.entries.get(host) {
            Some(entry) if !self.tried.has(host) => {
                let (healthy, changed) = self.ctx.health(entry.member.backend());
                (healthy, self.ctx.now() - changed)
            }
            _ => (false, 0.0),
        }
    }

    #[inline]
    fn rampup(&mut self, host: usize) -> f64 {
        self.state.entries.get(host).and_then(|e| e.rampup).unwrap_or(self.rampup)
    }

    /// The server's generator where tests seed it, as in the bundled directors; elsewhere one of this thread.
    fn draw(&mut self) -> f64 {
        draw::testable_long().unwrap_or_else(draw::fast)
    }

    #[inline]
    fn trace(&mut self, step: Step) {
        let what = match step {
            Step::Found { .. } => Debug::Lookup,
            Step::Candidates { .. } => Debug::Rampup,
        };
        if self.core.debug(what) {
            self.log(step);
        }
    }
}

impl Asked<'_> {
    #[cold]
    fn log(&self, step: Step) {
        match step {
            Step::Found { key, slot, host } => {
                self.ctx.log_debug(&texts::debug_lookup(key, self.state.ring.position(slot), host));
            }
            Step::Candidates { chosen, alternative } => {
                for (which, (host, candidate)) in [("chosen", chosen), ("alt", alternative)] {
                    self.ctx.log_debug(&texts::debug_rampup(which, host, candidate.rampup, candidate.age));
                }
            }
        }
    }
}

impl Core {
    /// Picks a member, and calls `then` with it while it is sure to be alive. If that gives nothing, picks another one
    /// for the same key.
    #[inline]
    pub(super) fn pick<R>(
        &self,
        ctx: &Ctx<'_>,
        key: u32,
        params: &Params,
        mut then: impl FnMut(&Member) -> Option<R>,
    ) -> Option<R> {
        let state = self.state.load();
        if state.entries.is_empty() {
            ctx.log_error(&texts::no_backends(&self.name));
            return None;
        }
        // Without members on the ring there is no alternative to limit, and none to pick.
        let most = state.ring.hosts().checked_sub(1)?;
        if params.alt > most {
            ctx.log_error(&texts::alt_limited(&self.name, params.alt, most));
        }
        let (warmup, rampup) = (self.defaults.warmup(), self.defaults.rampup());
        let ask = Ask {
            key,
            alt: params.alt.min(most),
            warmup: params.warmup.filter(|w| *w >= 0.0).unwrap_or(warmup),
            rampup: params.rampup,
            healthy: params.healthy,
        };
        let mut tried = Tried::default();
        loop {
            let mut asked = Asked { core: self, ctx, state: &state, tried: &tried, rampup };
            let host = shard::pick(&state.ring, &ask, &mut asked)?;
            if let Some(answer) = then(&state.entries.get(host)?.member) {
                return Some(answer);
            }
            tried.add(host)?;
        }
    }
}
