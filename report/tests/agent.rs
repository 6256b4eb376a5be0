//! Replies to an agent check: whatever comes, the answer is a weight or none.

use proptest::prelude::*;
use report::agent::weight;

proptest! {
    #[test]
    fn any_bytes_do(reply in proptest::collection::vec(any::<u8>(), 0..100), base in any::<f64>()) {
        let found = weight(&reply, base);
        prop_assert!(found.is_none_or(|w| w.is_finite() && w >= 0.0));
    }

    /// Against a reading of the rules that looks for the last word of each kind.
    #[test]
    fn the_last_of_each_kind(words in proptest::collection::vec(
        prop_oneof![Just("up"), Just("DOWN"), Just("failed"), Just("ready"), Just("Drain"), Just("maint"), Just("50%"),
                    Just("200%"), Just("weight:3"), Just("maxconn:7")], 1..8)) {
        let last = |kind: &[&str]| words.iter().rev().find(|w| kind.contains(w)).copied();
        let expected = match (last(&["up", "DOWN", "failed"]), last(&["ready", "Drain", "maint"])) {
            (Some("DOWN" | "failed"), _) | (_, Some("Drain" | "maint")) => 0.0,
            _ => match last(&["50%", "200%", "weight:3"]) {
                Some("50%") => 0.5,
                Some("200%") => 2.0,
                Some(_) => 3.0,
                None => 1.0,
            },
        };
        prop_assert_eq!(weight(words.join(" ").as_bytes(), 1.0), Some(expected));
    }
}
