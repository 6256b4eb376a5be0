//! `probe_directors`: the directors of Varnish, with weights that VCL can change at run time.
//!
//! `docs/architecture.md` has the whole picture. In short, a call from VCL goes `ffi` entry point → object
//! ([`round_robin`], [`random`], [`fallback`], [`hash`], [`least`]) → [`vdir`] → `policy`, or ([`mod@shard`]) → `policy`, and the
//! server's questions about a director (is it healthy, which backend, what to list) come in through `ffi` as well.
//!
//! Balancing itself is in the crate `policy`, which knows nothing of Varnish. Everything `unsafe` is in [`ffi`].

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod error;
pub mod fallback;
pub mod ffi;
pub mod hash;
pub mod label;
pub mod least;
pub mod list;
pub mod random;
pub mod round_robin;
pub mod shard;
pub mod vdir;
pub mod weighing;
