//! What happens when: the same for all directors.

use std::fmt;
use std::time::Duration;

/// What an origin can do: so many requests at a time. More wait, first come, first served.
pub struct Capacity {
    pub name: &'static str,
    pub workers: usize,
}

pub const ORIGINS: [Capacity; 4] = [
    Capacity { name: "a", workers: 16 },
    Capacity { name: "b", workers: 8 },
    Capacity { name: "c", workers: 8 },
    Capacity { name: "d", workers: 4 },
];
/// How long a worker takes for a request.
pub const SERVICE: Duration = Duration::from_millis(80);
/// Which origin slows down, and how many times as long its workers take then.
pub const SLOW: usize = 0;
pub const SLOWER: u32 = 4;
/// Requests in a second, on average, at times that are drawn (Poisson).
pub const RATE: f64 = 240.0;
/// The server gives up on an origin that has not begun to answer by then.
pub const GIVE_UP: Duration = Duration::from_secs(5);

/// The phases, one after the other.
pub struct Plan {
    /// Names, and how long they take.
    pub phases: [(&'static str, Duration); 3],
}

impl Plan {
    pub fn long() -> Plan {
        Plan::of(20, 30, 20)
    }

    /// To see that it works.
    pub fn quick() -> Plan {
        Plan::of(3, 5, 3)
    }

    fn of(before: u64, slow: u64, after: u64) -> Plan {
        let seconds = Duration::from_secs;
        Plan {
            phases: [("all well", seconds(before)), ("a is slow", seconds(slow)), ("all well again", seconds(after))],
        }
    }

    /// When a phase begins.
    pub fn begin(&self, phase: usize) -> Duration {
        self.phases.iter().take(phase).map(|(_, time)| *time).sum()
    }

    pub fn total(&self) -> Duration {
        self.begin(self.phases.len())
    }

    /// The phase at that time.
    pub fn phase(&self, at: Duration) -> usize {
        (1..self.phases.len()).take_while(|phase| at >= self.begin(*phase)).count()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_second = |workers: usize| workers as f64 / SERVICE.as_secs_f64();
        let all: Vec<String> = ORIGINS.iter().map(|o| format!("{} {}", o.name, per_second(o.workers))).collect();
        write!(f, "{RATE} requests a second; the origins can do: {}; ", all.join(", "))?;
        let phases: Vec<String> =
            self.phases.iter().map(|(name, time)| format!("{name} {} s", time.as_secs())).collect();
        write!(f, "{} (a can do {})", phases.join(", "), per_second(ORIGINS[SLOW].workers) / f64::from(SLOWER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other() {
        let plan = Plan::of(3, 5, 2);
        let at = |seconds| plan.phase(Duration::from_secs(seconds));
        assert_eq!([0, 2, 3, 7, 8, 99].map(at), [0, 0, 1, 1, 2, 2]);
        assert_eq!(plan.total(), Duration::from_secs(10));
    }
}
