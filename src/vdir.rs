//! Members and weights: what all directors share.

use std::sync::Arc;

use policy::reported::ramp;
use policy::Plan;

use crate::ffi::snapshot::{Guard, Snapshot, Writer};
use crate::ffi::{Backend, Ctx, Member, Statistics};
use crate::weighing::{Change, Weighing};

/// The members of a director, their weights, and the plan that was made from them.
///
/// Readers take an immutable [`State`] and need no lock. Writers make a new state; they take turns, see
/// [`Snapshot::write`]. None of them calls into Varnish meanwhile: references to backends are taken before and given
/// back after.
pub struct Vdir<P> {
    state: Snapshot<State<P>>,
    weighing: Weighing,
    statistics: Statistics,
}

/// Changes of weights that are to be logged, each with the member.
pub type Changes = Vec<(Member, Change)>;

/// One moment of a director. Members, in the order in which they were added, and weights have the same length.
pub struct State<P> {
    members: Arc<[Member]>,
    /// One valid weight per member.
    pub weights: Box<[f64]>,
    /// Made from `weights`.
    pub plan: P,
}

/// What there is to say about the health of a director.
pub struct Health {
    /// Whether a member that has weight is healthy.
    pub healthy: bool,
    /// When the health of a member changed last, as far as members were asked; in seconds since the epoch.
    pub changed: f64,
}

impl<P: Plan> Default for Vdir<P> {
    fn default() -> Self {
        let state = State { members: Arc::new([]), weights: Box::new([]), plan: P::empty() };
        Vdir { state: Snapshot::new(state), weighing: Weighing::default(), statistics: Statistics::default() }
    }
}

impl<P: Plan> Vdir<P> {
    /// The current state, as long as the guard lives. Lock-free.
    pub fn state(&self) -> Guard<'_, State<P>> {
        self.state.load()
    }

    /// How reports become weights.
    pub fn weighing(&self) -> &Weighing {
        &self.weighing
    }

    /// What is shown of the members.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Gives the members that there are now.
    pub fn with_members(&self, then: impl FnOnce(&[&Member])) {
        let state = self.state();
        then(&state.members.iter().collect::<Vec<_>>());
    }

    /// Adds an entry for `backend`, which may be a member already. `weight` is valid.
    pub fn add(&self, backend: Backend<'_>, weight: f64) {
        let member = Member::new(backend, weight);
        self.change_members(|members, weights| {
            members.push(member);
            weights.push(weight);
            None
        });
        if self.statistics.are_shown() {
            self.with_members(|members| self.statistics.add(members));
        }
    }

    /// Removes the first entry of `backend`, if there is one, and with it the reference to it.
    pub fn remove(&self, backend: Backend<'_>) {
        self.change_members(|members, weights| {
            let at = members.iter().position(|m| m.is(backend))?;
            members.remove(at);
            weights.remove(at);
            Some(at)
        });
    }

    /// Gives back all references. The director has no members afterwards.
    pub fn release(&self) {
        self.change_members(|members, weights| {
            members.clear();
            weights.clear();
            None
        });
    }

    /// The members that leave are dropped last of all, here, after the lock: a reference that is given back may
    /// destroy a director, whose own members are then given back in turn.
    ///
    /// `change` gives the place of the member that it has removed, if it was one.
    fn change_members(&self, change: impl FnOnce(&mut Vec<Member>, &mut Vec<f64>) -> Option<usize>) {
        let mut writer = self.state.write();
        let old = writer.current();
        let (mut members, mut weights) = (old.members.to_vec(), old.weights.to_vec());
        let plan = match change(&mut members, &mut weights) {
            Some(place) => old.plan.without(place, &weights),
            None => old.plan.with_members(&weights),
        };
        writer.publish(State { members: members.into(), weights: weights.into(), plan });
        let outdated = writer.reclaim_all();
        drop(writer);
        drop(outdated);
    }

    /// Takes the report of a weight, which is valid, for all entries of `backend`. Does nothing if there are none.
    /// `now` is in seconds since the epoch.
    pub fn set_weight(&self, backend: Backend<'_>, weight: f64, now: f64) -> Changes {
        let report = |m: &Member| m.is(backend).then(|| m.reports().report(&self.weighing, weight, now));
        Self::change_weights(self.state.write(), report)
    }

    /// Counts a report of a bad weight, as `set_weight` does a good one.
    pub fn refuse(&self, backend: Backend<'_>) {
        let state = self.state();
        state.members.iter().filter(|m| m.is(backend)).for_each(|m| m.reports().refuse());
    }

    /// Sets weights that were not reported for too long back to those of `add_backend`. To be called before a pick. Does
    /// not wait: if another thread is about to change weights, it leaves that to the next pick.
    pub fn expire(&self, now: f64) -> Changes {
        match self.weighing.writer_if_due(&self.state, now) {
            Some(writer) => Self::change_weights(writer, |m| m.reports().expire(&self.weighing, now)),
            None => Changes::new(),
        }
    }

    /// `change` gives the change of a member that has one.
    ///
    /// What is replaced is memory only: the members are shared with the new state. So it may be left to a later writer
    /// while somebody still reads it. As `change_members` leaves nothing behind, the members of states that were left
    /// are those of the current one, and no reference is given back when they are dropped under the lock.
    fn change_weights(mut writer: Writer<'_, State<P>>, mut change: impl FnMut(&Member) -> Option<Change>) -> Changes {
        let old = writer.current();
        let mut changes = Changes::new();
        let mut weights: Option<Box<[f64]>> = None;
        for (i, (member, old_weight)) in old.entries().enumerate() {
            let Some(change) = change(member) else { continue };
            if change.weight != old_weight {
                if let Some(weight) = weights.get_or_insert_with(|| old.weights.clone()).get_mut(i) {
                    *weight = change.weight;
                }
            }
            if change.record.is_some() {
                changes.push((member.clone(), change));
            }
        }
        if let Some(weights) = weights {
            let plan = old.plan.with_weights(&weights);
            let members = Arc::clone(&old.members);
            writer.publish(State { members, weights, plan });
        }
        changes
    }

    /// The weight of the first entry of `backend`, 0 if there is none.
    pub fn weight(&self, backend: Backend<'_>) -> f64 {
        let state = self.state();
        let found = state.entries().find(|(m, _)| m.is(backend));
        found.map_or(0.0, |(_, weight)| weight)
    }

    /// Whether a pick can succeed now.
    pub fn health(&self, ctx: &Ctx<'_>) -> Health {
        let state = self.state();
        let mut health = Health { healthy: false, changed: 0.0 };
        for (member, weight) in state.entries() {
            if weight <= 0.0 {
                continue;
            }
            let (healthy, changed) = ctx.health(member.backend());
            health.changed = health.changed.max(changed);
            if healthy {
                health.healthy = true;
                break;
            }
        }
        health
    }
}

