//! What `varnishstat` shows of members: a section of the server's shared memory for each of them.
//!
//! A section by itself would be a file and a locked page, so a director has them in a *cluster*. The server hands out the
//! room in a cluster from one end to the other, does not use again what was given back, and removes the cluster with the
//! last of its sections. The first one, made when the VCL gets warm, has room for all members that `vcl_init` has added
//! and for what else goes into its last page. Members that come when there is no room left get another cluster.
//!
//! Sections exist from the first time that the VCL is warm. They are hidden while it is cold, and go with the member.

use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};
use std::ptr::{self, addr_of_mut, NonNull};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::backend::Member;
use super::ctx::Ctx;
use super::vrt;
use crate::label::Labels;
use crate::weighing::{Numbers, Show};

/// The statistics of a director.
#[derive(Default)]
pub struct Statistics {
    /// The first part of all names: VCL and director.
    prefix: OnceLock<CString>,
    /// Never held across a call into the server.
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    warm: bool,
    /// Where there may be room for so many sections.
    cluster: Option<(Arc<Cluster>, usize)>,
}

impl Statistics {
    /// Says whose statistics these are. Before anything else.
    pub(super) fn name(&self, ctx: &Ctx<'_>, director: &CStr) {
        let prefix = [ctx.vcl_name().to_bytes(), b".", director.to_bytes()].concat();
        // Both are C strings, so that there is no NUL in between, and it is done once
        let _ = CString::new(prefix).map(|prefix| self.prefix.set(prefix));
    }

    /// Whether there are sections now. If not, those of new members are made by `warm`.
    #[must_use]
    pub fn are_shown(&self) -> bool {
        self.book().warm
    }

    /// The VCL is warm: shows all members.
    pub(super) fn warm(&self, members: &[&Member]) {
        self.book().warm = true;
        for section in sections(members) {
            section.reveal();
        }
        self.add(members);
    }

    /// The VCL is cold: hides all members. No VCL runs meanwhile that could add one.
    pub(super) fn cold(&self, members: &[&Member]) {
        self.book().warm = false;
        for section in sections(members) {
            section.hide();
        }
    }

    /// There are no more members, and will be none.
    pub(super) fn release(&self) {
        let mut book = self.book();
        book.warm = false;
        let cluster = book.cluster.take();
        drop(book);
        drop(cluster);
    }

    /// Makes sections for those of the members, all that there are, that have none.
    ///
    /// Whoever gives a member its label makes its section. Other threads may do so for others meanwhile.
    pub fn add(&self, members: &[&Member]) {
        let Some(prefix) = self.prefix.get() else { return };
        let mut book = self.book();
        let mut labels = Labels::default();
        for label in members.iter().filter_map(|m| m.reports().shown().label.get()) {
            labels.used(label.to_bytes());
        }
        let mut new = Vec::new();
        for member in members.iter().filter(|m| m.reports().shown().label.get().is_none()) {
            let label = CString::new(labels.take(member.backend().name().to_bytes())).unwrap_or_default();
            if member.reports().shown().label.set(label.into()).is_ok() {
                new.push(*member);
            }
        }
        let room = match &mut book.cluster {
            _ if new.is_empty() => return,
            Some((cluster, room)) if *room >= new.len() => {
                *room -= new.len();
                Some(Arc::clone(cluster))
            }
            _ => None,
        };
        drop(book);

        let cluster = room.unwrap_or_else(|| {
            let (cluster, room) = Cluster::new(new.len());
            let cluster = Arc::new(cluster);
            let old = self.book().cluster.replace((Arc::clone(&cluster), room - new.len()));
            drop(old);
            cluster
        });
        for member in new {
            let slot = member.reports().shown();
            let label = slot.label.get().map_or(c"", |label| label);
            let _ = slot.section.set(Section::new(&cluster, prefix, label));
            // What was reported in between
            member.reports().show();
        }
    }

    /// A panic ends the process, so that nobody meets a poisoned mutex.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sections<'a>(members: &'a [&Member]) -> impl Iterator<Item = &'a Section> {
    members.iter().filter_map(|m| m.reports().shown().section.get())
}

/// Where a member has its section, once there is one.
#[derive(Default)]
pub struct Slot {
    /// The last part of its name. Set, under the lock of the director's book, by the thread that is to make the section.
    label: OnceLock<Box<CStr>>,
    section: OnceLock<Section>,
}

