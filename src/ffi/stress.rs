//! Threads that ask directors while other threads change them, with a server that is only pretended: for the thread
//! sanitizer, which sees more, and sooner, than in a whole server.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use policy::Random;

use super::{draw, vrt, Backend, Ctx, Keyed, Kind};
use crate::fallback::Fallback;
use crate::hash::Hash;
use crate::round_robin::RoundRobin;
use crate::vdir::Vdir;

/// Changes of each kind, or fewer where a busy machine takes longer than this for them.
const CHANGES: u32 = 3_000;
const LONG_ENOUGH: Duration = Duration::from_secs(10);

/// A backend as far as it is needed here. Nothing orders what threads do with it, other than in the server: that is
/// up to what is tested.
#[repr(C)]
struct Pretended {
    director: vrt::director,
    references: AtomicI64,
    sick: AtomicBool,
}

// SAFETY: the director is not written to, and its pointers are null or to a constant.
unsafe impl Sync for Pretended {}

impl Pretended {
    fn new() -> Self {
        let director = vrt::director {
            magic: vrt::DIRECTOR_MAGIC,
            priv_: ptr::null_mut(),
            vcl_name: c"backend".as_ptr().cast_mut(),
            vdir: ptr::null_mut(),
            mtx: ptr::null_mut(),
        };
        Pretended { director, references: AtomicI64::new(0), sick: AtomicBool::new(false) }
    }

    fn backend(&self) -> Backend<'_> {
        let whole: *const Pretended = self;
        // SAFETY: the director comes first, and lives as long as the whole.
        match unsafe { Backend::from_raw(whole.cast()) } {
            Some(backend) => backend,
            None => unreachable!(),
        }
    }
}

/// # Safety
/// Null, or a pointer to a [`Pretended`] that lives for `'a`.
unsafe fn pretended<'a>(raw: vrt::VCL_BACKEND) -> Option<&'a Pretended> {
    // SAFETY: as the caller promises.
    unsafe { raw.cast::<Pretended>().as_ref() }
}

#[no_mangle]
unsafe extern "C" fn VRT_Assign_Backend(to: *mut vrt::VCL_BACKEND, from: vrt::VCL_BACKEND) {
    // SAFETY: all backends of these tests are pretended, and live until the threads are done.
    unsafe {
        if let Some(new) = pretended(from) {
            new.references.fetch_add(1, Relaxed);
        }
        if let Some(old) = pretended(ptr::replace(to, from)) {
            assert!(old.references.fetch_sub(1, Relaxed) > 0, "given back more often than taken");
        }
    }
}

#[no_mangle]
unsafe extern "C" fn VRT_Healthy(_: *const vrt::vrt_ctx, backend: vrt::VCL_BACKEND, _: *mut vrt::VCL_TIME) -> c_int {
    // SAFETY: as above.
    unsafe { pretended(backend) }.map_or(0, |b| {
        assert!(b.references.load(Relaxed) > 0, "asked without a reference");
        c_int::from(!b.sick.load(Relaxed))
    })
}

/// A section of `varnishstat`. It is freed when the server would unmap it, or show it no more.
type Section = [AtomicU64; 5];

#[no_mangle]
unsafe extern "C" fn VRT_VSC_Alloc(
    cluster: *mut vrt::vsmw_cluster,
    segment: *mut *mut vrt::vsc_seg,
    _name: *const c_char,
    size: usize,
    _description: *const u8,
    _its_size: usize,
    _format: *const c_char,
    _arguments: *mut c_void,
) -> *mut c_void {
    assert!(!cluster.is_null());
    assert_eq!(size, size_of::<Section>());
    let section: *mut Section = Box::into_raw(Box::default());
    // SAFETY: the caller's, to be written.
    unsafe { *segment = section.cast() };
    section.cast()
}

/// The name that Vinyl Cache has for it.
#[no_mangle]
unsafe extern "C" fn VRT_VSC_Allocv(
    cluster: *mut vrt::vsmw_cluster,
    segment: *mut *mut vrt::vsc_seg,
    name: *const c_char,
    size: usize,
    description: *const u8,
    its_size: usize,
    format: *const c_char,
    arguments: *mut c_void,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    unsafe { VRT_VSC_Alloc(cluster, segment, name, size, description, its_size, format, arguments) }
}

#[no_mangle]
unsafe extern "C" fn VRT_VSC_Destroy(_name: *const c_char, segment: *mut vrt::vsc_seg) {
    // SAFETY: made above, and destroyed once.
    drop(unsafe { Box::from_raw(segment.cast::<Section>()) });
}

#[no_mangle]
extern "C" fn VRT_VSC_Reveal(_: *const vrt::vsc_seg) {}

