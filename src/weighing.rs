//! How the weight of a member comes about: the policy of a director, and what was reported.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use policy::reported::{Effect, Reported, WeightPolicy};

use crate::ffi::snapshot::{Snapshot, Writer};

/// The policy of a director, and when the next weight is too old.
pub struct Weighing {
    policy: OnceLock<WeightPolicy>,
    /// No weight expires before this; the bits of an `f64`, in seconds since the epoch. Where a weight is set meanwhile,
    /// picks may go by the old time or the new one.
    next_expiry: AtomicU64,
}

impl Default for Weighing {
    fn default() -> Self {
        Weighing { policy: OnceLock::new(), next_expiry: AtomicU64::new(f64::INFINITY.to_bits()) }
    }
}

impl Weighing {
    /// The policy; without one, weights are what they are set to.
    #[must_use]
    pub fn policy(&self) -> WeightPolicy {
        self.policy.get().copied().unwrap_or_default()
    }

    /// Whether there is a policy.
    #[must_use]
    pub fn has_policy(&self) -> bool {
        self.policy.get().is_some()
    }

    /// Sets the policy, once. Whether it did.
    pub fn set_policy(&self, policy: WeightPolicy) -> bool {
        self.policy.set(policy).is_ok()
    }

    /// Whether a weight may be too old now. Costs a load: every pick asks.
    #[must_use]
    pub fn is_due(&self, now: f64) -> bool {
        now >= f64::from_bits(self.next_expiry.load(Relaxed))
    }

    /// That a weight expires then, a time that is not negative.
    pub fn expires_at(&self, time: f64) {
        // Such numbers have the order of their bits
        self.next_expiry.fetch_min(time.to_bits(), Relaxed);
    }

    /// When this weight expires, if it does.
    fn note(&self, reported: &Reported, policy: &WeightPolicy) {
        if let Some(expiry) = reported.expiry(policy) {
            self.expires_at(expiry);
        }
    }

    /// Before all weights are asked when they expire.
    fn ask_anew(&self) {
        self.next_expiry.store(f64::INFINITY.to_bits(), Relaxed);
    }

    /// The right to change weights, if one may be too old now and no other thread is about to change them. All of them are
    /// to be asked then.
    pub fn writer_if_due<'a, T>(&self, states: &'a Snapshot<T>, now: f64) -> Option<Writer<'a, T>> {
        if !self.is_due(now) {
            return None;
        }
        let writer = states.try_write()?;
        self.ask_anew();
        Some(writer)
    }
}

/// What was reported of one member, or rather entry: a backend that was added twice has two.
///
/// The states of a director share it. Weights change under the writer's lock of the director; the mutex in here is for
/// those who list, and for statistics.
pub struct Reports<S> {
    record: Mutex<Record>,
    /// Told of every change, in their order.
    shown: S,
}

/// What there is in statistics of the reports of a member.
pub struct Numbers {
    /// The weight.
    pub weight: f64,
    /// The weight without reports.
    pub base: f64,
    /// How many reports were taken.
    pub updates: u64,
    /// How many were not, as they were bad weights.
    pub refusals: u64,
    /// When the last one was taken, in seconds since the epoch; 0 if there was none.
    pub last_report: f64,
}

/// Somebody who shows statistics. Is called under a lock.
pub trait Show {
    /// Takes the latest.
    fn show(&self, numbers: &Numbers);
}

#[derive(Clone, Copy)]
struct Record {
    reported: Reported,
    updates: u64,
    refusals: u64,
    last_report: f64,
    /// The weight that the log had last.
    logged: f64,
}

/// A weight that changed by so much, of the one that was logged last, is logged.
const MATTERS: f64 = 0.1;

/// A change of a weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The new weight.
    pub weight: f64,
    /// If the change is one for the log: the weight that was there before, and what happened.
    pub record: Option<(f64, What)>,
}

/// What happened to a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is 0 now.
    Drained,
    /// It is not 0 any more.
    Undrained,
    /// Nothing was reported for too long.
    Expired,
    /// It changed by more than a tenth.
    Changed,
}

/// What there is to list of the reports of a member.
#[derive(Clone)]
pub struct Listed {
    /// The weight without reports.
    pub base: f64,
    /// Why the weight is not the one that was reported last.
    pub effects: Vec<Effect>,
}

impl<S: Show> Reports<S> {
    /// Of a member that was added with this weight.
    #[must_use]
    pub fn new(base: f64, shown: S) -> Self {
        let reported = Reported::new(base);
        let record = Record { reported, updates: 0, refusals: 0, last_report: 0.0, logged: base };
        Reports { record: Mutex::new(record), shown }
    }

    /// Who shows it.
    #[must_use]
    pub fn shown(&self) -> &S {
        &self.shown
    }

    /// Has it shown.
    pub fn show(&self) {
        self.change(|_| ());
    }

    /// Counts a report of a bad weight.
    pub fn refuse(&self) {
        self.change(|record| record.refusals += 1);
    }

