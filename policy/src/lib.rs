//! The balancing algorithms of `probe_directors`.
//!
//! Nothing in here knows Varnish, reads a clock, draws a random number or takes a lock: health, weights and the draw
//! are arguments. Members are known by their position, 0 being the one that was added first.
//!
//! | module | what |
//! |---|---|
//! | [`weight`] | which numbers are weights |
//! | [`sums`] | running sums of weights, and the member at a point of them |
//! | [`splitmix`] | numbers that look random, from any number |
//! | [`stride`] | the weighted rotation: which member a sequence number stands for |
//! | [`cursor`] | the sequence number itself, and how it survives a change of members |
//! | [`round_robin`], [`random`], [`fallback`], [`hash`], [`least`] | a pick, sick members included |
//! | [`reported`] | from the weights that are reported to the one that counts |
//! | [`ring`] | consistent hashing: which points of the ring are whose, and where a key is |
//! | [`shard`], [`warmup`] | a pick from the ring, and whether the next one on it gets the request instead |

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cursor;
pub mod fallback;
pub mod hash;
pub mod least;
pub mod random;
pub mod reported;
pub mod ring;
pub mod round_robin;
pub mod shard;
pub mod splitmix;
pub mod stride;
pub mod sums;
pub mod warmup;
pub mod weight;

pub use fallback::Fallback;
pub use hash::Hash;
pub use least::Least;
pub use random::Random;
pub use round_robin::RoundRobin;

/// What a director derives from its weights, so that a pick need not look at all of them.
///
/// A plan is immutable. A change of weights or members makes a new one from the old one, which is how a plan that has
/// a position in a sequence hands it on.
pub trait Plan: Sized {
    /// The plan of a director that has no members yet.
    fn empty() -> Self;
    /// The plan after members were added or removed. `weights` has one valid weight per member.
    fn with_members(&self, weights: &[f64]) -> Self;
    /// The plan after the member at `place` was removed. For plans that go by the place of a member.
    fn without(&self, _place: usize, weights: &[f64]) -> Self {
        self.with_members(weights)
    }
    /// The plan for the same members with other weights.
    fn with_weights(&self, weights: &[f64]) -> Self;
}
