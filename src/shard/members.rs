//! Members, weights and the ring of a shard director.

use std::ffi::CStr;
use std::sync::Arc;

use policy::ring::{points, Ring};

use super::Core;
use crate::ffi::snapshot::Writer;
use crate::ffi::{Backend, Ctx, Member};
use crate::vdir::{Changes, Health};
use crate::weighing::Change;

/// A backend, under one ident.
#[derive(Clone)]
pub struct Entry {
    pub(super) member: Member,
    /// `None`: the name of the backend.
    pub(super) ident: Option<Arc<CStr>>,
    /// In seconds. `None`: what the director says.
    pub(super) rampup: Option<f64>,
    /// Points of weight 1. Set when it was added.
    pub(super) replicas: u32,
}

impl Entry {
    /// What is hashed, and no two entries have.
    pub(super) fn ident(&self) -> &CStr {
        self.ident.as_deref().unwrap_or(self.member.backend().name())
    }
}

/// One moment of a director. The number of an entry is that of its host on the ring.
#[derive(Default)]
pub struct State {
    pub(super) entries: Arc<[Entry]>,
    /// One valid weight per entry.
    pub(super) weights: Box<[f64]>,
    /// What is large in it is shared with the states before and after.
    pub(super) ring: Ring,
    /// Whether the server has asked for all references back. There are none afterwards.
    pub(super) released: bool,
}

impl State {
    /// The state after a change of members.
    pub(super) fn with_entries(&self, entries: Vec<Entry>, weights: Vec<f64>) -> Self {
        let ring = Ring::new(
            entries.iter().zip(&weights).map(|(e, weight)| (e.ident().to_bytes(), points(e.replicas, *weight))),
        );
        State { entries: entries.into(), weights: weights.into(), ring, released: self.released }
    }
}

impl Core {
    /// Takes the report of a weight, which is valid, for all entries of `backend`. Does nothing if there are none.
    /// `now` is in seconds since the epoch.
    pub(super) fn set_weight(&self, backend: Backend<'_>, weight: f64, now: f64) -> Changes {
        let report = |m: &Member| m.is(backend).then(|| m.reports().report(&self.weighing, weight, now));
        Self::change_weights(self.state.write(), report)
    }

    /// Gives the members that there are now.
    pub(super) fn with_members(&self, then: impl FnOnce(&[&Member])) {
        let state = self.state.load();
        then(&state.entries.iter().map(|e| &e.member).collect::<Vec<_>>());
    }

    /// Counts a report of a bad weight, as `set_weight` does a good one.
    pub(super) fn refuse(&self, backend: Backend<'_>) {
        let state = self.state.load();
        state.entries.iter().filter(|e| e.member.is(backend)).for_each(|e| e.member.reports().refuse());
    }

    /// Sets weights that were not reported for too long back to those of `add_backend`; see `Vdir`.
    pub(super) fn expire(&self, now: f64) -> Changes {
        match self.weighing.writer_if_due(&self.state, now) {
            Some(writer) => Self::change_weights(writer, |m| m.reports().expire(&self.weighing, now)),
            None => Changes::new(),
        }
    }

    /// As for other directors, the state that is replaced is memory only, as the entries are shared with the new one.
    fn change_weights(mut writer: Writer<'_, State>, mut change: impl FnMut(&Member) -> Option<Change>) -> Changes {
        let old = writer.current();
        let mut changes = Changes::new();
        let mut weights: Option<Box<[f64]>> = None;
        let mut ring = old.ring.clone();
        for (host, (entry, old_weight)) in old.entries.iter().zip(&old.weights).enumerate() {
            let Some(change) = change(&entry.member) else { continue };
            if change.weight != *old_weight {
                if let Some(weight) = weights.get_or_insert_with(|| old.weights.clone()).get_mut(host) {
                    *weight = change.weight;
                }
                let after = points(entry.replicas, change.weight);
                if points(entry.replicas, *old_weight) != after {
                    ring.resize(host, entry.ident().to_bytes(), after);
                }
            }
            if change.record.is_some() {
                changes.push((entry.member.clone(), change));
            }
        }
        if let Some(weights) = weights {
            let (entries, released) = (Arc::clone(&old.entries), old.released);
            writer.publish(State { entries, weights, ring, released });
        }
        changes
    }

    /// The weight of the first entry of `backend`, if there is one.
    pub(super) fn weight(&self, backend: Backend<'_>) -> Option<f64> {
        let state = self.state.load();
        let at = state.entries.iter().position(|e| e.member.is(backend))?;
        state.weights.get(at).copied()
    }

    /// Whether a member that has weight is healthy.
    pub(super) fn health(&self, ctx: &Ctx<'_>) -> Health {
        let state = self.state.load();
        let mut health = Health { healthy: false, changed: 0.0 };
        for (entry, weight) in state.entries.iter().zip(&state.weights) {
            if *weight <= 0.0 {
                continue;
            }
            let (healthy, changed) = ctx.health(entry.member.backend());
            health.changed = health.changed.max(changed);
            if healthy {
                health.healthy = true;
                break;
            }
        }
        health
    }

    /// Gives back all references, for good: changes that come later do nothing. They are given back after the lock,
    /// see `Vdir`.
    pub(super) fn release(&self) {
        let mut writer = self.state.write();
        writer.publish(State { released: true, ..State::default() });
        let outdated = writer.reclaim_all();
        drop(writer);
        drop(outdated);
    }
}
