//! Requests at times that are fixed beforehand, however long the answers take.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use testbed::http::Head;

use crate::plan::{GIVE_UP, RATE};
use crate::Failure;

/// The same times for all directors.
const SEED: u64 = 1;
/// A request needs little.
const STACK: usize = 128 * 1024;

/// A request and its answer.
pub struct Answer {
    /// When the request was due, since the start.
    pub due: Duration,
    /// From then to the answer: a sender that is late does not make it shorter.
    pub latency: Duration,
    /// An answer of an origin.
    pub is_good: bool,
}

/// Sends for so long, and waits for the last answer.
pub fn send(port: u16, start: Instant, time: Duration) -> Result<Vec<Answer>, Failure> {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut due = Duration::ZERO;
    let mut requests = Vec::new();
    loop {
        // Exponential gaps; the argument of the logarithm is not 0
        due += Duration::from_secs_f64(-(1.0 - random.f64()).ln() / RATE);
        if due >= time {
            break;
        }
        thread::sleep((start + due).saturating_duration_since(Instant::now()));
        let request = move || {
            let is_good = one(port).unwrap_or(false);
            Answer { due, latency: (start + due).elapsed(), is_good }
        };
        requests.push(thread::Builder::new().stack_size(STACK).spawn(request)?);
    }
    requests.into_iter().map(|request| request.join().map_err(|_| "a request panicked".into())).collect()
}

/// On a connection of its own: a client that waits does not keep others from sending.
fn one(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(3 * GIVE_UP))?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")?;
    let head = Head::read(&mut stream)?;
    Ok(head.is_some_and(|head| head.second_word() == "200"))
}
