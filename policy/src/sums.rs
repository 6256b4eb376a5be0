//! Running sums of weights, and the member at a point of them.

/// The running sums of a list of weights.
///
/// They are added up from the first member to the last, as the bundled `directors` VMOD does: floating point sums
/// depend on the order, and the same draw has to give the same member.
#[derive(Debug, Clone)]
pub struct Sums {
    /// The sum of the weights up to and including this member, times a power of two where that is needed.
    upto: Box<[f64]>,
}

/// Scale of sums that would be infinite: 2^-100. Enough for 2^100 members.
const DOWN: f64 = 7.888609052210118e-31;
/// Scale of sums so small that a product with the draw loses bits: 2^200.
const UP: f64 = 1.6069380442589903e60;
/// Sums below this are scaled up: about 2^-900.
const SMALL: f64 = 1e-270;

impl Sums {
    /// The sums of `weights`, all of which are valid weights.
    #[must_use]
    pub fn new(weights: &[f64]) -> Self {
        let mut sums = Self::scaled(weights, 1.0);
        let total = sums.total();
        if total.is_infinite() {
            sums = Self::scaled(weights, DOWN);
        } else if total > 0.0 && total < SMALL {
            sums = Self::scaled(weights, UP);
        }
        sums
    }

    fn scaled(weights: &[f64], scale: f64) -> Self {
        let mut sum = 0.0;
        let upto = weights
            .iter()
            .map(|w| {
                sum += w * scale;
                sum
            })
            .collect();
        Sums { upto }
    }

    /// The sum of all weights, possibly scaled: only good to be compared with zero. Always finite.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.upto.last().copied().unwrap_or(0.0)
    }

    /// The member at the fraction `r` of the total: the first one whose running sum is *greater* than `r` times the
    /// total, so that a member without weight is never found. `None` if no member has weight.
    ///
    /// `r` is at least 0 and less than 1.
    #[must_use]
    pub fn find(&self, r: f64) -> Option<usize> {
        let total = self.total();
        if total <= 0.0 {
            return None;
        }
        let point = r * total;
        let found = self.upto.partition_point(|upto| *upto <= point);
        if found < self.upto.len() {
            return Some(found);
        }
        // `r * total` was rounded up to the total. It belongs to the last member that has weight.
        Some(self.upto.partition_point(|upto| *upto < total))
    }
}

#[cfg(test)]
mod tests {
    use super::Sums;

    #[test]
    fn nothing_to_find() {
        assert_eq!(Sums::new(&[]).find(0.0), None);
        assert_eq!(Sums::new(&[0.0, 0.0]).find(0.5), None);
    }

    #[test]
    fn borders_belong_to_the_next_member() {
        let sums = Sums::new(&[1.0, 0.0, 1.0, 2.0]);
        assert_eq!(sums.find(0.0), Some(0));
        assert_eq!(sums.find(0.249), Some(0));
        assert_eq!(sums.find(0.25), Some(2));
        assert_eq!(sums.find(0.5), Some(3));
        assert_eq!(sums.find(1.0 - f64::EPSILON / 2.0), Some(3));
    }

    #[test]
    fn sums_do_not_overflow() {
        let sums = Sums::new(&[f64::MAX, f64::MAX, f64::MAX, f64::MAX]);
        assert!(sums.total().is_finite());
        let got: Vec<_> = [0.1, 0.3, 0.6, 0.9].iter().map(|r| sums.find(*r)).collect();
        assert_eq!(got, [Some(0), Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn the_smallest_weights_are_told_apart() {
        let sums = Sums::new(&[5e-324, 5e-324, 0.0]);
        assert_eq!(sums.find(0.4), Some(0));
        assert_eq!(sums.find(0.6), Some(1));
        assert_eq!(sums.find(1.0 - f64::EPSILON / 2.0), Some(1));
    }
}
