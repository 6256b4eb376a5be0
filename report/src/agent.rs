//! Replies to HAProxy's agent check.
//!
//! A reply is a line of words, separated by blanks, tabs and commas, in capitals or not. There are three kinds of them:
//!
//! | kind | words |
//! |---|---|
//! | weight | `75%` of the base weight; `weight:75%`, the same; `weight:3`, a weight as such |
//! | service | `up`; `down`, `fail`, `failed`, `stopped` |
//! | administration | `ready`; `drain`, `maint` |
//!
//! Of each kind the last word counts. `maxconn:` and a number may be there, too, and says nothing about the weight.
//! From `#` to the end there is text for people.

use crate::number;

/// The weight that a reply asks for: 0 if the member is to get no new requests, else its share of `base`, or `base` if
/// the reply does not say. `None` if the reply is empty or has anything in it that is none of the words, or if the
/// weight is not finite or negative.
#[must_use]
pub fn weight(reply: &[u8], base: f64) -> Option<f64> {
    let line = reply.split(|b| *b == b'#').next().unwrap_or_default();
    let words = line.split(|b| matches!(b, b' ' | b'\t' | b',' | b'\r' | b'\n')).filter(|word| !word.is_empty());
    let mut said = None;
    let (mut weight, mut serves, mut wanted) = (base, true, true);
    for word in words.map(<[u8]>::to_ascii_lowercase) {
        match word.as_slice() {
            b"up" => serves = true,
            b"down" | b"fail" | b"failed" | b"stopped" => serves = false,
            b"ready" => wanted = true,
            b"drain" | b"maint" => wanted = false,
            other => {
                if let Some(limit) = other.strip_prefix(b"maxconn:") {
                    limit.iter().all(u8::is_ascii_digit).then_some(limit.first()?)?;
                } else {
                    weight = share(other, base)?;
                }
            }
        }
        said = Some(());
    }
    said?;
    let weight = if serves && wanted { weight } else { 0.0 };
    (weight.is_finite() && weight >= 0.0).then_some(weight)
}

/// `75%`, `weight:75%` or `weight:3`
fn share(word: &[u8], base: f64) -> Option<f64> {
    let (number_text, absolute) = match word.strip_prefix(b"weight:") {
        Some(rest) => (rest, !rest.ends_with(b"%")),
        None => (word, false),
    };
    let weight =
        if absolute { number(number_text)? } else { base * (number(number_text.strip_suffix(b"%")?)? / 100.0) };
    (weight.is_finite() && weight >= 0.0).then_some(weight.abs())
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn words() {
        for (reply, expected) in [
            ("75%", 1.5),
            ("75%\r\n", 1.5),
            ("150%", 3.0),
            ("12.5%", 0.25),
            ("0%", 0.0),
            ("weight:75%", 1.5),
            ("weight:3", 3.0),
            ("weight:0.5", 0.5),
            ("up", 2.0),
            ("UP 50%", 1.0),
            ("50% up", 1.0),
            ("up,ready,50%", 1.0),
            ("up\tready", 2.0),
            ("down", 0.0),
            ("down 100%", 0.0),
            ("stopped", 0.0),
            ("failed", 0.0),
            ("fail", 0.0),
            ("drain", 0.0),
            ("maint", 0.0),
            ("ready", 2.0),
            ("maxconn:30", 2.0),
            ("maxconn:30 50%", 1.0),
            ("down # disk is full, 100%", 0.0),
            ("50%#x", 1.0),
        ] {
            assert_eq!(weight(reply.as_bytes(), 2.0), Some(expected), "{reply:?}");
        }
    }

    #[test]
    fn the_last_of_a_kind_counts() {
        for (reply, expected) in [
            ("10% 50%", 1.0),
            ("down up", 2.0),
            ("up down", 0.0),
            ("drain ready", 2.0),
            ("ready maint", 0.0),
            ("weight:9 50%", 1.0),
            // Of different kinds: each has a say
            ("drain up", 0.0),
            ("down ready", 0.0),
        ] {
            assert_eq!(weight(reply.as_bytes(), 2.0), Some(expected), "{reply:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for reply in [
            "",
            " ",
            "\r\n",
            "#",
            "# up",
            "75",
            "%",
            "75%%",
            "75%x",
            "x75%",
            "-5%",
            "nan%",
            "inf%",
            "1e999%",
            "up!",
            "upward",
            "weight:",
            "weight:%",
            "weight:-1",
            "weight:nan",
            "maxconn:",
            "maxconn:x",
            "maxconn:-1",
            "up\0",
            "75% and more",
            "\u{fc}p",
            "up;down",
            "HTTP/1.1 200 OK",
        ] {
            assert_eq!(weight(reply.as_bytes(), 2.0), None, "{reply:?}");
        }
        assert_eq!(weight(b"\xff\xfe", 2.0), None);
        assert_eq!(weight(b"75\xff%", 2.0), None);
    }

    #[test]
    fn a_base_that_is_no_weight_gives_none() {
        for base in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(weight(b"50%", base), None, "{base}");
        }
        assert_eq!(weight(b"100000%", f64::MAX), None);
    }
}
