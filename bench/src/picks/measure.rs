//! All measurements.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use bench::sample::Sample;
use testbed::http::Head;

use crate::vcl::{Kind, Object, Whose, SIZES};

pub const THREADS: [usize; 3] = [1, 2, 4];
/// Weights that the writer sets in a second.
pub const RATE: f64 = 10_000.0;
/// A thread that has not answered by then hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much is measured: each thing so many times, for so long.
pub struct Pace {
    pub rounds: usize,
    pub time: Duration,
}

/// Two things that were measured in turns.
pub struct Pair {
    pub kind: Kind,
    pub size: usize,
    pub threads: usize,
    /// Nanoseconds for a pick.
    pub before: Sample,
    pub after: Sample,
    /// after / before, of each round.
    pub ratio: Sample,
    /// Weights set in a second, if there was a writer.
    pub rate: Option<Sample>,
}

pub struct Set {
    pub kind: Kind,
    pub size: usize,
    /// Nanoseconds.
    pub time: Sample,
}

/// What the members of a director take.
pub struct Memory {
    pub object: Object,
    /// For each of them.
    pub bytes: f64,
}

pub struct Results {
    /// Before: stock. After: ours.
    pub picks: Vec<Pair>,
    /// Before: nobody sets weights. After: somebody does.
    pub writer: Vec<Pair>,
    pub sets: Vec<Set>,
    /// Before: a fallback's pick, and a number that all threads share. After: a pick of our round robin.
    pub numbers: Vec<Pair>,
}

pub type Failure = Box<dyn Error + Send + Sync>;

pub fn all(port: u16, pace: &Pace) -> Result<Results, Failure> {
    let mut results = Results { picks: Vec::new(), writer: Vec::new(), sets: Vec::new(), numbers: Vec::new() };
    for kind in Kind::ALL {
        for size in SIZES {
            for threads in THREADS {
                progress(&format!("{}, {size} members, threads: {threads}", kind.name()));
                let run = |whose, writer| {
                    let kind = if whose == Whose::Stock { kind.stock() } else { kind };
                    picks(port, whose, kind, size, threads, writer, pace.time)
                };
                let pair = |before: &dyn Fn() -> Result<Picks, Failure>, after: &dyn Fn() -> Result<Picks, Failure>| {
                    in_turns(pace.rounds, before, after).map(|turns| Pair::of(kind, size, threads, &turns))
                };
                results.picks.push(pair(&|| run(Whose::Stock, false), &|| run(Whose::Ours, false))?);
                results.writer.push(pair(&|| run(Whose::Weighed, false), &|| run(Whose::Weighed, true))?);
            }
            let times = (0..pace.rounds).map(|_| set(port, kind, size, pace.time)).collect::<Result<_, _>>()?;
            results.sets.push(Set { kind, size, time: Sample::of(times) });
        }
    }
    for threads in THREADS {
        progress(&format!("a shared number, threads: {threads}"));
        let (kind, size) = (Kind::RoundRobin, SIZES[0]);
        let turns = in_turns(pace.rounds, &|| number(port, size, threads, pace.time), &|| {
            picks(port, Whose::Ours, kind, size, threads, false, pace.time)
        })?;
        results.numbers.push(Pair::of(kind, size, threads, &turns));
    }
    progress("");
    Ok(results)
}

/// On a terminal: one line that is written over; the rest of a longer one is wiped out.
fn progress(text: &str) {
    if io::stdout().is_terminal() {
        print!("\r{text:<50}\r");
        io::stdout().flush().ok();
    }
}

/// What one run gives.
struct Picks {
    nanoseconds: f64,
    rate: Option<f64>,
}

/// Which of the two is first changes from round to round.
fn in_turns(
    rounds: usize,
    before: &dyn Fn() -> Result<Picks, Failure>,
    after: &dyn Fn() -> Result<Picks, Failure>,
) -> Result<Vec<(Picks, Picks)>, Failure> {
    let one = |round: usize| {
        if round % 2 == 0 {
            let first = before()?;
            Ok((first, after()?))
        } else {
            let first = after()?;
            Ok((before()?, first))
        }
    };
    (0..rounds).map(one).collect()
}

