//! An origin server: reports its load on `/health`, answers everything else with a small page.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use testbed::http::Head;

pub struct Origin {
    pub name: &'static str,
    pub port: u16,
    load: Arc<Mutex<f64>>,
}

impl Origin {
    /// Listens on a free port of the loopback address; its threads end with the process.
    pub fn start(name: &'static str, load: f64) -> io::Result<Origin> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let load = Arc::new(Mutex::new(load));
        let shared = Arc::clone(&load);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // A peer that goes away in the middle is no event here
                thread::spawn(move || serve(stream, name, &shared).ok());
            }
        });
        Ok(Origin { name, port, load })
    }

    pub fn load(&self) -> f64 {
        *self.load.lock().unwrap()
    }

    pub fn set_load(&self, load: f64) {
        *self.load.lock().unwrap() = load;
    }
}

fn serve(mut stream: TcpStream, name: &str, load: &Mutex<f64>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(request) = Head::read(&mut stream)? {
        let reply = if request.second_word() == "/health" {
            let load = *load.lock().unwrap();
            format!("HTTP/1.1 200 OK\r\nX-Load: {load:.3}\r\nContent-Length: 0\r\n\r\n")
        } else {
            format!("HTTP/1.1 200 OK\r\nX-Origin: {name}\r\nContent-Length: 6\r\n\r\nhello\n")
        };
        stream.write_all(reply.as_bytes())?;
        // A probe counts as bad until its connection is closed
        if request.header("Connection").is_some_and(|v| v.eq_ignore_ascii_case("close")) {
            break;
        }
    }
    Ok(())
}
