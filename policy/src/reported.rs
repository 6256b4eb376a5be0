//! The weight policy: from the weights that are reported to the one that counts.
//!
//! Time is an argument, in seconds on any clock.

/// What a director does with the weights that it is told. The default takes each as it is, for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightPolicy {
    /// The share of a new value in the exponential average, above 0 and up to 1.
    pub smoothing: f64,
    /// Seconds after which a weight that was not reported again returns to the base weight; 0 is never.
    pub ttl: f64,
    /// Seconds in which a member that turns healthy gets its full weight, see [`ramp`]; 0 is at once.
    pub slow_start: f64,
    /// The least weight but for 0; 0 is none.
    pub min: f64,
    /// The largest weight; 0 is none.
    pub max: f64,
    /// The relative change below which the weight stays as it is.
    pub hysteresis: f64,
}

impl Default for WeightPolicy {
    fn default() -> Self {
        WeightPolicy { smoothing: 1.0, ttl: 0.0, slow_start: 0.0, min: 0.0, max: 0.0, hysteresis: 0.0 }
    }
}

impl WeightPolicy {
    /// What is wrong with it, if anything.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        if !(self.smoothing > 0.0 && self.smoothing <= 1.0) {
            return Some(Fault::Smoothing);
        }
        if !not_negative(self.ttl) {
            return Some(Fault::Ttl);
        }
        if !not_negative(self.slow_start) {
            return Some(Fault::SlowStart);
        }
        if !not_negative(self.min) {
            return Some(Fault::Min);
        }
        if !not_negative(self.max) || (self.max > 0.0 && self.max < self.min) {
            return Some(Fault::Max);
        }
        (!not_negative(self.hysteresis)).then_some(Fault::Hysteresis)
    }

    fn clamp(&self, weight: f64) -> f64 {
        let weight = weight.max(self.min);
        if self.max > 0.0 {
            weight.min(self.max)
        } else {
            weight
        }
    }
}

/// The part of a policy that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not above 0 and up to 1.
    Smoothing,
    /// Negative or not finite, as in all that follow.
    Ttl,
    /// As above.
    SlowStart,
    /// As above.
    Min,
    /// As above, or less than the least weight.
    Max,
    /// As above.
    Hysteresis,
}

/// The weight of a member, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    base: f64,
    weight: f64,
    /// None before the first report and when that has expired.
    last: Option<Last>,
    expired: bool,
}

/// The last report, and what came before.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Last {
    value: f64,
    average: f64,
    time: f64,
}

/// What makes a weight differ from the one that was reported last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The average of reports.
    Smoothing,
    /// The least weight.
    Min,
    /// The largest weight.
    Max,
    /// The change was too small.
    Hysteresis,
    /// The report is too old.
    Ttl,
}

impl Reported {
    /// A member that nothing was reported of. `base` is a valid weight, and is not subject to the policy.
    #[must_use]
    pub fn new(base: f64) -> Self {
        Reported { base, weight: base, last: None, expired: false }
    }

    /// The weight that counts.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The weight without reports.
    #[must_use]
    pub fn base(&self) -> f64 {
        self.base
    }

    /// Takes the report of `value`, a valid weight, at `now`.
    ///
    /// 0 drains at once, and the next report after it is taken whole, as the first one is.
    pub fn report(&mut self, policy: &WeightPolicy, value: f64, now: f64) {
        let (average, time) = match self.last {
            // Rounding may take the average of the largest numbers over what a number can hold, that of the smallest to 0
            Some(last) if last.average > 0.0 && value > 0.0 => {
                let average = (1.0 - policy.smoothing) * last.average + policy.smoothing * value;
                (average.clamp(f64::from_bits(1), f64::MAX), now.max(last.time))
            }
            Some(last) => (value, now.max(last.time)),
            None => (value, now),
        };
        self.last = Some(Last { value, average, time });
        self.expired = false;
        let weight = if average > 0.0 { policy.clamp(average) } else { 0.0 };
        let drain = (weight == 0.0) != (self.weight == 0.0);
        if drain || (weight - self.weight).abs() >= policy.hysteresis * self.weight {
            self.weight = weight;
        }
    }

    /// When the weight returns to the base weight if nothing is reported until then.
    #[must_use]
    pub fn expiry(&self, policy: &WeightPolicy) -> Option<f64> {
        let last = self.last?;
        (policy.ttl > 0.0).then_some(last.time + policy.ttl)
    }

    /// Returns to the base weight if it is time. Whether it did.
    pub fn expire(&mut self, policy: &WeightPolicy, now: f64) -> bool {
        let expired = self.expiry(policy).is_some_and(|at| at <= now);
        if expired {
            *self = Reported { expired, ..Reported::new(self.base) };
        }
        expired
    }

    /// Why the weight is not the one that was reported last.
    pub fn effects(&self, policy: &WeightPolicy) -> impl Iterator<Item = Effect> {
        let (mut smoothing, mut min, mut max, mut hysteresis) = (false, false, false, false);
        if let Some(last) = self.last {
            let clamped = if last.average > 0.0 { policy.clamp(last.average) } else { 0.0 };
            smoothing = last.average != last.value;
            min = clamped > last.average;
            max = clamped < last.average;
            hysteresis = self.weight != clamped;
        }
        [
            (smoothing, Effect::Smoothing),
            (min, Effect::Min),
            (max, Effect::Max),
            (hysteresis, Effect::Hysteresis),
            (self.expired, Effect::Ttl),
        ]
        .into_iter()
        .filter_map(|(is, effect)| is.then_some(effect))
    }
}

/// The part of its weight that a member has which has been healthy for `age` seconds: it rises from a tenth to all of
/// it in `slow_start` seconds, in proportion to the time.
#[must_use]
pub fn ramp(age: f64, slow_start: f64) -> f64 {
    if slow_start > 0.0 && age < slow_start {
        0.1 + 0.9 * (age.max(0.0) / slow_start)
    } else {
        1.0
    }
}
