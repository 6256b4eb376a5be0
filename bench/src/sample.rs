//! A handful of measurements of the same thing.

use std::fmt;

/// The median, and the quartiles as the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Sample {
    /// Of at least one value.
    pub fn of(mut values: Vec<f64>) -> Sample {
        values.sort_by(f64::total_cmp);
        Sample { low: quantile(&values, 0.25), median: quantile(&values, 0.5), high: quantile(&values, 0.75) }
    }
}

/// The value at this part of a sorted list that is not empty; between two values, in proportion.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

impl fmt::Display for Sample {
    /// Three significant digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}..{})", digits(self.median), digits(self.low), digits(self.high))
    }
}

/// With three significant digits, but whole numbers whole.
pub fn digits(x: f64) -> String {
    let before = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    let decimals = (2 - before).clamp(0, 6) as usize;
    format!("{x:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles() {
        let sample = Sample::of(vec![5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!(sample, Sample { low: 2.0, median: 3.0, high: 4.0 });
        assert_eq!(Sample::of(vec![1.0, 2.0]).median, 1.5);
    }

    #[test]
    fn three_digits() {
        assert_eq!([digits(1234.5), digits(12.345), digits(0.012345), digits(0.0)], ["1234", "12.3", "0.0123", "0.00"]);
    }
}
