//! As much HTTP/1.1 as is spoken here: one head, then a body of known length.

use std::io::{self, Read};

/// A head longer than this is not one of ours.
const HEAD_MAX: usize = 16 * 1024;

/// The first line and the header lines, without line ends.
pub struct Head {
    lines: Vec<String>,
    /// Bytes read behind the head.
    pub rest: usize,
}

impl Head {
    /// Reads up to the empty line; `None` if the other side closed before the first byte.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Head>> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let got = from.read(&mut chunk)?;
            if got == 0 && bytes.is_empty() {
                return Ok(None);
            }
            if got == 0 || bytes.len() > HEAD_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            bytes.extend_from_slice(&chunk[..got]);
            if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
                let text = String::from_utf8_lossy(&bytes[..end]);
                return Ok(Some(Head {
                    lines: text.split("\r\n").map(str::to_owned).collect(),
                    rest: bytes.len() - end - 4,
                }));
            }
        }
    }

    /// The second word of the first line: a request's target, a response's status.
    pub fn second_word(&self) -> &str {
        self.lines[0].split(' ').nth(1).unwrap_or("")
    }

    /// The value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.lines[1..].iter().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_with_the_start_of_its_body() {
        let mut bytes = &b"HTTP/1.1 200 OK\r\nX-Origin: a\r\ncontent-length: 3\r\n\r\nab"[..];
        let head = Head::read(&mut bytes).unwrap().unwrap();
        assert_eq!(head.second_word(), "200");
        assert_eq!(head.header("x-origin"), Some("a"));
        assert_eq!(head.header("X-Other"), None);
        assert_eq!(head.rest, 2);
    }

    #[test]
    fn a_closed_connection_is_no_error_but_half_a_head_is() {
        assert!(Head::read(&mut &b""[..]).unwrap().is_none());
        assert!(Head::read(&mut &b"GET / HTTP/1.1\r\n"[..]).is_err());
    }
}
