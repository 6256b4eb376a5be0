//! Every text that a user can be shown when something is wrong.
//!
//! Names are bytes: those of backends that other VMODs make need not be UTF-8.

pub mod shard;

use std::ffi::{CStr, CString};

use policy::reported::{Fault, WeightPolicy};

use crate::weighing::What;

/// A text for the log. Has no NUL and no newline.
pub struct Text(CString);

impl Text {
    /// As a C string.
    #[must_use]
    pub fn as_c_str(&self) -> &CStr {
        &self.0
    }

    fn new(mut bytes: Vec<u8>) -> Self {
        for b in &mut bytes {
            if *b == 0 || *b == b'\n' {
                *b = b'?';
            }
        }
        // No NUL is left, so that this cannot fail; an empty text is better than a panic all the same.
        Text(CString::new(bytes).unwrap_or_default())
    }
}

/// `add_backend` of the None backend. As in the bundled directors.
#[must_use]
pub fn none_added(director: &CStr) -> Text {
    Text::new([director.to_bytes(), b": None backend cannot be added"].concat())
}

/// `remove_backend` of the None backend. As in the bundled directors.
#[must_use]
pub fn none_removed(director: &CStr) -> Text {
    Text::new([director.to_bytes(), b": None backend cannot be removed"].concat())
}

/// `set_weight` of the None backend.
#[must_use]
pub fn none_weighed(director: &CStr) -> Text {
    Text::new([director.to_bytes(), b": None backend cannot have a weight"].concat())
}

/// `add_backend` of the director itself.
#[must_use]
pub fn added_to_itself(director: &CStr) -> Text {
    Text::new([director.to_bytes(), b": a director cannot be added to itself"].concat())
}

/// A weight that has changed from `old` to `new`.
#[must_use]
pub fn weight_changed(director: &CStr, backend: &CStr, old: f64, new: f64, what: What) -> Text {
    let mut text = prefixed(director);
    text.extend_from_slice(b"weight of ");
    text.extend_from_slice(backend.to_bytes());
    let what = match what {
        What::Changed => "",
        What::Drained => ", drained",
        What::Undrained => ", drained no more",
        What::Expired => ", as it was not reported again",
    };
    text.extend_from_slice(format!(" {} -> {}{what}", number(old), number(new)).as_bytes());
    Text::new(text)
}

/// `weight_policy` with an argument that is none.
#[must_use]
pub fn bad_policy(director: &CStr, policy: &WeightPolicy, fault: Fault) -> Text {
    let (argument, must, value) = match fault {
        Fault::Smoothing => ("smoothing", "above 0 and at most 1", policy.smoothing),
        Fault::Ttl => ("ttl", "a duration that is not negative", policy.ttl),
        Fault::SlowStart => ("slow_start", "a duration that is not negative", policy.slow_start),
        Fault::Min => ("min", "a finite number that is not negative", policy.min),
        Fault::Max => ("max", "a finite number that is 0 or not less than min", policy.max),
        Fault::Hysteresis => ("hysteresis", "a finite number that is not negative", policy.hysteresis),
    };
    of_policy(director, &format!("{argument} must be {must}, not {}", number(value)))
}

/// `weight_policy` called again.
#[must_use]
pub fn policy_is_set(director: &CStr) -> Text {
    of_policy(director, "there is one already")
}

/// `weight_policy` with a slow start for a director that has none.
#[must_use]
pub fn no_slow_start(director: &CStr, why: &str) -> Text {
    of_policy(director, &format!("there is no slow_start, {why}"))
}

fn of_policy(director: &CStr, text: &str) -> Text {
    Text::new([&prefixed(director)[..], b"weight_policy(): ", text.as_bytes()].concat())
}

/// A weight that is negative, infinite, or no number.
#[must_use]
pub fn bad_weight(director: &CStr, backend: &CStr, weight: f64) -> Text {
    let mut text = prefixed(director);
    text.extend_from_slice(b"weight of ");
    text.extend_from_slice(backend.to_bytes());
    text.extend_from_slice(b" must be a finite number that is not negative, not ");
    text.extend_from_slice(number(weight).as_bytes());
    Text::new(text)
}

/// A number for people to read.
#[must_use]
pub fn number(x: f64) -> String {
    if x == 0.0 || (x.abs() >= 1e-3 && x.abs() < 1e15) {
        format!("{x:.3}")
    } else {
        format!("{x:e}")
    }
}

/// A `least` director with a number of choices that is none.
#[must_use]
pub fn bad_choices(director: &CStr, choices: i64) -> Text {
    let mut text = prefixed(director);
    text.extend_from_slice(format!("choices must be at least 1, not {choices}").as_bytes());
    Text::new(text)
}

/// `from_load` with a floor that is none.
#[must_use]
pub fn bad_floor(floor: f64) -> Text {
    let text =
        format!("vmod_probe_directors: from_load(): floor must be a finite number above 0, not {}", number(floor));
    Text::new(text.into_bytes())
}

/// A method of an object that there is not.
#[must_use]
pub fn not_made() -> Text {
    Text::new(b"vmod_probe_directors: an object is used that was not made, as vcl_init failed before".to_vec())
}

/// `lookup` of a string that is not set.
#[must_use]
pub fn nothing_looked_up() -> Text {
    Text::new(b"vmod_probe_directors: lookup() of a string that is not set".to_vec())
}

/// A director that is a member of itself, by way of others.
#[must_use]
pub fn director_loop(director: &CStr) -> Text {
    let mut text = prefixed(director);
    text.extend_from_slice(b"director is a member of itself, by way of other directors");
    Text::new(text)
}

/// Directors in directors, deeper than the stack is sure to hold.
#[must_use]
pub fn nested_too_deep(director: &CStr, limit: usize) -> Text {
    let mut text = prefixed(director);
    text.extend_from_slice(format!("directors are nested more than {limit} deep").as_bytes());
    Text::new(text)
}

/// Directors that contain each other, in too many ways to follow.
#[must_use]
pub fn asked_too_many(director: &CStr, limit: u32) -> Text {
    let mut text = prefixed(director);
    text.extend_from_slice(format!("more than {limit} directors were asked for one answer").as_bytes());
    Text::new(text)
}

/// The server does not let this VCL have another director.
#[must_use]
pub fn not_added(director: &CStr) -> Text {
    let mut text = prefixed(director);
    text.extend_from_slice(b"the server refused the director");
    Text::new(text)
}

fn prefixed(director: &CStr) -> Vec<u8> {
    [b"vmod_probe_directors: ", director.to_bytes(), b": "].concat()
}

#[cfg(test)]
mod tests {
    use super::bad_weight;

    fn text(weight: f64) -> String {
        bad_weight(c"rr", c"b", weight).as_c_str().to_string_lossy().into_owned()
    }

    #[test]
    fn values_can_be_read() {
        let end = |t: String| t.rsplit(' ').next().map(str::to_owned);
        assert_eq!(end(text(-1.0)).as_deref(), Some("-1.000"));
        assert_eq!(end(text(f64::NAN)).as_deref(), Some("NaN"));
        assert_eq!(end(text(f64::NEG_INFINITY)).as_deref(), Some("-inf"));
        assert_eq!(end(text(-1e300)).as_deref(), Some("-1e300"));
    }

    #[test]
    fn names_may_be_any_bytes() {
        let name = std::ffi::CString::new(vec![0xff, b'\n', b'%']).unwrap_or_default();
        let text = bad_weight(&name, c"b", -1.0);
        assert!(text.as_c_str().to_bytes().starts_with(b"vmod_probe_directors: \xff?%: weight of b must"));
    }
}
