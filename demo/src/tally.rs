//! Which backend answered how many requests, over a sliding window of time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

pub struct Tally {
    answers: VecDeque<(Instant, usize)>,
    /// The last weight that the server told, per backend.
    pub weights: Vec<f64>,
    pub failures: u64,
    keep: Duration,
}

impl Tally {
    pub fn new(backends: usize, keep: Duration) -> Tally {
        Tally { answers: VecDeque::new(), weights: vec![f64::NAN; backends], failures: 0, keep }
    }

    pub fn add(&mut self, now: Instant, backend: usize) {
        self.answers.push_back((now, backend));
        while let Some(&(then, _)) = self.answers.front() {
            if now.duration_since(then) <= self.keep {
                break;
            }
            self.answers.pop_front();
        }
    }

    /// Requests per backend since `start`, which must not be longer ago than the time kept.
    pub fn since(&self, start: Instant) -> Vec<u64> {
        let mut counts = vec![0; self.weights.len()];
        for &(_, backend) in self.answers.iter().rev().take_while(|(t, _)| *t >= start) {
            counts[backend] += 1;
        }
        counts
    }
}

/// Parts of a whole in percent; all zero if there is nothing.
pub fn shares(parts: &[f64]) -> Vec<f64> {
    let sum: f64 = parts.iter().sum();
    parts.iter().map(|part| if sum > 0.0 { part / sum * 100.0 } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_slides() {
        let mut tally = Tally::new(2, Duration::from_secs(10));
        let start = Instant::now();
        for second in 0..20 {
            tally.add(start + Duration::from_secs(second), (second % 2) as usize);
        }
        assert_eq!(tally.since(start + Duration::from_secs(16)), [2, 2]);
        // Older ones are gone: seconds 9 to 19 are kept
        assert_eq!(tally.since(start), [5, 6]);
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(shares(&[2.0, 1.0, 1.0]), [50.0, 25.0, 25.0]);
        assert_eq!(shares(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
