//! Backends, borrowed and counted. To the server a director is a backend too.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use super::ctx::Ctx;
use super::in_flight::InFlight;
use super::statistics::Slot;
use super::vrt;
use crate::weighing::Reports;

/// A backend that lives at least for `'a`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backend<'a>(NonNull<vrt::director>, PhantomData<&'a vrt::director>);

impl<'a> Backend<'a> {
    /// `None` is VCL's None backend.
    ///
    /// # Safety
    /// `raw` is null, or a director of the server that lives for the lifetime of the result.
    pub(super) unsafe fn from_raw(raw: vrt::VCL_BACKEND) -> Option<Self> {
        let raw = NonNull::new(raw.cast_mut())?;
        // SAFETY: not null, and alive as the caller promises. `magic` never changes meanwhile.
        let magic = unsafe { (*raw.as_ptr()).magic };
        assert_eq!(magic, vrt::DIRECTOR_MAGIC, "not a director");
        Some(Backend(raw, PhantomData))
    }

    /// The pointer for the server.
    pub(super) fn as_raw(self) -> vrt::VCL_BACKEND {
        self.0.as_ptr()
    }

    /// The name in VCL.
    pub fn name(self) -> &'a CStr {
        // SAFETY: the backend is alive, and its name, a C string, is set once before anybody can see the backend.
        unsafe { CStr::from_ptr((*self.0.as_ptr()).vcl_name) }
    }
}

/// A counted reference to a backend: the only kind that may outlive the call in which the backend was named. With what
/// the director that it is a member of knows of it.
///
/// Clones share all of it. The reference is given back by the last of them, which calls into the server: not to be dropped
/// under a lock.
pub struct Member {
    backend: NonNull<vrt::director>,
    /// Whether the server has said that this is no director. That does not change, so picks need not ask again.
    is_last: AtomicBool,
    /// Picks do not go there: they take the pointer from beside it.
    shared: Arc<Shared>,
}

struct Shared {
    reports: Reports<Slot>,
    in_flight: InFlight,
    /// Dropped, never read.
    _reference: Reference,
}

/// One reference as the server counts them.
struct Reference(vrt::VCL_BACKEND);

// SAFETY: the server protects a director and its count by locks of its own, and any thread may use a reference.
unsafe impl Send for Reference {}
// SAFETY: as above; a shared `Reference` is not even read.
unsafe impl Sync for Reference {}
// SAFETY: the pointer is only handed to functions of the server that any thread may call, and `shared` keeps it
// alive.
unsafe impl Send for Member {}
// SAFETY: as for Send.
unsafe impl Sync for Member {}

impl Member {
    /// Takes a reference. `weight` is the one without reports.
    pub fn new(backend: Backend<'_>, weight: f64) -> Self {
        let mut reference = Reference(ptr::null());
        // SAFETY: the destination is null, hence holds no reference; the source is alive.
        unsafe { vrt::VRT_Assign_Backend(&mut reference.0, backend.as_raw()) };
        let reports = Reports::new(weight, Slot::default());
        let shared = Shared { reports, in_flight: InFlight::default(), _reference: reference };
        Member { backend: backend.0, is_last: AtomicBool::new(false), shared: Arc::new(shared) }
    }

    /// The backend, as long as the reference is held.
    pub fn backend(&self) -> Backend<'_> {
        Backend(self.backend, PhantomData)
    }

    /// The backend to connect to: this one, or if it is a director, the one that the server gets when it follows
    /// directors. That is not counted: it is as good as the directors' references to it. `None` if one of them has nobody.
    #[inline]
    pub(super) fn resolve(&self, ctx: &Ctx<'_>) -> Option<vrt::VCL_BACKEND> {
        if self.is_last.load(Ordering::Relaxed) {
            return Some(self.backend.as_ptr());
        }
        self.follow(ctx)
    }

    #[cold]
    fn follow(&self, ctx: &Ctx<'_>) -> Option<vrt::VCL_BACKEND> {
        let resolved = ctx.resolve(self.backend())?;
        if resolved == self.backend.as_ptr().cast_const() {
            // Where the server ends, there is nothing to be followed
            self.is_last.store(true, Ordering::Relaxed);
        }
        Some(resolved)
    }

    /// What was reported of it.
    pub fn reports(&self) -> &Reports<Slot> {
        &self.shared.reports
    }

    /// Its requests in flight, as far as the director counts them.
    pub fn in_flight(&self) -> &InFlight {
        &self.shared.in_flight
    }

    /// Whether this is a reference to `backend`.
    pub fn is(&self, backend: Backend<'_>) -> bool {
        self.backend == backend.0
    }
}

impl Clone for Member {
    fn clone(&self) -> Self {
        Member {
            backend: self.backend,
            is_last: AtomicBool::new(self.is_last.load(Ordering::Relaxed)),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: holds a reference that was taken in `Member::new` and is given back here, once.
        unsafe { vrt::VRT_Assign_Backend(&mut self.0, ptr::null()) };
    }
}
