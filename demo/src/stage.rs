//! The performance: sets loads, waits until the weights follow, measures, draws.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use testbed::server::Server;

use crate::origin::Origin;
use crate::table::{Row, Table};
use crate::tally::{shares, Tally};
use crate::traffic;
use crate::verdict::Phase;

/// How long the weights may take to follow a load: some probe intervals.
const SETTLE: Duration = Duration::from_secs(10);
/// How long each phase is measured.
const MEASURE: Duration = Duration::from_secs(6);
/// The table shows the share of this last time.
const WINDOW: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(250);

pub type Failure = Box<dyn std::error::Error>;

pub struct Stage {
    origins: Vec<Origin>,
    server: Server,
    tally: Arc<Mutex<Tally>>,
    table: Table,
    /// When the plain output was last written to.
    drawn: Instant,
    stop: Arc<AtomicBool>,
}

impl Stage {
    /// Starts the traffic. A raised `stop` ends the next phase early, with an error.
    pub fn new(origins: Vec<Origin>, server: Server, stop: Arc<AtomicBool>) -> Stage {
        let names: Vec<&'static str> = origins.iter().map(|o| o.name).collect();
        let tally = Arc::new(Mutex::new(Tally::new(names.len(), MEASURE + SETTLE)));
        traffic::start(server.port, &names, &tally);
        Stage { origins, server, tally, table: Table::new(), drawn: Instant::now(), stop }
    }

    /// Requests that got no answer of an origin.
    pub fn failures(&self) -> u64 {
        self.tally.lock().unwrap().failures
    }

    /// A phase that begins with a new load of one origin.
    pub fn changed(&mut self, origin: usize, load: f64, title: &str) -> Result<Phase, Failure> {
        self.origins[origin].set_load(load);
        self.phase(title)
    }

    /// Waits until the server's weights are what the loads ask for, then measures the shares.
    pub fn phase(&mut self, title: &str) -> Result<Phase, Failure> {
        self.table.gap();
        let changed = Instant::now();
        while !self.weights_follow() {
            if changed.elapsed() > SETTLE {
                return Err(
                    format!("after {SETTLE:?} the weights do not follow the loads: {:?}", self.weights()).into()
                );
            }
            let waiting = format!("{title}: waiting for the probes");
            self.show(&waiting, changed, true)?;
        }
        let took = changed.elapsed().as_secs_f64();
        let start = Instant::now();
        while start.elapsed() < MEASURE {
            let title = format!("{title} (weights after {took:.1} s)");
            self.show(&title, start, false)?;
        }
        Ok(Phase {
            title: title.to_owned(),
            weights: self.weights(),
            requests: self.tally.lock().unwrap().since(start),
        })
    }

    fn weights(&self) -> Vec<f64> {
        self.tally.lock().unwrap().weights.clone()
    }

    /// Whether each weight is the inverse of the reported load, as far as three decimals show it.
    fn weights_follow(&self) -> bool {
        let weights = self.weights();
        self.origins.iter().zip(weights).all(|(origin, weight)| (weight - 1.0 / origin.load()).abs() < 0.002)
    }

    /// One tick: sleep, then draw the window, which begins at `since` at the earliest. Plain output gets a snapshot a window, not four a second.
    fn show(&mut self, title: &str, since: Instant, waiting: bool) -> Result<(), Failure> {
        thread::sleep(TICK);
        let from = window_start(since);
        if self.stop.load(Ordering::Relaxed) {
            return Err("stopped".into());
        }
        if !self.server.is_running() {
            return Err("the server ended".into());
        }
        let due = !waiting && from.elapsed() >= WINDOW && self.drawn.elapsed() >= WINDOW;
        if self.table.is_live() || due {
            self.drawn = Instant::now();
            let rows = self.rows(from);
            self.table.draw(title, &rows);
        }
        Ok(())
    }

    fn rows(&self, from: Instant) -> Vec<Row> {
        let tally = self.tally.lock().unwrap();
        let requests = tally.since(from);
        let counts: Vec<f64> = requests.iter().map(|n| *n as f64).collect();
        let measured = shares(&counts);
        let asked = shares(&tally.weights);
        self.origins
            .iter()
            .enumerate()
            .map(|(i, origin)| Row {
                name: origin.name,
                load: origin.load(),
                weight: tally.weights[i],
                asked: asked[i],
                measured: measured[i],
                requests: requests[i],
            })
            .collect()
    }
}

/// Where the window of the table begins, at the earliest at `start`.
fn window_start(start: Instant) -> Instant {
    Instant::now().checked_sub(WINDOW).map_or(start, |w| w.max(start))
}