impl Pair {
    fn of(kind: Kind, size: usize, threads: usize, turns: &[(Picks, Picks)]) -> Pair {
        let sample = |value: fn(&(Picks, Picks)) -> f64| Sample::of(turns.iter().map(value).collect());
        let rates: Vec<f64> = turns.iter().filter_map(|(_, after)| after.rate).collect();
        Pair {
            kind,
            size,
            threads,
            before: sample(|(before, _)| before.nanoseconds),
            after: sample(|(_, after)| after.nanoseconds),
            ratio: sample(|(before, after)| after.nanoseconds / before.nanoseconds),
            rate: (!rates.is_empty()).then(|| Sample::of(rates)),
        }
    }
}

/// Wall-clock time of a pick in one thread, while as many are picking.
fn picks(
    port: u16,
    whose: Whose,
    kind: Kind,
    size: usize,
    threads: usize,
    writer: bool,
    time: Duration,
) -> Result<Picks, Failure> {
    let mut jobs = vec![Job { url: format!("/pick/{}", Object { whose, kind, size }), rate: 0.0 }; threads];
    if writer {
        jobs.push(Job { url: format!("/set/{}", Object { whose, kind, size }), rate: RATE });
    }
    let mut done = together(port, &jobs, time)?;
    let rate = if writer { done.pop().map(|(time, count)| count / time * 1e9) } else { None };
    Ok(Picks { nanoseconds: per_call(&done) / kind.picks_per_call() as f64, rate })
}

/// The time of a call, of threads that give nanoseconds and calls.
fn per_call(done: &[(f64, f64)]) -> f64 {
    let (time, calls) = done.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    time / calls
}

/// As `picks` of a fallback, and for each pick the thread takes the next number of all threads.
fn number(port: u16, size: usize, threads: usize, time: Duration) -> Result<Picks, Failure> {
    let object = Object { whose: Whose::Ours, kind: Kind::Fallback, size };
    let job = Job { url: format!("/number/{object}"), rate: 0.0 };
    let done = together(port, &vec![job; threads], time)?;
    Ok(Picks { nanoseconds: per_call(&done), rate: None })
}

fn set(port: u16, kind: Kind, size: usize, time: Duration) -> Result<f64, Failure> {
    let job = Job { url: format!("/set/{}", Object { whose: Whose::Weighed, kind, size }), rate: 0.0 };
    let done = together(port, &[job], time)?;
    Ok(per_call(&done))
}

/// Has the server make what it keeps for requests, which is not to be counted as memory of members.
pub fn warm_up(port: u16) -> Result<(), Failure> {
    for _ in 0..50 {
        together(port, &vec![Job { url: "/warm".into(), rate: 0.0 }; 4], Duration::ZERO)?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Adds the members of all directors that the VCL has.
pub fn fill(port: u16, objects: &[Object]) -> Result<Vec<Memory>, Failure> {
    let fill = |object: &Object| {
        let job = Job { url: format!("/fill/{object}"), rate: 0.0 };
        let bytes: f64 = request(port, &job, 1, Duration::ZERO)?.parse()?;
        Ok(Memory { object: *object, bytes: bytes / object.size as f64 })
    };
    objects.iter().map(fill).collect()
}

/// What a thread of the server does.
#[derive(Clone)]
struct Job {
    url: String,
    /// Calls in a second; 0: as fast as it can.
    rate: f64,
}

/// Gives nanoseconds and calls of each. They begin at the same time: the server's threads wait for each other.
fn together(port: u16, jobs: &[Job], time: Duration) -> Result<Vec<(f64, f64)>, Failure> {
    thread::scope(|scope| {
        let run = |job| scope.spawn(move || request(port, job, jobs.len(), time));
        let threads: Vec<_> = jobs.iter().map(run).collect();
        threads.into_iter().map(|thread| pair(&thread.join().map_err(|_| "a thread panicked")??)).collect()
    })
}

fn pair(text: &str) -> Result<(f64, f64), Failure> {
    let (time, count) = text.split_once(' ').ok_or_else(|| format!("\"{text}\" is no result"))?;
    Ok((time.parse()?, count.parse()?))
}

/// Does the job and gives the text of the result.
fn request(port: u16, job: &Job, threads: usize, time: Duration) -> Result<String, Failure> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET {} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nthreads: {threads}\r\ntime: {}ms\r\nrate: {}\r\n\r\n",
        job.url,
        time.as_millis(),
        job.rate
    )?;
    let head = Head::read(&mut stream)?.ok_or("no answer")?;
    match head.header("result") {
        Some(text) if head.second_word() == "200" => Ok(text.to_owned()),
        _ => Err(format!("{}: status {}", job.url, head.second_word()).into()),
    }
}
