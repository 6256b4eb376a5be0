//! Clients: each sends at a steady pace, each time to another director.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use testbed::http::Head;

const CLIENTS: usize = 16;
/// Between the beginnings of two requests of a client.
const PACE: Duration = Duration::from_millis(100);
/// Longer than all retries can take.
const PATIENCE: Duration = Duration::from_secs(60);
const DIRECTORS: [&str; 6] = ["round_robin", "random", "hash", "shard", "fallback", "layered"];
/// Errors of which the text is kept.
const KEEP: usize = 10;

/// All requests so far.
#[derive(Default)]
pub struct Requests {
    pub sent: AtomicU64,
    pub failed: AtomicU64,
    /// The first errors.
    pub texts: Mutex<Vec<String>>,
}

/// Clients; dropping this waits for their last response.
pub struct Traffic {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<()>>,
}

impl Traffic {
    pub fn start(port: u16, requests: &Arc<Requests>) -> Traffic {
        let stop = Arc::new(AtomicBool::new(false));
        let client = || {
            let (stop, requests) = (Arc::clone(&stop), Arc::clone(requests));
            thread::spawn(move || client(port, &stop, &requests))
        };
        let clients = std::iter::repeat_with(client).take(CLIENTS).collect();
        Traffic { stop, clients }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients.drain(..) {
            client.join().ok();
        }
    }
}

fn client(port: u16, stop: &AtomicBool, requests: &Requests) {
    while !stop.load(Ordering::Relaxed) {
        let next = Instant::now() + PACE;
        let url = format!("/{}/{}", DIRECTORS[fastrand::usize(..DIRECTORS.len())], fastrand::u32(..));
        let result = request(port, &url);
        requests.sent.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = result {
            requests.failed.fetch_add(1, Ordering::Relaxed);
            let mut texts = requests.texts.lock().unwrap();
            if texts.len() < KEEP {
                texts.push(format!("{url}: {error}"));
            }
        }
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

/// One request on a connection of its own, so that a server at rest has none. All but the page is an error.
fn request(port: u16, url: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("GET {url} HTTP/1.1\r\nHost: soak\r\nConnection: close\r\n\r\n").as_bytes())?;
    let head = Head::read(&mut stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    if head.second_word() != "200" {
        let tried = head.header("X-Tried").unwrap_or("nothing");
        return Err(io::Error::other(format!("status {}, tried {tried}", head.second_word())));
    }
    let mut body = Vec::new();
    stream.read_to_end(&mut body)?;
    let length = head.rest + body.len();
    if length != 6 {
        return Err(io::Error::other(format!("{length} bytes of a page of 6")));
    }
    Ok(())
}
