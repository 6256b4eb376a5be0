//! The server's string buffer.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::vrt;

/// A string buffer of the server that a callback may write to.
pub struct Vsb<'a>(NonNull<vrt::vsb>, PhantomData<&'a mut vrt::vsb>);

impl Vsb<'_> {
    /// # Safety
    /// `raw` is a buffer of the server that nobody else uses for the lifetime of the result.
    pub(super) unsafe fn from_raw(raw: *mut vrt::vsb) -> Self {
        match NonNull::new(raw) {
            Some(vsb) => Vsb(vsb, PhantomData),
            None => panic!("no string buffer"),
        }
    }

    /// Appends. Out of memory, the buffer remembers so, and whoever made it will notice.
    pub fn put(&mut self, bytes: &[u8]) {
        // SAFETY: the buffer is valid and ours, and takes as many bytes as it is told.
        let _ = unsafe { vrt::VSB_bcat(self.0.as_ptr(), bytes.as_ptr().cast(), bytes.len() as isize) };
    }

    /// Indents further lines by so many columns more.
    pub fn indent(&mut self, columns: i32) {
        // SAFETY: the buffer is valid and ours.
        unsafe { vrt::VSB_indent(self.0.as_ptr(), columns) };
    }
}
