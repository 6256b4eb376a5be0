//! Changes of members. They are noted down and done together: at the end of the task, or when VCL says so.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use super::members::Entry;
use super::{Core, Debug};
use crate::error::{shard as texts, Text};
use crate::ffi::task::{self, TaskValue};
use crate::ffi::{Backend, Ctx, Member};

/// How many points backends of weight 1 get unless `reconfigure` says otherwise.
const REPLICAS: u32 = 67;

/// The changes of one director that a task has noted down.
pub struct Changes {
    core: Arc<Core>,
    list: RefCell<Vec<Change>>,
}

enum Change {
    Clear,
    /// An entry, but for its replicas, and its weight.
    Add(Entry, f64),
    /// With an ident the entry that has it, otherwise all entries of the backend.
    Remove(Option<Member>, Option<CString>),
}

impl TaskValue for Changes {
    const TYPE: &'static CStr = c"vmod_probe_directors_shard_cfg";

    fn finish(self, ctx: &Ctx<'_>) {
        self.apply(ctx, REPLICAS);
    }
}

impl Changes {
    pub(super) fn of_task<'a>(ctx: &Ctx<'a>, key: *const (), core: &Arc<Core>) -> Option<&'a Self> {
        task::get_or_make(ctx, key, || Changes { core: Arc::clone(core), list: RefCell::default() })
    }

    pub(super) fn if_any<'a>(ctx: &Ctx<'a>, key: *const ()) -> Option<&'a Self> {
        task::get(ctx, key)
    }

    /// `weight` is valid.
    pub fn add(&self, backend: Backend<'_>, ident: Option<&CStr>, rampup: Option<f64>, weight: f64) {
        let entry =
            Entry { member: Member::new(backend, weight), ident: ident.map(Arc::from), rampup, replicas: REPLICAS };
        self.list.borrow_mut().push(Change::Add(entry, weight));
    }

    /// Removes entries of the backend or the entry of the ident.
    pub fn remove(&self, backend: Option<Backend<'_>>, ident: Option<&CStr>) {
        // Never becomes an entry, so that its weight does not matter
        let member = backend.map(|b| Member::new(b, 0.0));
        self.list.borrow_mut().push(Change::Remove(member, ident.map(CStr::to_owned)));
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.list.borrow_mut().push(Change::Clear);
    }

    /// Sets the weight, which is valid, of what is to be added.
    pub(super) fn set_weight(&self, backend: Backend<'_>, weight: f64, now: f64) {
        for change in self.list.borrow_mut().iter_mut() {
            match change {
                Change::Add(entry, old) if entry.member.is(backend) => {
                    *old = entry.member.reports().report(&self.core.weighing, weight, now).weight;
                }
                _ => {}
            }
        }
    }

    /// Counts a report of a bad weight, as `set_weight` does a good one.
    pub(super) fn refuse(&self, backend: Backend<'_>) {
        for change in self.list.borrow().iter() {
            match change {
                Change::Add(entry, _) if entry.member.is(backend) => entry.member.reports().refuse(),
                _ => {}
            }
        }
    }

    /// The weight of what is to be added, if it is.
    pub(super) fn weight(&self, backend: Backend<'_>) -> Option<f64> {
        self.list.borrow().iter().find_map(|change| match change {
            Change::Add(entry, weight) if entry.member.is(backend) => Some(*weight),
            _ => None,
        })
    }

    /// Does all that is noted down. Whether there are members now, or nothing was to be done.
    ///
    /// The references of what is left over are given back last, after the lock, see `Vdir`.
    pub(super) fn apply(&self, ctx: &Ctx<'_>, replicas: u32) -> bool {
        let changes = self.list.take();
        if changes.is_empty() {
            return true;
        }
        let mut notices = Vec::new();
        let mut writer = self.core.state.write();
        let old = writer.current();
        if old.released {
            drop(writer);
            return true;
        }
        let mut members =
            Members { slots: old.entries.iter().cloned().zip(old.weights.iter().copied()).map(Some).collect() };
        let from = changes.iter().rposition(|c| matches!(c, Change::Clear)).unwrap_or(0);
        for change in changes.iter().skip(from) {
            match change {
                Change::Clear => members.slots.clear(),
                Change::Remove(member, ident) => members.remove(member.as_ref(), ident.as_deref()),
                Change::Add(entry, weight) => match members.find(entry) {
                    Some(there) => notices.push(already_there(&self.core.name, there)),
                    None => members.add(Entry { replicas, ..entry.clone() }, *weight),
                },
            }
        }
        let (entries, weights): (Vec<_>, Vec<_>) = members.in_order().into_iter().unzip();
        let is_empty = entries.is_empty();
        let state = old.with_entries(entries, weights);
        writer.publish(state);
        // What was noted down may have a weight that expires, and may have been passed over when it did
        self.core.weighing.expires_at(0.0);
        let outdated = writer.reclaim_all();
        drop(writer);
        drop(outdated);
        if self.core.statistics.are_shown() {
            self.core.with_members(|members| self.core.statistics.add(members));
        }

        for notice in notices {
            ctx.log_notice(&notice);
        }
        if is_empty {
            ctx.log_error(&texts::reconfigured_to_nothing(&self.core.name));
        } else if self.core.debug(Debug::Ring) {
            for (i, point) in self.core.state.load().ring.points().enumerate() {
                ctx.log_debug(&texts::debug_point(i, point.point, point.host));
            }
        }
        !is_empty
    }
}

fn already_there(director: &CStr, entry: &Entry) -> Text {
    texts::already_there(director, entry.member.backend().name(), entry.ident.as_deref())
}

/// Members while they change. Where one is removed, a hole stays for the next that is added, so that places are those
/// of the bundled directors: they decide whose a key is where points of two members meet.
struct Members {
    slots: Vec<Option<(Entry, f64)>>,
}

impl Members {
    /// The entry that has the place of this one on the ring.
    fn find(&self, like: &Entry) -> Option<&Entry> {
        self.slots.iter().flatten().map(|(entry, _)| entry).find(|entry| match (&entry.ident, &like.ident) {
            (None, None) => entry.member.is(like.member.backend()),
            _ => entry.ident() == like.ident(),
        })
    }

    fn add(&mut self, entry: Entry, weight: f64) {
        match self.slots.iter_mut().find(|slot| slot.is_none()) {
            Some(hole) => *hole = Some((entry, weight)),
            None => self.slots.push(Some((entry, weight))),
        }
    }

    fn remove(&mut self, member: Option<&Member>, ident: Option<&CStr>) {
        let mut i = 0;
        while let Some(slot) = self.slots.get_mut(i) {
            let is_meant = slot.as_ref().is_some_and(|(entry, _)| match ident {
                Some(ident) => entry.ident() == ident,
                None => member.is_some_and(|m| entry.member.is(m.backend())),
            });
            if is_meant {
                *slot = None;
                if i + 1 == self.slots.len() {
                    self.slots.pop();
                }
            }
            i += 1;
        }
    }

    /// Fills holes from the end.
    fn in_order(mut self) -> Vec<(Entry, f64)> {
        let mut i = 0;
        while i < self.slots.len() {
            match self.slots.get(i) {
                Some(None) => match self.slots.pop() {
                    // What was at the end, unless the hole was
                    Some(last) if i < self.slots.len() => {
                        if let (Some(hole), Some(_)) = (self.slots.get_mut(i), &last) {
                            *hole = last;
                        }
                    }
                    _ => {}
                },
                _ => i += 1,
            }
        }
        self.slots.into_iter().flatten().collect()
    }
}
