//! An origin with a number of workers and a queue. It sleeps where a real one works, so that it takes no processor time.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use testbed::http::Head;

use crate::plan::SERVICE;

pub struct Origin {
    pub port: u16,
    queue: Arc<Mutex<Queue>>,
}

struct Queue {
    /// For each worker, when it has done all that was given to it.
    free: Vec<Instant>,
    service: Duration,
    /// When requests came.
    arrivals: Vec<Instant>,
}

impl Origin {
    /// Listens on a free port of the loopback address; its threads end with the process.
    pub fn start(workers: usize) -> io::Result<Origin> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let queue = Queue { free: vec![Instant::now(); workers], service: SERVICE, arrivals: Vec::new() };
        let queue = Arc::new(Mutex::new(queue));
        let shared = Arc::clone(&queue);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let queue = Arc::clone(&shared);
                // A server that gave up is no event here: the work is done all the same
                thread::spawn(move || serve(stream, &queue).ok());
            }
        });
        Ok(Origin { port, queue })
    }

    /// From now on, workers take so long for a request that they begin.
    pub fn set_service(&self, service: Duration) {
        self.queue.lock().unwrap().service = service;
    }

    /// When requests came.
    pub fn arrivals(&self) -> Vec<Instant> {
        self.queue.lock().unwrap().arrivals.clone()
    }
}

impl Queue {
    /// Takes a request, and says when it will be done.
    fn take(&mut self, now: Instant) -> Instant {
        self.arrivals.push(now);
        let service = self.service;
        let Some(worker) = self.free.iter_mut().min() else { return now };
        *worker = now.max(*worker) + service;
        *worker
    }

    /// Milliseconds of the whole origin that a request takes; and more while workers have others to do first: an origin
    /// with as much waiting as it is working on says twice as much.
    fn load(&self, now: Instant) -> f64 {
        let workers = self.free.len() as f64;
        let service = self.service.as_secs_f64();
        let ahead: Duration = self.free.iter().map(|free| free.saturating_duration_since(now)).sum();
        let waiting = (ahead.as_secs_f64() / workers - service).max(0.0);
        1000.0 * service / workers * (1.0 + waiting / service)
    }
}

fn serve(mut stream: TcpStream, queue: &Mutex<Queue>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(request) = Head::read(&mut stream)? {
        let now = Instant::now();
        if request.second_word() == "/health" {
            let load = queue.lock().unwrap().load(now);
            write!(stream, "HTTP/1.1 200 OK\r\nX-Load: {load:.3}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
            break;
        }
        let done = queue.lock().unwrap().take(now);
        thread::sleep(done.saturating_duration_since(Instant::now()));
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_workers_and_a_queue() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let mut queue = Queue { free: vec![now; 2], service: second, arrivals: Vec::new() };
        assert_eq!(queue.load(now), 500.0);
        let done: Vec<_> = (0..5).map(|_| queue.take(now) - now).collect();
        assert_eq!(done, [second, second, 2 * second, 2 * second, 3 * second]);
        // Two are being worked on, three wait
        assert_eq!(queue.load(now), 500.0 * (1.0 + 1.5));
        assert_eq!(queue.load(now + 3 * second), 500.0);
    }
}
