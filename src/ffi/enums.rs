//! The ENUM arguments of VCL. VCL passes the very pointers that it finds in the function table.

use std::ffi::{c_char, CStr};

use super::vrt;

/// A word of an ENUM, at the address that the function table has.
#[repr(transparent)]
pub(super) struct Word(*const c_char);

// SAFETY: a constant that points to a constant.
unsafe impl Sync for Word {}

impl Word {
    /// What the function table wants. Nobody writes to it.
    pub(super) const fn entry(&'static self) -> *mut vrt::VCL_ENUM {
        std::ptr::from_ref(&self.0).cast_mut()
    }
}

pub(super) static ALL: Word = Word(c"ALL".as_ptr());
pub(super) static BLOB: Word = Word(c"BLOB".as_ptr());
pub(super) static CHOSEN: Word = Word(c"CHOSEN".as_ptr());
pub(super) static HASH: Word = Word(c"HASH".as_ptr());
pub(super) static IGNORE: Word = Word(c"IGNORE".as_ptr());
pub(super) static KEY: Word = Word(c"KEY".as_ptr());
pub(super) static LAZY: Word = Word(c"LAZY".as_ptr());
pub(super) static NOW: Word = Word(c"NOW".as_ptr());
pub(super) static URL: Word = Word(c"URL".as_ptr());

/// The word that VCL passed. Words are compared, not pointers: another copy of one is as good.
///
/// # Safety
/// `word` is an ENUM argument as VCL passes it.
pub(super) unsafe fn word<'a>(word: vrt::VCL_ENUM) -> &'a CStr {
    assert!(!word.is_null(), "no ENUM");
    // SAFETY: not null, and a C string.
    unsafe { CStr::from_ptr(word) }
}
