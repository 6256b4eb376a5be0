//! Did the traffic follow the weights?

use crate::tally::shares;

/// Points of percent that measured and asked share may differ.
pub const TOLERANCE: f64 = 5.0;

pub struct Phase {
    pub title: String,
    pub weights: Vec<f64>,
    pub requests: Vec<u64>,
}

impl Phase {
    /// The largest difference of a share to the one that the weights ask for, in points.
    /// Infinite if nothing was measured: no traffic is no success.
    pub fn difference(&self) -> f64 {
        if self.requests.iter().sum::<u64>() == 0 {
            return f64::INFINITY;
        }
        let counts: Vec<f64> = self.requests.iter().map(|n| *n as f64).collect();
        shares(&counts)
            .iter()
            .zip(shares(&self.weights))
            .map(|(measured, asked)| (measured - asked).abs())
            .fold(0.0, f64::max)
    }

    pub fn holds(&self) -> bool {
        self.difference() <= TOLERANCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(weights: &[f64], requests: &[u64]) -> Phase {
        Phase { title: String::new(), weights: weights.to_vec(), requests: requests.to_vec() }
    }

    #[test]
    fn a_share_off_by_more_than_five_points_fails() {
        assert!(phase(&[2.0, 1.0, 1.0], &[500, 250, 250]).holds());
        assert!(phase(&[2.0, 1.0, 1.0], &[549, 226, 225]).holds());
        assert!(!phase(&[2.0, 1.0, 1.0], &[551, 225, 224]).holds());
    }

    #[test]
    fn no_traffic_or_no_weights_fail() {
        assert!(!phase(&[1.0, 1.0], &[0, 0]).holds());
        assert!(!phase(&[0.0, 0.0], &[10, 10]).holds());
    }
}
