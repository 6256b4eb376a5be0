//! From a load to a weight.

/// The weight of a member with this load: 1 / max(load, floor), so that members of equal speed end up equally loaded.
///
/// `floor` bounds the weight of a member that has nothing to do: it is at most 1 / floor. `None` if the load is not
/// finite or negative, or the floor is none.
#[must_use]
pub fn weight(load: f64, floor: f64) -> Option<f64> {
    let usable = load.is_finite() && load >= 0.0 && is_floor(floor);
    usable.then(|| 1.0 / load.max(floor))
}

/// Whether it is a finite number above 0, and not so small that its inverse is not finite.
#[must_use]
pub fn is_floor(floor: f64) -> bool {
    floor.is_finite() && floor > 0.0 && (1.0 / floor).is_finite()
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn inverse_of_the_load() {
        assert_eq!(weight(0.5, 0.05), Some(2.0));
        assert_eq!(weight(8.0, 0.05), Some(0.125));
    }

    #[test]
    fn the_floor_bounds_it() {
        assert_eq!(weight(0.0, 0.05), Some(20.0));
        assert_eq!(weight(0.01, 0.5), Some(2.0));
        assert_eq!(weight(f64::MAX, 0.05), Some(1.0 / f64::MAX));
    }

    #[test]
    fn nonsense_is_no_load() {
        for load in [-0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(weight(load, 0.05), None, "{load}");
        }
        for floor in [0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324] {
            assert_eq!(weight(0.0, floor), None, "{floor}");
        }
    }
}
