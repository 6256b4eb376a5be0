//! Which origin has which fault, and until when.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::fault::Fault;
use crate::origin::Origin;

const TICK: Duration = Duration::from_millis(20);
/// Milliseconds that an origin that is not steady is well, and has a fault.
const WELL: std::ops::Range<u64> = 2000..10_000;
const ILL: std::ops::Range<u64> = 500..4000;

/// Faults begun, in the order of `Fault::ALL`.
pub type Spells = [AtomicU64; Fault::ALL.len()];

/// Begins to change the origins that are not steady, for as long as the process lives.
pub fn start(origins: &Arc<Vec<Origin>>) -> Arc<Spells> {
    let spells = Arc::new(Spells::default());
    let counted = Arc::clone(&spells);
    let origins = Arc::clone(origins);
    thread::spawn(move || {
        let mut moody: Vec<Spell> = origins.iter().filter(|o| !o.is_steady()).map(Spell::new).collect();
        loop {
            for spell in &mut moody {
                spell.tick(&counted);
            }
            thread::sleep(TICK);
        }
    });
    spells
}

struct Spell<'a> {
    origin: &'a Origin,
    well: bool,
    until: Instant,
}

impl Spell<'_> {
    fn new(origin: &Origin) -> Spell<'_> {
        Spell { origin, well: true, until: Instant::now() + Duration::from_millis(fastrand::u64(0..WELL.end)) }
    }

    fn tick(&mut self, spells: &Spells) {
        if Instant::now() < self.until {
            return;
        }
        self.well = !self.well;
        let (fault, range) = if self.well {
            (None, WELL)
        } else {
            let fault = Fault::ALL[fastrand::usize(..Fault::ALL.len())];
            spells[fault as usize].fetch_add(1, Ordering::Relaxed);
            (Some(fault), ILL)
        };
        self.origin.set_fault(fault);
        self.until = Instant::now() + Duration::from_millis(fastrand::u64(range));
    }
}
