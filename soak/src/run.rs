//! The run: laps of two minutes, after each of which the server rests.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use testbed::server::Server;

use crate::counters::Counters;
use crate::log::Log;
use crate::origin::{Origin, Tally};
use crate::reload::Reloads;
use crate::report::{Lap, Report};
use crate::traffic::{Requests, Traffic};
use crate::weather::{self, Spells};
use crate::worker::{median, Holds};
use crate::{vcl, Args};

const BACKENDS: u8 = 200;
const STEADY: u8 = 40;
const LAP: Duration = Duration::from_secs(120);
const RELOAD: Duration = Duration::from_secs(2);
/// Between two lines that say how it goes.
const NEWS: Duration = Duration::from_secs(30);
/// For sockets to be closed and the log to be read, once all VCLs are gone.
const SETTLE: Duration = Duration::from_secs(3);

/// Little log, and a fixed number of threads, few enough for all of them to be in use soon, so that memory does not grow
/// for these reasons. Idle threads let go of their VCL at once: as they keep it for a minute otherwise, the probes of
/// some 30 discarded VCLs would be running. Nobody is going to run a VCL for long, so no need to optimize it.
const SERVER_ARGS: [&str; 16] = [
    "-l",
    "20m",
    "-p",
    "thread_pools=1",
    "-p",
    "thread_pool_min=100",
    "-p",
    "thread_pool_max=100",
    "-p",
    "thread_queue_limit=1000",
    "-p",
    "max_retries=4",
    "-p",
    "debug=+vclrel",
    "-p",
    "cc_command=exec cc -w -O0 -pthread -fpic -shared -o %o %s",
];

pub struct Soak {
    args: Args,
    stop: Arc<AtomicBool>,
    /// What the origins did, and which faults they had.
    tally: Arc<Tally>,
    spells: Arc<Spells>,
    requests: Arc<Requests>,
    reloads: Reloads,
    report: Report,
    // The reader of the log before the server that writes it
    log: Log,
    server: Server,
    worker: u32,
}

impl Soak {
    pub fn new(args: Args) -> io::Result<Soak> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        let tally = Arc::default();
        let origins: io::Result<Vec<Origin>> =
            (1..=BACKENDS).map(|number| Origin::start(number, number <= STEADY, &tally)).collect();
        let origins = Arc::new(origins?);
        let mut server = Server::start(&args.server, &SERVER_ARGS, vcl::REST)?;
        Ok(Soak {
            stop,
            tally,
            spells: weather::start(&origins),
            requests: Arc::default(),
            reloads: Reloads::new(vcl::soak(&origins)),
            report: Report { backends: BACKENDS.into(), steady: STEADY.into(), ..Report::default() },
            log: Log::start(&args.log, &server.work())?,
            worker: server.worker()?,
            server,
            args,
        })
    }

    pub fn run(mut self) -> io::Result<Report> {
        for lap in laps(self.args.time) {
            match self.work(lap).and_then(|work| Ok(Lap { work, rest: self.rest()? })) {
                Ok(lap) => self.report.laps.push(lap),
                Err(error) => {
                    self.report.broken = Some(error.to_string());
                    break;
                }
            }
        }
        self.finish()
    }

    /// Traffic, faults and reloads for so long. Gives what the worker held meanwhile.
    fn work(&mut self, time: Duration) -> io::Result<Holds> {
        let start = Instant::now();
        // The first VCL is in use before the first request
        self.reloads.round(&mut self.server)?;
        let traffic = Traffic::start(self.server.port, &self.requests);
        let samples = self.reload_until(start + time);
        drop(traffic);
        self.report.time += start.elapsed();
        Ok(median(&samples?))
    }

    /// Reloads at a steady pace, and what the worker holds after each.
    fn reload_until(&mut self, end: Instant) -> io::Result<Vec<Holds>> {
        let mut next = Instant::now() + RELOAD;
        let mut news = Instant::now() + NEWS;
        let mut samples = Vec::new();
        while Instant::now() < end {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            next = Instant::now() + RELOAD;
            self.reloads.round(&mut self.server)?;
            self.look_after()?;
            let holds = Holds::of(self.worker)?;
            samples.push(holds);
            if Instant::now() > news {
                news += NEWS;
                self.tell("at work", holds);
            }
        }
        Ok(samples)
    }

    /// A server that panicked has started again, and all looks well.
    fn look_after(&mut self) -> io::Result<()> {
        if let Ok(text) = self.server.command("panic.show") {
            return Err(io::Error::other(text));
        }
        let worker = self.server.worker()?;
        if worker != self.worker {
            return Err(io::Error::other(format!("worker {} is gone, and there is {worker}", self.worker)));
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        Ok(())
    }

    fn tell(&self, when: &str, holds: Holds) {
        println!(
            "  {when}: {} probes, {} reloads, {} requests, {} errors; RSS {} kB, VmData {} kB, {} descriptors",
            number(&self.log.counts.probes),
            self.reloads.done,
            number(&self.requests.sent),
            number(&self.requests.failed),
            holds.rss,
            holds.data,
            holds.descriptors
        );
    }

    /// Nothing but what the server has by itself: what it holds on to then is not in use by anything.
    fn rest(&mut self) -> io::Result<Holds> {
        self.reloads.rest(&mut self.server)?;
        thread::sleep(SETTLE);
        self.look_after()?;
        let holds = Holds::of(self.worker)?;
        self.tell("at rest", holds);
        let counters = Counters::read(&self.args.stat, &self.server.work())?;
        self.report.left.append(&mut self.reloads.left);
        // The first VCL and its backend "none" count as one and none
        for (name, expected) in [("MAIN.n_vcl", 1), ("MAIN.n_vcl_discard", 0), ("MAIN.n_backend", 0), ("MAIN.vmods", 0)]
        {
            let value = counters.get(name)?;
            if value != expected {
                self.report.left.push(format!("{name}={value}"));
            }
        }
        Ok(holds)
    }

    fn finish(self) -> io::Result<Report> {
        let counters = Counters::read(&self.args.stat, &self.server.work())?;
        let counts = &self.log.counts;
        let texts = self.requests.texts.lock().map(|texts| texts.clone()).unwrap_or_default();
        Ok(Report {
            probes: number(&counts.probes),
            subs: number(&counts.subs),
            changes: number(&counts.changes),
            log_overruns: number(&counts.overruns),
            seen_by_origins: number(&self.tally.probes),
            reloads: self.reloads.done,
            by_hand: self.reloads.by_hand,
            spells: self.spells.each_ref().map(number),
            connections: self.tally.faults.each_ref().map(number),
            requests: number(&self.requests.sent),
            errors: number(&self.requests.failed),
            error_texts: texts,
            // A worker that panics dies as well, but one can die without
            panics: counters.get("MGT.child_panic")?.max(counters.get("MGT.child_died")?),
            vcl_failures: counters.get("MAIN.vcl_fail")?,
            ..self.report
        })
    }
}

fn number(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// The time in laps, the last of which may be shorter.
fn laps(time: Duration) -> Vec<Duration> {
    let mut laps = Vec::new();
    let mut left = time;
    while !left.is_zero() {
        laps.push(left.min(LAP));
        left = left.saturating_sub(LAP);
    }
    laps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laps_add_up() {
        let seconds = |time| laps(Duration::from_secs(time)).iter().map(Duration::as_secs).collect::<Vec<_>>();
        assert_eq!(seconds(300), [120, 120, 60]);
        assert_eq!(seconds(30), [30]);
        assert!(seconds(0).is_empty());
    }
}