impl Show for Slot {
    /// `varnishstat` may read in between: each number is right, not all of them together.
    fn show(&self, numbers: &Numbers) {
        let Some(Section { counters, .. }) = self.section.get() else { return };
        let counters = counters.as_ptr();
        // SAFETY: the server keeps the memory of a section, aligned for such numbers, until `Section` is dropped. This
        // process only writes to it by way of these atomics.
        unsafe {
            AtomicU64::from_ptr(addr_of_mut!((*counters).weight)).store(thousandths(numbers.weight), Relaxed);
            AtomicU64::from_ptr(addr_of_mut!((*counters).base)).store(thousandths(numbers.base), Relaxed);
            AtomicU64::from_ptr(addr_of_mut!((*counters).updates)).store(numbers.updates, Relaxed);
            AtomicU64::from_ptr(addr_of_mut!((*counters).refusals)).store(numbers.refusals, Relaxed);
            AtomicU64::from_ptr(addr_of_mut!((*counters).last_report)).store(numbers.last_report as u64, Relaxed);
        }
    }
}

/// Rounded, but to no 0 that is none. What is too large is the largest number.
fn thousandths(weight: f64) -> u64 {
    let rounded = (1000.0 * weight).round() as u64;
    rounded.max(u64::from(weight > 0.0))
}

/// A section, as long as it exists.
struct Section {
    counters: NonNull<vrt::VSC_pdir>,
    segment: *mut vrt::vsc_seg,
}

// SAFETY: the server's functions for sections lock what they share, and any thread may call them.
unsafe impl Send for Section {}
// SAFETY: as above; the counters are atomics.
unsafe impl Sync for Section {}

impl Section {
    /// Takes room from the cluster, which has some.
    fn new(cluster: &Cluster, prefix: &CStr, label: &CStr) -> Self {
        let mut segment = ptr::null_mut();
        // SAFETY: the cluster is alive and has room, which its user keeps account of. The format wants two C strings.
        let counters =
            unsafe { vrt::VSC_pdir_New(cluster.0, &mut segment, c"%s.%s".as_ptr(), prefix.as_ptr(), label.as_ptr()) };
        match NonNull::new(counters) {
            Some(counters) => Section { counters, segment },
            None => panic!("no section"),
        }
    }

    fn hide(&self) {
        // SAFETY: made in `new`, and not destroyed.
        unsafe { vrt::VRT_VSC_Hide(self.segment) };
    }

    fn reveal(&self) {
        // SAFETY: as above.
        unsafe { vrt::VRT_VSC_Reveal(self.segment) };
    }
}

impl Drop for Section {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and destroyed here, once.
        unsafe { vrt::VSC_pdir_Destroy(&mut self.segment) };
    }
}

/// A cluster, as long as there may be more sections in it. The server keeps it as long as there are any.
struct Cluster(*mut vrt::vsmw_cluster);

// SAFETY: the server's functions for clusters lock what they share, and any thread may call them.
unsafe impl Send for Cluster {}
// SAFETY: as above.
unsafe impl Sync for Cluster {}

/// The server makes clusters of whole pages, of which it needs a few bytes itself.
const PAGE: usize = 4096;
const OF_THE_SERVER: usize = 64;

impl Cluster {
    /// A cluster with room for so many sections, or some more: for how many is the second part of the answer.
    fn new(sections: usize) -> (Self, usize) {
        // SAFETY: a calculation.
        let each = unsafe { vrt::VRT_VSC_Overhead(size_of::<vrt::VSC_pdir>()) };
        let size = (sections * each + OF_THE_SERVER).next_multiple_of(PAGE) - OF_THE_SERVER;
        // SAFETY: the server looks at nothing in the context but what makes it one.
        let cluster = unsafe { vrt::VRT_VSM_Cluster_New(&no_task(), size) };
        (Cluster(cluster), size / each)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and given back here, once; the context is as there.
        unsafe { vrt::VRT_VSM_Cluster_Destroy(&no_task(), &mut self.0) };
    }
}

/// A context for functions of the server that want one where it has none to give, as in events.
fn no_task() -> vrt::vrt_ctx {
    // SAFETY: a structure of C with pointers, which may be null, and numbers.
    vrt::vrt_ctx { magic: vrt::VRT_CTX_MAGIC, ..unsafe { zeroed() } }
}

#[cfg(test)]
mod tests {
    use super::thousandths;

    #[test]
    fn only_nothing_is_0() {
        assert_eq!([0.0, 5e-324, 0.0004, 0.0015, 1.0, 2.0004].map(thousandths), [0, 1, 1, 2, 1000, 2000]);
        assert_eq!(thousandths(f64::MAX), u64::MAX);
    }
}
