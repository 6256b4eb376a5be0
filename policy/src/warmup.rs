//! Whether the next backend on the ring gets a request in place of the one that it belongs to.

/// One of the two backends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Seconds since its health changed.
    pub age: f64,
    /// For how many seconds after a change it ramps up.
    pub rampup: f64,
}

impl Candidate {
    /// Whether it got healthy a short time ago.
    #[inline]
    fn ramps_up(&self) -> bool {
        self.age < self.rampup
    }
}

/// Whether the alternative backend gets the request. Both are healthy.
///
/// - While the chosen one ramps up, and the alternative does not, the chosen one has a part of its requests that
///   grows with its age.
/// - While it does not, the alternative has a part `warmup` of them.
///
/// `draw` gives a number from 0 up to 1; it is called at most once, and only where chance decides, so that with the
/// same numbers the results are those of the bundled directors.
#[inline]
pub fn is_alternative(
    chosen: Candidate,
    alternative: Candidate,
    rampup: bool,
    warmup: f64,
    draw: impl FnOnce() -> f64,
) -> bool {
    if chosen.ramps_up() {
        rampup && !alternative.ramps_up() && draw() * chosen.rampup >= chosen.age
    } else {
        warmup != 0.0 && draw() <= warmup
    }
}
