//! Which numbers are weights.

/// `w` as a weight: a finite number that is not negative. Minus zero becomes zero. `None` for all others.
#[must_use]
pub fn checked(w: f64) -> Option<f64> {
    (w.is_finite() && w >= 0.0).then_some(w.abs())
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn finite_and_not_negative() {
        for w in [0.0, 5e-324, 1.0, f64::MAX] {
            assert_eq!(checked(w), Some(w));
        }
        for w in [-5e-324, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(checked(w), None, "{w}");
        }
        assert!(checked(-0.0).is_some_and(f64::is_sign_positive));
    }
}