#[no_mangle]
extern "C" fn VRT_VSC_Hide(_: *const vrt::vsc_seg) {}

#[no_mangle]
extern "C" fn VRT_VSC_Overhead(payload: usize) -> usize {
    payload
}

/// There is nothing to a cluster, but that it is let go of once.
#[no_mangle]
extern "C" fn VRT_VSM_Cluster_New(_: *const vrt::vrt_ctx, size: usize) -> *mut vrt::vsmw_cluster {
    Box::into_raw(Box::new(size)).cast()
}

#[no_mangle]
unsafe extern "C" fn VRT_VSM_Cluster_Destroy(_: *const vrt::vrt_ctx, cluster: *mut *mut vrt::vsmw_cluster) {
    // SAFETY: made above, and destroyed once.
    drop(unsafe { Box::from_raw(ptr::replace(cluster, ptr::null_mut()).cast::<usize>()) });
}

#[no_mangle]
extern "C" fn VCL_Name(_: *const vrt::vcl) -> *const c_char {
    c"vcl".as_ptr()
}

/// Of the server's numbers for tests none is drawn here.
#[no_mangle]
extern "C" fn VRND_RandomTestable() -> c_long {
    unreachable!()
}

/// Nobody looks at the parameters before `draw::init`.
#[allow(non_upper_case_globals)]
#[no_mangle]
static cache_param: AtomicUsize = AtomicUsize::new(0);

/// All zero is a valid context of the server's, if not for a use of it.
fn context() -> vrt::vrt_ctx {
    // SAFETY: as above.
    vrt::vrt_ctx { magic: vrt::VRT_CTX_MAGIC, ..unsafe { std::mem::zeroed() } }
}

/// Picks on three threads. One member is always there and healthy; of the others, one changes its weight and falls sick
/// and recovers, and one comes and goes. All have statistics.
fn stress<P: policy::Plan + Send + Sync>(vdir: &Vdir<P>, pick: impl Fn(&Ctx<'_>) -> bool + Sync) {
    let [always, changing, coming] = [(); 3].map(|()| Pretended::new());
    vdir.add(changing.backend(), 1.0);
    vdir.add(always.backend(), 1.0);
    let raw = context();
    // SAFETY: lives as long as this function.
    vdir.statistics().name(&unsafe { Ctx::from_raw(&raw) }, c"vd");
    vdir.with_members(|members| vdir.statistics().warm(members));
    let done = AtomicBool::new(false);
    let start = Instant::now();
    let changes = || (0..CHANGES).take_while(|_| start.elapsed() < LONG_ENOUGH);
    std::thread::scope(|s| {
        let pickers = [(); 3].map(|()| {
            s.spawn(|| {
                let raw = context();
                // SAFETY: lives as long as this thread.
                let ctx = unsafe { Ctx::from_raw(&raw) };
                while !done.load(Relaxed) {
                    assert!(pick(&ctx), "no backend though one is healthy");
                }
            })
        });
        let weigher = s.spawn(|| {
            for i in changes() {
                vdir.set_weight(changing.backend(), f64::from(i % 4), 0.0);
                changing.sick.store(i % 3 == 0, Relaxed);
                vdir.weight(changing.backend());
            }
        });
        for _ in changes() {
            vdir.add(coming.backend(), 2.0);
            vdir.refuse(changing.backend());
            vdir.remove(coming.backend());
            assert_eq!(coming.references.load(Relaxed), 0, "removed, but still held");
        }
        assert!(weigher.join().is_ok());
        done.store(true, Relaxed);
        for picker in pickers {
            assert!(picker.join().is_ok());
        }
    });
    vdir.release();
    vdir.statistics().release();
    assert!([always, changing, coming].iter().all(|b| b.references.load(Relaxed) == 0));
}

#[test]
fn round_robin() {
    let director = RoundRobin::default();
    stress(super::Director::vdir(&director), |ctx| director.pick(ctx, |_| Some(())).is_some());
}

#[test]
fn fallback() {
    for sticky in [false, true] {
        let director = Fallback::new(sticky);
        stress(super::Director::vdir(&director), |ctx| director.pick(ctx, |_| Some(())).is_some());
    }
}

#[test]
fn hash() {
    let director = Hash::default();
    stress(super::Director::vdir(&director), |ctx| {
        let state = super::Director::vdir(&director).state();
        let key = (draw::fast() * 4_294_967_296.0) as u32;
        director.choose_by_hash(&state, key, |i| state.healthy(ctx, i)).is_some()
    });
}

#[test]
fn random() {
    let vdir: Vdir<Random> = Vdir::default();
    stress(&vdir, |ctx| {
        let state = vdir.state();
        state.plan.pick(&state.weights, draw::fast, |i| state.healthy(ctx, i)).is_some()
    });
}
