//! Random numbers: from 0 up to, but not including, 1.
//!
//! The bundled `directors` VMOD always draws from the server's "testable" generator, which is behind a lock. Tests
//! seed it (`debug.srandom`) and run with the parameter `debug=+vtc_mode`. So where that is set, and only there, the
//! draw comes from it as well; elsewhere each thread has a generator of its own.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use policy::splitmix;

use super::vrt;

/// Whether the server's parameters lie in memory where the headers say.
static PARAMETERS_KNOWN: AtomicBool = AtomicBool::new(false);
/// From which the generators of threads are seeded.
static SEED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The generator of this thread, 0 until it is seeded. Has no destructor: one would keep the library from being
    /// unloaded.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// To be called before the first draw, as often as one likes.
pub fn init() {
    PARAMETERS_KNOWN.store(parameters_known(), Relaxed);
    let mut seed = [0_u8; 8];
    // SAFETY: writes that many bytes.
    if unsafe { vrt::VRND_RandomCrypto(seed.as_mut_ptr().cast(), seed.len()) } == 0 {
        SEED.store(u64::from_ne_bytes(seed), Relaxed);
    }
}

/// A number from the server's seeded generator, with 31 bits as the bundled VMOD draws it, if that is the one to use.
pub fn testable() -> Option<f64> {
    if PARAMETERS_KNOWN.load(Relaxed) && !vtc_mode() {
        return None;
    }
    // SAFETY: no arguments, and the server has set its locks up long since.
    let number = unsafe { vrt::VRND_RandomTestable() };
    Some(number as f64 / 2_147_483_648.0)
}

/// A number as [`testable`] gives it, but with 62 bits from two draws, as the bundled VMOD has it for its shard
/// director.
pub fn testable_long() -> Option<f64> {
    Some(testable()? + testable()? / 2_147_483_648.0)
}

/// A number from the generator that is the one to use.
pub fn any() -> f64 {
    testable().unwrap_or_else(fast)
}

/// A number from this thread's own generator, with 53 bits.
pub fn fast() -> f64 {
    let mut state = STATE.get();
    if state == 0 {
        // A start of its own for each thread: among 2^64, two do not come near each other.
        state = splitmix::mix(SEED.fetch_add(splitmix::STEP, Relaxed)) | 1;
    }
    state = state.wrapping_add(splitmix::STEP);
    STATE.set(state);
    splitmix::fraction(splitmix::mix(state))
}

fn vtc_mode() -> bool {
    const BIT: usize = vrt::DBG_VTC_MODE as usize;
    // SAFETY: the server sets the pointer before it loads any VMOD, to memory that it keeps for as long as it runs,
    // and which has this size (`PARAMETERS_KNOWN`). It may be written by another process at any time, hence the
    // volatile read of one byte.
    let byte = unsafe { ptr::addr_of!((*vrt::cache_param).debug_bits[BIT >> 3]).read_volatile() };
    byte & (0x80 >> (BIT & 7)) != 0
}

/// A server with other patches may have other parameters, hence another layout, and says the same version. But the
/// size of its own copy of the parameters is in its symbol table. If that differs we do not look, and draw from the
/// testable generator always: right, if slower. If it is the same, the byte that is read is one of the parameters; were
/// it another one after all, the choice of the generator is all that depends on it.
#[cfg(target_env = "gnu")]
fn parameters_known() -> bool {
    // SAFETY: a C string; a null handle is RTLD_DEFAULT.
    let symbol = unsafe { vrt::dlsym(ptr::null_mut(), c"mgt_param".as_ptr()) };
    if symbol.is_null() {
        return false;
    }
    let mut info = vrt::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let mut entry: *mut c_void = ptr::null_mut();
    // SAFETY: both are ours to write to; with this flag the second becomes a pointer to a symbol table entry, or
    // stays null.
    let found = unsafe { vrt::dladdr1(symbol, &mut info, &mut entry, vrt::RTLD_DL_SYMENT as i32) };
    if found == 0 || info.dli_saddr != symbol {
        return false;
    }
    // SAFETY: null, or an entry of the symbol table of the running program, which is never unloaded.
    unsafe { entry.cast::<vrt::elf_symbol>().as_ref() }.is_some_and(|e| e.st_size == size_of::<vrt::params>() as u64)
}

#[cfg(not(target_env = "gnu"))]
fn parameters_known() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::fast;

    #[test]
    fn numbers_are_in_range_and_spread() {
        let mut tenths = [0_u32; 10];
        for _ in 0..100_000 {
            let r = fast();
            assert!((0.0..1.0).contains(&r));
            tenths[(r * 10.0) as usize] += 1;
        }
        assert!(tenths.iter().all(|n| (9_500..10_500).contains(n)), "{tenths:?}");
    }
}