    /// Takes a report, of a valid weight.
    pub fn report(&self, weighing: &Weighing, value: f64, now: f64) -> Change {
        let policy = weighing.policy();
        self.change(|record| {
            record.updates += 1;
            record.last_report = now;
            record.reported.report(&policy, value, now);
            weighing.note(&record.reported, &policy);
            record.changed(None)
        })
    }

    /// Returns to the base weight if it is time. Gives the new weight if it did.
    pub fn expire(&self, weighing: &Weighing, now: f64) -> Option<Change> {
        let policy = weighing.policy();
        self.change(|record| {
            let change = record.reported.expire(&policy, now).then(|| record.changed(Some(What::Expired)));
            weighing.note(&record.reported, &policy);
            change
        })
    }

    /// What there is to list.
    #[must_use]
    pub fn listed(&self, policy: &WeightPolicy) -> Listed {
        let record = *self.record();
        let effects = record.reported.effects(policy).collect();
        Listed { base: record.reported.base(), effects }
    }

    /// Whether there was a report, ever.
    #[must_use]
    pub fn is_steered(&self) -> bool {
        self.record().updates > 0
    }

    fn change<R>(&self, change: impl FnOnce(&mut Record) -> R) -> R {
        let mut record = self.record();
        let result = change(&mut record);
        self.shown.show(&Numbers {
            weight: record.reported.weight(),
            base: record.reported.base(),
            updates: record.updates,
            refusals: record.refusals,
            last_report: record.last_report,
        });
        result
    }

    /// A panic ends the process, so that nobody meets a poisoned mutex.
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    fn changed(&mut self, what: Option<What>) -> Change {
        let (old, new) = (self.logged, self.reported.weight());
        let what = what.or_else(|| match (old, new) {
            (o, n) if o == n => None,
            (_, 0.0) => Some(What::Drained),
            (0.0, _) => Some(What::Undrained),
            (o, n) => ((n - o).abs() > MATTERS * o).then_some(What::Changed),
        });
        if what.is_some() {
            self.logged = new;
        }
        Change { weight: new, record: what.map(|what| (old, what)) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, Reports, Show, Weighing, What};
    use policy::reported::WeightPolicy;
    use std::cell::RefCell;

    impl Show for () {
        fn show(&self, _: &Numbers) {}
    }

    /// All that was shown.
    #[derive(Default)]
    struct Shown(RefCell<Vec<(f64, u64, u64, f64)>>);

    impl Show for Shown {
        fn show(&self, n: &Numbers) {
            assert_eq!(n.base, 1.0);
            self.0.borrow_mut().push((n.weight, n.updates, n.refusals, n.last_report));
        }
    }

    #[test]
    fn what_is_shown() {
        let weighing = Weighing::default();
        assert!(weighing.set_policy(WeightPolicy { ttl: 10.0, ..WeightPolicy::default() }));
        let reports = Reports::new(1.0, Shown::default());
        assert!(!reports.is_steered());
        reports.show();
        reports.refuse();
        assert!(!reports.is_steered());
        reports.report(&weighing, 2.0, 100.0);
        reports.refuse();
        reports.report(&weighing, 2.0, 105.0);
        reports.expire(&weighing, 110.0);
        reports.expire(&weighing, 115.0);
        let expected = [
            (1.0, 0, 0, 0.0),
            (1.0, 0, 1, 0.0),
            (2.0, 1, 1, 100.0),
            (2.0, 1, 2, 100.0),
            (2.0, 2, 2, 105.0),
            (2.0, 2, 2, 105.0),
            (1.0, 2, 2, 105.0),
        ];
        assert_eq!(*reports.shown().0.borrow(), expected);
    }

    #[test]
    fn changes_that_matter() {
        let (weighing, reports) = (Weighing::default(), Reports::new(1.0, ()));
        let mut log = Vec::new();
        // Small steps count once they add up
        for value in [1.0, 1.06, 1.09, 1.12, 1.05, 1.0, 0.0, 0.0, 2.0, 2.1] {
            let change = reports.report(&weighing, value, 0.0);
            assert_eq!(change.weight, value);
            log.extend(change.record);
        }
        let expected = [(1.0, What::Changed), (1.12, What::Changed), (1.0, What::Drained), (0.0, What::Undrained)];
        assert_eq!(log, expected);
        assert!(!weighing.is_due(1e18), "nothing expires");
    }

    #[test]
    fn the_next_expiry_is_the_first() {
        let weighing = Weighing::default();
        assert!(weighing.set_policy(WeightPolicy { ttl: 10.0, ..WeightPolicy::default() }));
        assert!(!weighing.set_policy(WeightPolicy::default()), "once");
        let (a, b) = (Reports::new(1.0, ()), Reports::new(1.0, ()));
        a.report(&weighing, 2.0, 100.0);
        b.report(&weighing, 3.0, 105.0);
        assert!(!weighing.is_due(109.9) && weighing.is_due(110.0));
        weighing.ask_anew();
        let change = a.expire(&weighing, 110.0);
        assert_eq!(change.and_then(|c| c.record), Some((2.0, What::Expired)));
        assert_eq!(b.expire(&weighing, 110.0), None);
        assert!(!weighing.is_due(114.9) && weighing.is_due(115.0));
    }
}
