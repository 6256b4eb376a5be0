//! The ENUM arguments of VCL. VCL passes the very pointers that it finds in the function table.

use std::ffi::{c_char, CStr};

use policy::shard::Healthy;

use super::vrt;
use crate::shard::params::Key;

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

/// What the word that VCL passed means, of those that it may be. `None` if it is none of them.
///
/// # Safety
/// `word` is an ENUM argument as VCL passes it.
#[inline]
unsafe fn meaning<T: Copy>(word: vrt::VCL_ENUM, of: &'static [(&Word, T)]) -> Option<T> {
    for (known, meaning) in of {
        if known.0 == word {
            return Some(*meaning);
        }
    }
    // SAFETY: as the caller promises.
    unsafe { meaning_of_copy(word, of) }
}

/// A word that is at another address: a copy is as good.
///
/// # Safety
/// `word` is an ENUM argument as VCL passes it.
#[cold]
unsafe fn meaning_of_copy<T: Copy>(word: vrt::VCL_ENUM, of: &[(&Word, T)]) -> Option<T> {
    assert!(!word.is_null(), "no ENUM");
    // SAFETY: not null, and a C string, as is each of ours.
    let same = |known: &Word| unsafe { CStr::from_ptr(word) == CStr::from_ptr(known.0) };
    of.iter().find(|(known, _)| same(known)).map(|(_, meaning)| *meaning)
}

/// HASH, URL, KEY or BLOB.
///
/// # Safety
/// `word` is an ENUM argument as VCL passes it.
#[inline]
pub(super) unsafe fn by(word: vrt::VCL_ENUM) -> Key {
    static OF: [(&Word, Key); 4] = [(&KEY, Key::Number), (&HASH, Key::Hash), (&URL, Key::Url), (&BLOB, Key::Blob)];
    // SAFETY: as the caller promises.
    unsafe { meaning(word, &OF) }.unwrap_or(Key::Hash)
}

/// CHOSEN, IGNORE or ALL.
///
/// # Safety
/// `word` is an ENUM argument as VCL passes it.
#[inline]
pub(super) unsafe fn healthy(word: vrt::VCL_ENUM) -> Healthy {
    static OF: [(&Word, Healthy); 3] = [(&CHOSEN, Healthy::Chosen), (&IGNORE, Healthy::Ignore), (&ALL, Healthy::All)];
    // SAFETY: as the caller promises.
    unsafe { meaning(word, &OF) }.unwrap_or(Healthy::Chosen)
}

/// Whether a word is LAZY, not NOW.
///
/// # Safety
/// `word` is an ENUM argument as VCL passes it.
#[inline]
pub(super) unsafe fn is_lazy(word: vrt::VCL_ENUM) -> bool {
    static OF: [(&Word, bool); 2] = [(&NOW, false), (&LAZY, true)];
    // SAFETY: as the caller promises.
    unsafe { meaning(word, &OF) }.unwrap_or(false)
}
