//! Reloads: a VCL is loaded and used, the one before it made cold and discarded while its probes run.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use testbed::server::Server;

/// The server's own name for the VCL that it was started with.
const BOOT: &str = "boot";
/// How long a discarded VCL may stay for the sake of its last requests and probes.
const GONE: Duration = Duration::from_secs(30);
/// Every so many reloads the health of some backends is set by hand.
const BY_HAND: u64 = 5;

pub struct Reloads {
    vcl: String,
    current: Option<String>,
    pub done: u64,
    pub by_hand: u64,
    /// VCLs that did not go.
    pub left: Vec<String>,
}

impl Reloads {
    pub fn new(vcl: String) -> Reloads {
        Reloads { vcl, current: None, done: 0, by_hand: 0, left: Vec::new() }
    }

    pub fn round(&mut self, server: &mut Server) -> io::Result<()> {
        let name = format!("soak{}", self.done);
        server.load(&name, &self.vcl)?;
        server.command(&format!("vcl.use {name}"))?;
        if let Some(old) = self.current.replace(name) {
            discard(server, &old)?;
        }
        self.done += 1;
        if self.done % BY_HAND == 0 {
            self.set_health(server)?;
        }
        Ok(())
    }

    /// Some backends sick, others healthy whatever their probes say, then all back to what these say.
    fn set_health(&mut self, server: &mut Server) -> io::Result<()> {
        for (backends, health) in [("moody*1", "sick"), ("moody*2", "healthy"), ("moody*", "auto")] {
            server.command(&format!("backend.set_health {backends} {health}"))?;
            thread::sleep(Duration::from_millis(200));
        }
        self.by_hand += 1;
        Ok(())
    }

    /// Leaves the server with the VCL that it was started with, and waits for all others to be gone.
    pub fn rest(&mut self, server: &mut Server) -> io::Result<()> {
        server.command(&format!("vcl.use {BOOT}"))?;
        if let Some(old) = self.current.take() {
            discard(server, &old)?;
        }
        let start = Instant::now();
        loop {
            self.left = others(&server.command("vcl.list")?);
            if self.left.is_empty() || start.elapsed() > GONE {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn discard(server: &mut Server, name: &str) -> io::Result<()> {
    server.command(&format!("vcl.state {name} cold"))?;
    server.command(&format!("vcl.discard {name}"))?;
    Ok(())
}

/// The lines of a vcl.list but for the one of the first VCL.
fn others(list: &str) -> Vec<String> {
    let name = |line: &str| line.split_whitespace().nth(4).map(str::to_owned);
    list.lines().filter_map(name).filter(|name| name != BOOT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_first() {
        let list = "active      auto    warm         0    boot\ndiscarded   cold    cold         3    soak7\n";
        assert_eq!(others(list), ["soak7"]);
        assert!(others("\n").is_empty());
    }
}
