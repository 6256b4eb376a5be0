//! What the server's process holds on to.

use std::fs;
use std::io;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// Resident and data size in kB.
    pub rss: u64,
    pub data: u64,
    pub descriptors: u64,
}

impl Holds {
    pub fn of(pid: u32) -> io::Result<Holds> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let kb = |name| field(&status, name).ok_or_else(|| io::Error::other(format!("no {name} of {pid}")));
        Ok(Holds {
            rss: kb("VmRSS:")?,
            data: kb("VmData:")?,
            descriptors: fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64,
        })
    }
}

/// The median of each, of several.
pub fn median(holds: &[Holds]) -> Holds {
    let of = |field: fn(&Holds) -> u64| {
        let mut values: Vec<u64> = holds.iter().map(field).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or(0)
    };
    Holds { rss: of(|h| h.rss), data: of(|h| h.data), descriptors: of(|h| h.descriptors) }
}

fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_several() {
        let status = "VmPeak:\t  10 kB\nVmRSS:\t  4711 kB\nRssAnon:\t 12 kB\n";
        assert_eq!(field(status, "VmRSS:"), Some(4711));
        assert_eq!(field(status, "VmData:"), None);
    }

    #[test]
    fn a_median_of_each_field() {
        let holds =
            [(5, 1, 9), (7, 2, 9), (6, 900, 8)].map(|(rss, data, descriptors)| Holds { rss, data, descriptors });
        assert_eq!(median(&holds), Holds { rss: 6, data: 2, descriptors: 9 });
        assert_eq!(median(&[]), Holds::default());
    }
}
