//! Members, weights and the ring of a shard director.

use std::ffi::CStr;
use std::sync::Arc;

use policy::ring::{points, Ring};

use super::Core;
use crate::ffi::{Backend, Ctx, Member};
use crate::vdir::Health;

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
    pub(super) ring: Ring,
    /// Whether a weight was set since its entry was added.
    pub(super) weighted: bool,
    /// Whether the server has asked for all references back. There are none afterwards.
    pub(super) released: bool,
}

impl State {
    /// The state after a change of members.
    pub(super) fn with_entries(&self, entries: Vec<Entry>, weights: Vec<f64>) -> Self {
        let ring = Ring::new(
            entries.iter().zip(&weights).map(|(e, weight)| (e.ident().to_bytes(), points(e.replicas, *weight))),
        );
        let (weighted, released) = (self.weighted, self.released);
        State { entries: entries.into(), weights: weights.into(), ring, weighted, released }
    }
}

impl Core {
    /// Sets the weight, which is valid, of all entries of `backend`. Does nothing if there are none.
    ///
    /// As for other directors, the state that is replaced is memory only, as the entries are shared with the new one.
    pub(super) fn set_weight(&self, backend: Backend<'_>, weight: f64) {
        let mut writer = self.state.write();
        let old = writer.current();
        let mut weights = old.weights.clone();
        let mut ring: Option<Ring> = None;
        for (host, (entry, old_weight)) in old.entries.iter().zip(weights.iter_mut()).enumerate() {
            if !entry.member.is(backend) || *old_weight == weight {
                continue;
            }
            let (before, after) = (points(entry.replicas, *old_weight), points(entry.replicas, weight));
            *old_weight = weight;
            let current = ring.as_ref().unwrap_or(&old.ring);
            ring = Some(if before == after {
                current.clone()
            } else {
                current.resized(host, entry.ident().to_bytes(), after)
            });
        }
        let Some(ring) = ring else {
            return;
        };
        let state = State { entries: Arc::clone(&old.entries), weights, ring, weighted: true, released: old.released };
        writer.publish(state);
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
