//! The border to C: the only place with `unsafe`.
//!
//! | module | what |
//! |---|---|
//! | `vrt` | the server's C interface, made by build.rs |
//! | [`vmod`] | the one exported symbol, and the table of entry points |
//! | [`entry`] | what VCL calls: check, convert, delegate |
//! | [`shard`], [`shard_param`], [`enums`] | the same for shard directors, whose methods have arguments of all kinds |
//! | [`director`] | what the server calls: the director's vtable, and its life |
//! | [`backend`], [`ctx`], [`vsb`] | the server's types, as safe ones |
//! | [`task`] | values that live as long as a task of VCL |
//! | [`snapshot`] | immutable states that readers take without a lock |
//! | [`statistics`] | what `varnishstat` shows of members |
//! | [`nesting`] | directors in directors, bounded |
//! | [`draw`] | random numbers |
//! | [`mod@panic`] | a Rust panic becomes one of the server |

#![allow(unsafe_code)]

pub mod backend;
pub mod ctx;
pub mod director;
pub mod draw;
pub mod entry;
pub mod enums;
pub mod in_flight;
pub mod nesting;
pub mod panic;
pub mod report;
pub mod shard;
pub mod shard_param;
pub mod snapshot;
pub mod statistics;
#[cfg(all(test, not(loom)))]
mod stress;
pub mod task;
pub mod vmod;
pub mod vsb;

#[allow(dead_code, missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals, clippy::all)]
#[allow(clippy::undocumented_unsafe_blocks)]
mod vrt {
    include!(concat!(env!("OUT_DIR"), "/vrt.rs"));
}

pub use backend::{Backend, Member};
pub use ctx::{Ctx, Task};
pub use director::{Director, Keyed, Kind};
pub use statistics::{Slot, Statistics};
pub use vsb::Vsb;
