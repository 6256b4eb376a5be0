//! The border to C: the only place with `unsafe`.
//!
//! | module | what |
//! |---|---|
//! | `vrt` | the server's C interface, made by build.rs |
//! | [`vmod`] | the one exported symbol, and the table of entry points |
//! | [`entry`] | what VCL calls: check, convert, delegate |
//! | [`director`] | what the server calls: the director's vtable, and its life |
//! | [`backend`], [`ctx`], [`vsb`] | the server's types, as safe ones |
//! | [`snapshot`] | immutable states that readers take without a lock |
//! | [`nesting`] | directors in directors, bounded |
//! | [`draw`] | random numbers |
//! | [`mod@panic`] | a Rust panic becomes one of the server |

#![allow(unsafe_code)]

pub mod backend;
pub mod ctx;
pub mod director;
pub mod draw;
pub mod entry;
pub mod nesting;
pub mod panic;
pub mod snapshot;
pub mod vmod;
pub mod vsb;

#[allow(dead_code, missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals, clippy::all)]
mod vrt {
    include!(concat!(env!("OUT_DIR"), "/vrt.rs"));
}

pub use backend::{Backend, Member};
pub use ctx::Ctx;
pub use director::{Director, Keyed};
pub use vsb::Vsb;