impl<P> State<P> {
    /// Members with their weights.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Member, f64)> {
        self.members.iter().zip(self.weights.iter().copied())
    }

    /// Whether the member at this place is healthy now.
    pub fn healthy(&self, ctx: &Ctx<'_>, at: usize) -> bool {
        self.backend(at).is_some_and(|b| ctx.healthy(b))
    }

    /// Whether the member at this place is healthy and has got so far in its slow start, of that many seconds, that it
    /// gets a request for which `draw` gives a number from 0 up to 1: the chance is that of [`ramp`].
    pub fn admitted(&self, ctx: &Ctx<'_>, at: usize, slow_start: f64, draw: impl FnOnce() -> f64) -> bool {
        let Some(backend) = self.backend(at) else { return false };
        let (healthy, changed) = ctx.health(backend);
        let part = ramp(ctx.now() - changed, slow_start);
        healthy && (part >= 1.0 || draw() < part)
    }

    /// The member at this place.
    pub fn member(&self, at: usize) -> Option<&Member> {
        self.members.get(at)
    }

    /// As a backend.
    pub fn backend(&self, at: usize) -> Option<Backend<'_>> {
        self.member(at).map(Member::backend)
    }
}

/// Members that were picked and turned out to have no backend: directors whose own members fell sick between the
/// question for their health and the one for a backend, or that say they are healthy and are not.
#[derive(Default)]
pub struct Tried(Vec<usize>);

impl Tried {
    /// Whether it was tried.
    #[must_use]
    pub fn has(&self, place: usize) -> bool {
        self.0.contains(&place)
    }

    /// `None` if it was tried before: whoever picks does not mind, and would go on picking it.
    pub fn add(&mut self, place: usize) -> Option<()> {
        if self.has(place) {
            return None;
        }
        self.0.push(place);
        Some(())
    }
}
