//! One director, through all phases.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use testbed::server::Server;

use crate::load::{self, Answer};
use crate::origin::Origin;
use crate::plan::{Plan, ORIGINS, SERVICE, SLOW, SLOWER};
use crate::vcl::Contender;
use crate::Failure;

pub struct Run {
    pub contender: Contender,
    pub answers: Vec<Answer>,
    /// For each origin, when requests came, since the start.
    pub arrivals: Vec<Vec<Duration>>,
}

/// Probes come twice a second: all have been probed by then.
const SETTLE: Duration = Duration::from_secs(2);

pub fn run(program: &Path, contender: Contender, plan: &Plan) -> Result<Run, Failure> {
    let origins: Vec<Origin> = ORIGINS.iter().map(|o| Origin::start(o.workers)).collect::<Result<_, _>>()?;
    let server = Server::start(program, &["-p", "thread_pool_min=200"], &contender.vcl(&origins))?;
    thread::sleep(SETTLE);
    let start = Instant::now();
    let answers = thread::scope(|scope| {
        scope.spawn(|| {
            let slow = &origins[SLOW];
            thread::sleep((start + plan.begin(1)).saturating_duration_since(Instant::now()));
            slow.set_service(SERVICE * SLOWER);
            thread::sleep((start + plan.begin(2)).saturating_duration_since(Instant::now()));
            slow.set_service(SERVICE);
        });
        load::send(server.port, start, plan.total())
    })?;
    let since = |at: Instant| at.saturating_duration_since(start);
    let arrivals = origins.iter().map(|origin| origin.arrivals().into_iter().map(since).collect()).collect();
    Ok(Run { contender, answers, arrivals })
}
