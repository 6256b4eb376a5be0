//! An origin: answers probes with its load and all else with a small page, unless there is a fault.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use testbed::http::Head;

use crate::fault::Fault;

/// What all origins have had to do so far.
#[derive(Default)]
pub struct Tally {
    pub probes: AtomicU64,
    /// Connections treated, in the order of `Fault::ALL`.
    pub faults: [AtomicU64; Fault::ALL.len()],
}

pub struct Origin {
    pub name: String,
    pub address: SocketAddrV4,
    steady: bool,
    fault: Arc<Mutex<Option<Fault>>>,
}

impl Origin {
    /// Listens on the `number`th loopback address. It has that to itself, so that nobody gets its port while it is down.
    pub fn start(number: u8, steady: bool, tally: &Arc<Tally>) -> io::Result<Origin> {
        let listener = TcpListener::bind((Ipv4Addr::new(127, 1, 0, number), 0))?;
        let address = SocketAddrV4::new(Ipv4Addr::new(127, 1, 0, number), listener.local_addr()?.port());
        let fault = Arc::new(Mutex::new(None));
        let site = Site { address, steady, fault: Arc::clone(&fault), tally: Arc::clone(tally) };
        thread::spawn(move || accept(listener, &Arc::new(site)));
        let name = format!("{}{number}", if steady { "steady" } else { "moody" });
        Ok(Origin { name, address, steady, fault })
    }

    /// One that never has a fault.
    pub fn is_steady(&self) -> bool {
        self.steady
    }

    pub fn set_fault(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }
}

/// What the threads of an origin share.
struct Site {
    address: SocketAddrV4,
    steady: bool,
    fault: Arc<Mutex<Option<Fault>>>,
    tally: Arc<Tally>,
}

impl Site {
    fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap()
    }

    fn is_down(&self) -> bool {
        self.fault() == Some(Fault::Crash)
    }

    fn reply(&self, request: &Head) -> String {
        if request.second_word() != "/probe" {
            return "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n".to_owned();
        }
        self.tally.probes.fetch_add(1, Ordering::Relaxed);
        let load = 0.25 + 4.0 * fastrand::f64();
        let state = if !self.steady && fastrand::u8(..50) == 0 { "drain" } else { "up" };
        format!("HTTP/1.1 200 OK\r\nX-Load: {load:.3}\r\nX-State: {state}\r\nContent-Length: 3\r\n\r\nok\n")
    }
}

/// The threads of an origin end with the process.
fn accept(mut listener: TcpListener, site: &Arc<Site>) {
    loop {
        if let Ok((stream, _)) = listener.accept() {
            let site = Arc::clone(site);
            // A peer that goes away in the middle is no event here
            thread::spawn(move || serve(stream, &site).ok());
        }
        if site.is_down() {
            drop(listener);
            listener = loop {
                thread::sleep(Duration::from_millis(20));
                if site.is_down() {
                    continue;
                }
                if let Ok(listener) = TcpListener::bind(site.address) {
                    break listener;
                }
            };
        }
    }
}

fn serve(mut stream: TcpStream, site: &Site) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(request) = Head::read(&mut stream)? {
        let reply = site.reply(&request);
        if let Some(fault) = site.fault() {
            site.tally.faults[fault as usize].fetch_add(1, Ordering::Relaxed);
            return fault.inflict(stream, reply.as_bytes());
        }
        stream.write_all(reply.as_bytes())?;
        // A probe counts as bad until its connection is closed
        if request.header("Connection").is_some_and(|v| v.eq_ignore_ascii_case("close")) {
            break;
        }
    }
    Ok(())
}
