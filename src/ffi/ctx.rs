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
    #[inline]
    pub(super) unsafe fn from_raw(raw: *const vrt::vrt_ctx) -> Self {
        // SAFETY: the server passes a valid context for the time of the call.
        let ctx = unsafe { raw.as_ref() };
        match ctx {
            Some(ctx) if ctx.magic == vrt::VRT_CTX_MAGIC => Ctx(ctx),
            _ => panic!("not a context"),
        }
    }

    /// Whether a backend is healthy now.
    #[inline]
    pub fn healthy(&self, backend: Backend<'_>) -> bool {
        // SAFETY: context and backend are alive; the server allows no time to be asked for.
        unsafe { vrt::VRT_Healthy(self.0, backend.as_raw(), std::ptr::null_mut()) != 0 }
    }

    /// Whether a backend is healthy now, and when that changed last (0 if it does not say).
    #[inline]
    pub fn health(&self, backend: Backend<'_>) -> (bool, f64) {
        let mut changed = 0.0;
        // SAFETY: context and backend are alive, and `changed` is ours.
        let healthy = unsafe { vrt::VRT_Healthy(self.0, backend.as_raw(), &mut changed) != 0 };
        (healthy, changed)
    }

    /// Follows directors until there is a backend that is none; see [`Member::resolve`](super::Member::resolve).
    pub(super) fn resolve(&self, backend: Backend<'_>) -> Option<vrt::VCL_BACKEND> {
        // SAFETY: context and backend are alive.
        let resolved = unsafe { vrt::VRT_DirectorResolve(self.0, backend.as_raw()) };
        (!resolved.is_null()).then_some(resolved)
    }

    /// Fails the VCL: a mistake of its author.
    #[cold]
    pub fn fail(&self, text: &Text) {
        // SAFETY: the format wants one C string.
        unsafe { vrt::VRT_fail(self.0, FORMAT.as_ptr(), text.as_c_str().as_ptr()) };
    }

    /// Writes an Error record, and goes on.
    ///
    /// The record goes to the log of the task if there is one. While VCL is initialised there is a buffer for the CLI
    /// instead, which the server shows only if something fails; the record goes to both then.
    #[cold]
    pub fn log_error(&self, text: &Text) {
        if !self.0.vsl.is_null() {
            // SAFETY: the context's log is valid for as long as the context; the format wants one C string.
            unsafe { vrt::VSLb(self.0.vsl, vrt::SLT_Error, FORMAT.as_ptr(), text.as_c_str().as_ptr()) };
            return;
        }
        log_without_task(vrt::SLT_Error, text);
        if !self.0.msg.is_null() {
            for bytes in [text.as_c_str().to_bytes(), b"\n"] {
                // SAFETY: the context's buffer is valid for as long as the context, and takes as many bytes as it is
                // told. If it is out of memory it remembers that itself.
                let _ = unsafe { vrt::VSB_bcat(self.0.msg, bytes.as_ptr().cast(), bytes.len() as isize) };
            }
        }
    }

    /// Writes a Notice record.
    pub fn log_notice(&self, text: &Text) {
        if self.0.vsl.is_null() {
            log_without_task(vrt::SLT_Notice, text);
        } else {
            // SAFETY: the context's log is valid for as long as the context; the format wants one C string.
            unsafe { vrt::VSLb(self.0.vsl, vrt::SLT_Notice, FORMAT.as_ptr(), text.as_c_str().as_ptr()) };
        }
    }

    /// Writes a Debug record that belongs to no task.
    pub fn log_debug(&self, text: &Text) {
        log_without_task(vrt::SLT_Debug, text);
    }

    /// The time at which the current step of the task began, in seconds since the epoch.
    #[inline]
    pub fn now(&self) -> f64 {
        self.0.now
    }

    /// The name of the VCL that calls.
    pub(super) fn vcl_name(&self) -> &'a CStr {
        // SAFETY: a call that makes an object has a VCL, which has a name and outlives the call.
        unsafe { CStr::from_ptr(vrt::VCL_Name(self.0.vcl)) }
    }

    /// What kind of task calls.
    #[inline]
    pub fn task(&self) -> Task {
        let backend = vrt::VCL_MET_TASK_B | vrt::VCL_MET_PIPE;
        match self.0.method {
            0 => Task::None,
            m if m & backend != 0 => Task::Backend,
            m if m & vrt::VCL_MET_TASK_C != 0 => Task::Client,
            m if m & vrt::VCL_MET_TASK_H != 0 => Task::Housekeeping,
            _ => Task::Other,
        }
    }

    /// Whether there is a request to a backend.
    pub fn has_backend_request(&self) -> bool {
        !self.0.bo.is_null()
    }

    /// The first four bytes of the hash of the object, big-endian. `None` if there is no request to a backend.
    pub fn hash(&self) -> Option<u32> {
        // SAFETY: null, or the request of this task, valid for as long as the context.
        let request = unsafe { self.0.bo.as_ref() }?;
        assert_eq!(request.magic, vrt::BUSYOBJ_MAGIC, "not a request to a backend");
        request.digest.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
    }

    /// The URL of the request, `req` before `bereq`. `None` if there is no request.
    pub fn url(&self) -> Option<&'a [u8]> {
        let http = if self.0.http_req.is_null() { self.0.http_bereq } else { self.0.http_req };
        // SAFETY: null, or headers of this task, valid for as long as the context.
        let http = unsafe { http.as_ref() }?;
        assert_eq!(http.magic, vrt::HTTP_MAGIC, "not headers");
        // SAFETY: there is always room for the lines before the first header.
        let url = unsafe { (*http.hd.add(vrt::HTTP_HDR_URL as usize)).b };
        // SAFETY: null, or a C string.
        Some(if url.is_null() { b"" } else { unsafe { CStr::from_ptr(url) }.to_bytes() })
    }

    pub(super) fn as_raw(&self) -> *const vrt::vrt_ctx {
        self.0
    }
}

/// Kinds of tasks, by what may be done in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// `vcl_init` and `vcl_fini`.
    Housekeeping,
    /// A request of a client, but not `vcl_pipe`.
    Client,
    /// A request to a backend, and `vcl_pipe`.
    Backend,
    /// Another one that runs VCL, such as a probe.
    Other,
    /// The server calls, not VCL.
    None,
}

fn log_without_task(tag: vrt::VSL_tag_e, text: &Text) {
    let no_vxid = vrt::vxid_t { vxid: 0 };
    // SAFETY: the format wants one C string.
    unsafe { vrt::VSL(tag, no_vxid, FORMAT.as_ptr(), text.as_c_str().as_ptr()) };
}

const FORMAT: &CStr = c"%s";
