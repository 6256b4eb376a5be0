//! What members are called in statistics.

use std::collections::BTreeMap;

/// Bytes of a name that are kept. Other VMODs can name backends as they like.
const LONGEST: usize = 128;

/// The labels that are in use in a director. No two are the same.
#[derive(Default)]
pub struct Labels(BTreeMap<Vec<u8>, u32>);

impl Labels {
    /// That a member has this label.
    pub fn used(&mut self, label: &[u8]) {
        self.0.entry(label.to_vec()).or_insert(1);
    }

    /// A label for a member of this name, which it is then in use for: the name, with `#2` or a higher number if others
    /// have that.
    pub fn take(&mut self, name: &[u8]) -> Vec<u8> {
        let label = printable(name);
        let Some(mut number) = self.0.get(&label).copied() else {
            self.used(&label);
            return label;
        };
        loop {
            number = number.saturating_add(1);
            let numbered = [&label[..], format!("#{number}").as_bytes()].concat();
            if !self.0.contains_key(&numbered) {
                self.used(&numbered);
                self.0.insert(label, number);
                return numbered;
            }
        }
    }
}

/// A name with `_` for each byte that would not come through: lines of the index of shared memory are words between
/// blanks, in which quotes and backslashes have a meaning, and `varnishstat` writes names as they are into JSON and XML.
fn printable(name: &[u8]) -> Vec<u8> {
    let kept = |b: u8| if b.is_ascii_graphic() && !b"\"\\<>&".contains(&b) { b } else { b'_' };
    match name {
        [] => b"_".to_vec(),
        _ => name.iter().take(LONGEST).map(|b| kept(*b)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{printable, Labels, LONGEST};

    #[test]
    fn no_two_are_the_same() {
        let mut labels = Labels::default();
        labels.used(b"b#2");
        let mut take = |name: &str| String::from_utf8_lossy(&labels.take(name.as_bytes())).into_owned();
        assert_eq!(["a", "b", "b", "b", "b#2", "a"].map(&mut take), ["a", "b", "b#3", "b#4", "b#2#2", "a#2"]);
    }

    #[test]
    fn what_would_not_come_through() {
        assert_eq!(printable(b"web.example:80 (192.0.2.1)"), b"web.example:80_(192.0.2.1)");
        assert_eq!(printable(b"\t\n\x00\x7f\xff\"\\<&>[::1]"), b"__________[::1]");
        assert_eq!(printable(b""), b"_");
        assert_eq!(printable(&[b'x'; 1000]), [b'x'; LONGEST]);
    }
}
