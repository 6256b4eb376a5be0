//! The fallback director: the first healthy member, or, if it is sticky, the one that it had.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;

use crate::Plan;

/// The plan of a fallback director: the place of the member that was picked last.
#[derive(Debug)]
pub struct Fallback {
    /// Shared with the plans for other weights of the same members. Threads need no lock for it: it is a whole place
    /// at any time, and nothing else depends on the order in which threads see it. May be past the end of an empty
    /// list, as 0.
    current: Arc<AtomicUsize>,
}

impl Plan for Fallback {
    fn empty() -> Self {
        Fallback::at(0)
    }

    /// Members are added at the end: the place stays.
    fn with_members(&self, weights: &[f64]) -> Self {
        let current = self.current();
        Fallback::at(if current < weights.len() { current } else { 0 })
    }

    fn with_weights(&self, _weights: &[f64]) -> Self {
        Fallback { current: Arc::clone(&self.current) }
    }

    /// The member that was picked last stays so. If it is the one that was removed, the next one is in its place, and
    /// the first one after the last.
    fn without(&self, place: usize, weights: &[f64]) -> Self {
        let current = self.current();
        let moved = current - usize::from(place < current);
        Fallback::at(if moved < weights.len() { moved } else { 0 })
    }
}

impl Fallback {
    fn at(place: usize) -> Self {
        Fallback { current: Arc::new(AtomicUsize::new(place)) }
    }

    /// The place of the member that was picked last. 0 before the first pick.
    #[must_use]
    pub fn current(&self) -> usize {
        self.current.load(Relaxed)
    }

    /// Picks the first member that is healthy and has weight, or `None`. If `sticky`, the search begins at the current
    /// member and goes around; else at the first.
    ///
    /// When the current member of a sticky director fails, threads that notice at the same time agree on its
    /// successor: a thread that was overtaken starts again at the member that another one has chosen.
    pub fn pick(&self, sticky: bool, weights: &[f64], mut healthy: impl FnMut(usize) -> bool) -> Option<usize> {
        let mut usable = |i: &usize| weights.get(*i).is_some_and(|w| *w > 0.0) && healthy(*i);
        if !sticky {
            let found = (0..weights.len()).find(&mut usable);
            // For those who look on only. Most of the time it is so already: no need to take the memory from the
            // other threads.
            if self.current() != found.unwrap_or(0) {
                self.current.store(found.unwrap_or(0), Relaxed);
            }
            return found;
        }
        let mut start = self.current();
        loop {
            let found = (start..weights.len()).chain(0..start.min(weights.len())).find(&mut usable)?;
            if found == start {
                return Some(found);
            }
            // A failure means that another thread has moved it. That takes a change of health each time, so that it
            // does not go on.
            match self.current.compare_exchange(start, found, Relaxed, Relaxed) {
                Ok(_) => return Some(found),
                Err(now) => start = now,
            }
        }
    }
}
