//! The format `TEXT`.

use super::{number, Wanted, MAPS};

/// `None` if the report is refused.
pub(super) fn read(report: &[u8], wanted: &mut Wanted<'_>) -> Option<()> {
    for entry in report.split(|b| *b == b',').map(<[u8]>::trim_ascii) {
        // In a name there is neither
        let at = entry.iter().position(|b| matches!(b, b'=' | b':'))?;
        let (name, rest) = entry.split_at(at);
        let name = name.trim_ascii();
        let value = number(rest.get(1..)?.trim_ascii())?;
        let nameless = MAPS.iter().any(|(map, _)| name.strip_prefix(map.as_bytes()) == Some(b"."));
        if name.is_empty() || nameless {
            return None;
        }
        wanted.take(name.to_vec(), value)?;
    }
    Some(())
}
