//! What goes wrong with an origin, connection by connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use socket2::SockRef;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Closes or resets the connection, and refuses further ones.
    Crash,
    /// Never answers.
    Hang,
    /// Answers a byte at a time, each after up to 40 ms, or after more than the server waits for one.
    Drip,
    /// Sends a part of the answer, then a reset.
    Reset,
    /// Sends headers, garbage or a body: without end, or up to 64 kB and then closes.
    Babble,
}

impl Fault {
    pub const ALL: [Fault; 5] = [Fault::Crash, Fault::Hang, Fault::Drip, Fault::Reset, Fault::Babble];

    pub fn name(self) -> &'static str {
        match self {
            Fault::Crash => "crash",
            Fault::Hang => "hang",
            Fault::Drip => "drip",
            Fault::Reset => "reset",
            Fault::Babble => "babble",
        }
    }

    /// Treats a connection on which a request has come in, and which would have been answered with `reply`.
    /// The time is bounded by the other side, which gives up.
    pub fn inflict(self, mut stream: TcpStream, reply: &[u8]) -> io::Result<()> {
        match self {
            Fault::Crash if fastrand::bool() => Ok(()),
            Fault::Crash => reset(stream),
            Fault::Hang => until_closed(&mut stream),
            Fault::Drip => drip(&mut stream, reply),
            Fault::Reset => {
                stream.write_all(&reply[..fastrand::usize(1..reply.len())])?;
                reset(stream)
            }
            Fault::Babble => babble(&mut stream),
        }
    }
}

/// Closes the connection with a reset: that is what it means not to linger at all.
fn reset(stream: TcpStream) -> io::Result<()> {
    SockRef::from(&stream).set_linger(Some(Duration::ZERO))
}

fn until_closed(stream: &mut TcpStream) -> io::Result<()> {
    let mut bytes = [0; 512];
    while stream.read(&mut bytes)? > 0 {}
    Ok(())
}

fn drip(stream: &mut TcpStream, reply: &[u8]) -> io::Result<()> {
    let pause = if fastrand::u8(..4) == 0 { 700 } else { fastrand::u64(5..40) };
    for byte in reply {
        stream.write_all(&[*byte])?;
        thread::sleep(Duration::from_millis(pause));
    }
    Ok(())
}

/// Loads that no origin should report.
const LOADS: [&str; 8] = ["-1", "nan", "inf", "1e308", "0", "", "99999999999999999999", "\u{0}\u{7f}\u{ff}"];

fn babble(stream: &mut TcpStream) -> io::Result<()> {
    let mut left = if fastrand::bool() { usize::MAX } else { fastrand::usize(1..64 * 1024) };
    let kind = fastrand::u8(..3);
    if kind != 1 {
        let load = LOADS[fastrand::usize(..LOADS.len())];
        stream.write_all(format!("HTTP/1.1 200 OK\r\nX-State: up\r\nX-Load: {load}\r\n").as_bytes())?;
    }
    if kind == 2 {
        stream.write_all(b"\r\n")?;
    }
    while left > 0 {
        let piece = match kind {
            0 => format!("X-{}: {}\r\n", fastrand::u32(..), "babble ".repeat(fastrand::usize(..200))).into_bytes(),
            _ => (0..fastrand::usize(1..2048)).map(|_| fastrand::u8(..)).collect(),
        };
        let piece = &piece[..piece.len().min(left)];
        stream.write_all(piece)?;
        left -= piece.len();
        // At full speed it would be this program that keeps the machine busy
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
