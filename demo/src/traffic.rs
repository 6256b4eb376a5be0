//! Steady traffic: a few clients, each sending at a fixed pace and noting who answered.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use testbed::http::Head;

use crate::tally::Tally;

const CLIENTS: u64 = 4;
/// Requests per second of all clients together.
pub const RATE: u64 = 200;

/// Starts the clients; they end with the process. `names` are the origins, in the order of the tally.
pub fn start(port: u16, names: &[&'static str], tally: &Arc<Mutex<Tally>>) {
    let pause = Duration::from_secs(1) * CLIENTS as u32 / RATE as u32;
    for client in 0..CLIENTS {
        let names = names.to_vec();
        let tally = Arc::clone(tally);
        thread::spawn(move || {
            let mut next = Instant::now() + pause * client as u32 / CLIENTS as u32;
            let mut connection = None;
            loop {
                // The pace does not follow the answers: a slow one is made up for
                thread::sleep(next.saturating_duration_since(Instant::now()));
                next += pause;
                if one_request(&mut connection, port, &names, &tally).is_err() {
                    connection = None;
                    tally.lock().unwrap().failures += 1;
                }
            }
        });
    }
}

fn one_request(connection: &mut Option<TcpStream>, port: u16, names: &[&str], tally: &Mutex<Tally>) -> io::Result<()> {
    let mut stream = match connection.take() {
        Some(stream) => stream,
        None => {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            stream
        }
    };
    stream.write_all(b"GET / HTTP/1.1\r\nHost: demo\r\n\r\n")?;
    let head = Head::read(&mut stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let length: usize = head.header("Content-Length").and_then(|v| v.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    let mut body = vec![0; length.saturating_sub(head.rest)];
    stream.read_exact(&mut body)?;
    *connection = Some(stream);

    let origin = head.header("X-Origin").ok_or(io::ErrorKind::InvalidData)?;
    let backend = names.iter().position(|name| *name == origin).ok_or(io::ErrorKind::InvalidData)?;
    let weights: Vec<Option<f64>> =
        names.iter().map(|name| head.header(&format!("X-Weight-{name}"))?.parse().ok()).collect();
    let mut tally = tally.lock().unwrap();
    tally.add(Instant::now(), backend);
    for (kept, new) in tally.weights.iter_mut().zip(weights) {
        *kept = new.unwrap_or(f64::NAN);
    }
    Ok(())
}
