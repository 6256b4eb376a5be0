//! The context of a call.

use std::ffi::CStr;

use super::backend::Backend;
use super::vrt;
use crate::error::Text;

/// The context of a call from VCL or from the server. Belongs to one thread.
#[derive(Clone, Copy)]
pub struct Ctx<'a>(&'a vrt::vrt_ctx);

impl<'a> Ctx<'a> {
    /// # Safety
    /// `raw` is the context argument of a call from the server that lasts for `'a`.
    pub(super) unsafe fn from_raw(raw: *const vrt::vrt_ctx) -> Self {
        // SAFETY: the server passes a valid context for the time of the call.
        let ctx = unsafe { raw.as_ref() };
        match ctx {
            Some(ctx) if ctx.magic == vrt::VRT_CTX_MAGIC => Ctx(ctx),
            _ => panic!("not a context"),
        }
    }

    /// Whether a backend is healthy now.
    pub fn healthy(&self, backend: Backend<'_>) -> bool {
        // SAFETY: context and backend are alive; the server allows no time to be asked for.
        unsafe { vrt::VRT_Healthy(self.0, backend.as_raw(), std::ptr::null_mut()) != 0 }
    }

    /// Whether a backend is healthy now, and when that changed last (0 if it does not say).
    pub fn health(&self, backend: Backend<'_>) -> (bool, f64) {
        let mut changed = 0.0;
        // SAFETY: context and backend are alive, and `changed` is ours.
        let healthy = unsafe { vrt::VRT_Healthy(self.0, backend.as_raw(), &mut changed) != 0 };
        (healthy, changed)
    }

    /// Follows directors until there is a backend that is none. The result is not counted: it is as good as the
    /// directors' references to it.
    pub(super) fn resolve(&self, backend: Backend<'_>) -> vrt::VCL_BACKEND {
        // SAFETY: context and backend are alive.
        unsafe { vrt::VRT_DirectorResolve(self.0, backend.as_raw()) }
    }

    /// Fails the VCL: a mistake of its author.
    pub fn fail(&self, text: &Text) {
        // SAFETY: the format wants one C string.
        unsafe { vrt::VRT_fail(self.0, FORMAT.as_ptr(), text.as_c_str().as_ptr()) };
    }

    /// Writes an Error record, and goes on.
    ///
    /// The record goes to the log of the task if there is one. While VCL is initialised there is a buffer for the CLI
    /// instead, which the server shows only if something fails; the record goes to both then.
    pub fn log_error(&self, text: &Text) {
        if !self.0.vsl.is_null() {
            // SAFETY: the context's log is valid for as long as the context; the format wants one C string.
            unsafe { vrt::VSLb(self.0.vsl, vrt::SLT_Error, FORMAT.as_ptr(), text.as_c_str().as_ptr()) };
            return;
        }
        let no_vxid = vrt::vxid_t { vxid: 0 };
        // SAFETY: the format wants one C string.
        unsafe { vrt::VSL(vrt::SLT_Error, no_vxid, FORMAT.as_ptr(), text.as_c_str().as_ptr()) };
        if !self.0.msg.is_null() {
            for bytes in [text.as_c_str().to_bytes(), b"\n"] {
                // SAFETY: the context's buffer is valid for as long as the context, and takes as many bytes as it is
                // told. If it is out of memory it remembers that itself.
                let _ = unsafe { vrt::VSB_bcat(self.0.msg, bytes.as_ptr().cast(), bytes.len() as isize) };
            }
        }
    }

    pub(super) fn as_raw(&self) -> *const vrt::vrt_ctx {
        self.0
    }
}

const FORMAT: &CStr = c"%s";
