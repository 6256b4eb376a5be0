//! Immutable states that readers take without a lock.
//!
//! A [`Snapshot`] has a few slots, one of which is the current one, and for each slot counts of those who read it: one
//! for each of several *lanes*, so that threads on different processors do not fight over a count. So
//!
//! - a reader looks which slot is current, counts itself in, and looks again. If the slot still is the current one, the
//!   reader may stay; if not, it begins anew, which only happens while somebody publishes. It counts itself out when it
//!   is done. It never waits, and needs no memory of its own;
//! - a writer fills a slot that nobody uses, makes it the current one, and then looks at the counts of the one before.
//!   Who counts itself in later will find that that slot is no longer current. So once each count has been seen at 0,
//!   nobody reads it any more, and it is free.
//!
//! Both sides write one thing and then read what the other side writes. That one of them sees the other is what
//! sequentially consistent order is for.
//!
//! The writer, and no other thread, disposes of old states. It can do so at once ([`Writer::reclaim_all`], which waits
//! for the readers) or leave them to the next writer.

use std::ops::Deref;

use self::sync::{full_fence, lane, yield_now, AtomicUsize, Cell, Mutex, MutexGuard, Ordering, ReadPtr};

/// More slots let writers run ahead of slow readers.
const SLOTS: usize = 4;
/// Processors with the same number modulo this share counts.
const LANES: usize = if cfg!(loom) { 2 } else { 16 };

/// A value that is replaced as a whole, never changed.
pub struct Snapshot<T> {
    /// The number of the current slot.
    current: AtomicUsize,
    slots: [Cell<Option<T>>; SLOTS],
    lanes: [Lane; LANES],
    /// Held by the one writer. Has what the readers do not need.
    writer: Mutex<Books>,
}

/// How many readers each slot has, of those who came this way. What different processors write should not share a cache
/// line; two of them, as they are fetched in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Lane([AtomicUsize; SLOTS]);

struct Books {
    current: usize,
    /// Which slots have a value but are not current.
    outdated: [bool; SLOTS],
}

// SAFETY: readers on several threads share a `T`, hence `T: Sync`, and the writer that drops it may be on another
// thread than the one that made it, hence `T: Send`. The cells are written only by the writer, while it holds the
// mutex, and only those that no reader can be in; see `Writer::publish` and `Writer::free`.
unsafe impl<T: Send + Sync> Sync for Snapshot<T> {}
// SAFETY: owns its values, and nothing else that is tied to a thread.
unsafe impl<T: Send> Send for Snapshot<T> {}

impl<T> Snapshot<T> {
    /// A snapshot with a first value.
    pub fn new(value: T) -> Self {
        let mut first = Some(value);
        Snapshot {
            current: AtomicUsize::new(0),
            slots: std::array::from_fn(|_| Cell::new(first.take())),
            lanes: std::array::from_fn(|_| Lane::default()),
            writer: Mutex::new(Books { current: 0, outdated: [false; SLOTS] }),
        }
    }

    /// The current value. Lock-free.
    #[inline]
    pub fn load(&self) -> Guard<'_, T> {
        self.load_in(lane())
    }

    #[inline]
    fn load_in(&self, lane: usize) -> Guard<'_, T> {
        let Lane(lane) = &self.lanes[lane % LANES];
        let mut now = self.current.load(Ordering::Relaxed);
        loop {
            let readers = &lane[now % SLOTS];
            readers.fetch_add(1, Ordering::SeqCst);
            full_fence();
            // In the single order of all such accesses this comes after counting in. If the writer that replaces this
            // value does not see the count, its store of `current` comes before both, and is seen here. Also an acquire,
            // so that what the writer put into the slot is seen.
            let then = std::mem::replace(&mut now, self.current.load(Ordering::SeqCst));
            if now == then {
                return Guard { value: self.slots[now % SLOTS].read(), readers };
            }
            readers.fetch_sub(1, Ordering::Release);
        }
    }

    /// Becomes the writer. Other writers wait; readers do not. To be held for a short time only, and not across calls
    /// into the server.
    pub fn write(&self) -> Writer<'_, T> {
        Writer { snapshot: self, books: sync::lock(&self.writer) }
    }

    /// As [`Snapshot::write`], but does not wait: `None` if there is a writer.
    pub fn try_write(&self) -> Option<Writer<'_, T>> {
        Some(Writer { snapshot: self, books: sync::try_lock(&self.writer)? })
    }
}

/// A value that is kept for as long as the guard.
pub struct Guard<'a, T> {
    value: ReadPtr<Option<T>>,
    /// Where this reader is counted: it may be on another processor in the end.
    readers: &'a AtomicUsize,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this reader is counted, and was before the slot was last seen to be the current one. So no writer
        // that replaced the value since finds all counts of the slot at 0, and none touches the cell before this guard
        // is dropped. The writer that made the slot current wrote it before.
        match unsafe { self.value.get() } {
            Some(value) => value,
            None => unreachable!("the current slot has a value"),
        }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.value.done();
        // Release, so that all reads of the value are over before a writer sees the count.
        self.readers.fetch_sub(1, Ordering::Release);
    }
}

/// The right to replace the value.
pub struct Writer<'a, T> {
    snapshot: &'a Snapshot<T>,
    books: MutexGuard<'a, Books>,
}

impl<T> Writer<'_, T> {
    /// The current value, which only this writer can replace.
    pub fn current(&self) -> &T {
        let value = self.snapshot.slots[self.books.current].read();
        value.done();
        // SAFETY: cells are written only by the writer, which is us, in methods that want `&mut self`: not while the
        // result is borrowed. The value was written by this thread or under the mutex that it holds.
        match unsafe { value.get_unbound() } {
            Some(value) => value,
            None => unreachable!("the current slot has a value"),
        }
    }

    /// Replaces the value: who loads from now on gets `value`. Older values are dropped here as far as nobody reads
    /// them any more; waits only if all slots are being read.
    pub fn publish(&mut self, value: T) {
        let free = self.free_slot();
        // SAFETY: the slot is not current, and nobody is in it, as `free_slot` made sure.
        unsafe { self.snapshot.slots[free].replace(Some(value)) };
        // Also a release, so that who finds the slot finds the value.
        self.snapshot.current.store(free, Ordering::SeqCst);
        full_fence();
        let old = std::mem::replace(&mut self.books.current, free);
        self.books.outdated[old] = true;
    }

    /// Takes out all values but the current one, waiting for their readers. Nothing of them is left behind when the
    /// result is dropped, which should be after the writer.
    #[must_use]
    pub fn reclaim_all(&mut self) -> Vec<T> {
        let mut values = Vec::with_capacity(SLOTS - 1);
        for i in 0..SLOTS {
            let mut wait = Wait::default();
            while self.books.outdated[i] {
                match self.free(i) {
                    Some(value) => values.push(value),
                    None => wait.a_moment(),
                }
            }
        }
        values
    }

    fn free_slot(&mut self) -> usize {
        let mut wait = Wait::default();
        loop {
            for i in 0..SLOTS {
                drop(self.free(i));
            }
            let books = &self.books;
            if let Some(i) = (0..SLOTS).find(|i| *i != books.current && !books.outdated[*i]) {
                return i;
            }
            wait.a_moment();
        }
    }

    /// Takes the value out of a slot that is outdated, if nobody reads it.
    fn free(&mut self, i: usize) -> Option<T> {
        // Also an acquire, which pairs with the release of each reader that left.
        let is_read = |Lane(readers): &Lane| readers[i].load(Ordering::SeqCst) != 0;
        if !self.books.outdated[i] || self.snapshot.lanes.iter().any(is_read) {
            return None;
        }
        self.books.outdated[i] = false;
        // SAFETY: the slot was made outdated by a store of `current`, and each count has been 0 since, so that who was
        // counted before it has left, and who came later does not stay: see `load`.
        unsafe { self.snapshot.slots[i].replace(None) }
    }
}

/// Spins for a moment, then lets other threads run: the reader may be one that was preempted. Then sleeps: it may be
/// one that waits for something itself.
#[derive(Default)]
struct Wait(u32);

impl Wait {
    fn a_moment(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 {
            _ if cfg!(loom) => yield_now(),
            0..64 => std::hint::spin_loop(),
            64..1024 => yield_now(),
            _ => std::thread::sleep(std::time::Duration::from_micros(50)),
        }
    }
}

#[cfg(not(loom))]
mod sync {
    use std::cell::UnsafeCell;
    pub use std::sync::atomic::{AtomicUsize, Ordering};
    pub use std::sync::{Mutex, MutexGuard};
    use std::sync::{PoisonError, TryLockError};
    pub use std::thread::yield_now;

    /// The number of this processor. It need not be right: whoever shares a lane only waits for its cache line.
    #[inline]
    pub fn lane() -> usize {
        #[cfg(all(any(target_os = "linux", target_os = "freebsd"), not(miri)))]
        // SAFETY: no preconditions. -1 where the system cannot tell.
        return unsafe { libc::sched_getcpu() } as usize;
        #[cfg(not(all(any(target_os = "linux", target_os = "freebsd"), not(miri))))]
        0
    }

    /// What there is between two accesses that are sequentially consistent.
    #[inline]
    pub fn full_fence() {}

    /// A panic ends the process, so that nobody meets a poisoned mutex.
    pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
        match mutex.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(e)) => Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// An `UnsafeCell` whose accesses the model checker can follow.
    pub struct Cell<T>(UnsafeCell<T>);

    impl<T> Cell<T> {
        pub fn new(value: T) -> Self {
            Cell(UnsafeCell::new(value))
        }

        pub fn read(&self) -> ReadPtr<T> {
            ReadPtr(self.0.get())
        }

        /// # Safety
        /// Nobody else reads or writes the cell meanwhile.
        pub unsafe fn replace(&self, value: T) -> T {
            // SAFETY: as the caller promises.
            unsafe { std::ptr::replace(self.0.get(), value) }
        }
    }

    pub struct ReadPtr<T>(*const T);

    impl<T> ReadPtr<T> {
        /// # Safety
        /// The cell is alive, and nobody writes it until `self` is dropped.
        pub unsafe fn get(&self) -> &T {
            // SAFETY: as the caller promises.
            unsafe { &*self.0 }
        }

        /// # Safety
        /// The cell is alive, and nobody writes it for the lifetime of the result.
        pub unsafe fn get_unbound<'a>(self) -> &'a T {
            // SAFETY: as the caller promises.
            unsafe { &*self.0 }
        }

        pub fn done(&self) {}
    }
}

#[cfg(loom)]
mod sync {
    use std::cell::RefCell;

    pub use loom::sync::atomic::{AtomicUsize, Ordering};
    pub use loom::sync::{Mutex, MutexGuard};
    pub use loom::thread::yield_now;

    /// Models say themselves where their threads are.
    pub fn lane() -> usize {
        0
    }

    /// The model checker takes sequentially consistent accesses for acquire and release, but knows such fences.
    pub fn full_fence() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }

    pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
        mutex.try_lock().ok()
    }

    pub struct Cell<T>(loom::cell::UnsafeCell<T>);

    impl<T> Cell<T> {
        pub fn new(value: T) -> Self {
            Cell(loom::cell::UnsafeCell::new(value))
        }

        pub fn read(&self) -> ReadPtr<T> {
            let tracked = self.0.get();
            // SAFETY: only the address is taken.
            let address: *const T = unsafe { tracked.deref() };
            ReadPtr(address, RefCell::new(Some(tracked)))
        }

        /// # Safety
        /// Nobody else reads or writes the cell meanwhile.
        pub unsafe fn replace(&self, value: T) -> T {
            // SAFETY: as the caller promises.
            self.0.with_mut(|p| unsafe { std::ptr::replace(p, value) })
        }
    }

    /// Counts as a read for as long as it is not done.
    pub struct ReadPtr<T>(*const T, RefCell<Option<loom::cell::ConstPtr<T>>>);

    impl<T> ReadPtr<T> {
        /// # Safety
        /// The cell is alive, and nobody writes it until `self` is dropped.
        pub unsafe fn get(&self) -> &T {
            // SAFETY: as the caller promises.
            unsafe { &*self.0 }
        }

        /// # Safety
        /// The cell is alive, and nobody writes it for the lifetime of the result.
        pub unsafe fn get_unbound<'a>(self) -> &'a T {
            // SAFETY: as the caller promises.
            unsafe { &*self.0 }
        }

        pub fn done(&self) {
            self.1.borrow_mut().take();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::Arc;

    use super::Snapshot;

    /// Whoever reads sees one whole state, and all states are dropped once.
    #[test]
    fn stress() {
        struct State {
            pair: (u64, u64),
            alive: Arc<AtomicUsize>,
        }
        impl Drop for State {
            fn drop(&mut self) {
                self.pair = (1, 0);
                self.alive.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let rounds = if cfg!(miri) { 50 } else { 20_000 };
        let alive = Arc::new(AtomicUsize::new(0));
        let state = |n: u64| {
            alive.fetch_add(1, Ordering::Relaxed);
            State { pair: (n, n), alive: Arc::clone(&alive) }
        };
        let snapshot = Snapshot::new(state(0));
        let stop = AtomicBool::new(false);
        std::thread::scope(|s| {
            let readers: Vec<_> = (0..3)
                .map(|_| {
                    s.spawn(|| {
                        let mut last = 0;
                        while !stop.load(Ordering::Relaxed) {
                            let now = snapshot.load();
                            assert_eq!(now.pair.0, now.pair.1);
                            assert!(now.pair.0 >= last, "a reader never goes back");
                            last = now.pair.0;
                        }
                    })
                })
                .collect();
            let writers: Vec<_> = (0..2)
                .map(|_| {
                    s.spawn(|| {
                        for round in 0..rounds {
                            let mut writer = snapshot.write();
                            let next = writer.current().pair.0 + 1;
                            writer.publish(state(next));
                            if round % 3 == 0 {
                                let old = writer.reclaim_all();
                                drop(writer);
                                drop(old);
                            }
                        }
                    })
                })
                .collect();
            for w in writers {
                assert!(w.join().is_ok());
            }
            stop.store(true, Ordering::Relaxed);
            for r in readers {
                assert!(r.join().is_ok());
            }
        });
        assert_eq!(snapshot.load().pair.0, 2 * rounds);
        assert!(snapshot.write().reclaim_all().len() < super::SLOTS);
        assert_eq!(alive.load(Ordering::Relaxed), 1);
        drop(snapshot);
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_state_is_kept_while_it_is_read() {
        let snapshot = Snapshot::new(Arc::new(1));
        let guard = snapshot.load();
        let first = Arc::clone(&guard);
        let mut writer = snapshot.write();
        writer.publish(Arc::new(2));
        writer.publish(Arc::new(3));
        assert_eq!(Arc::strong_count(&first), 2);
        drop(guard);
        assert!(writer.reclaim_all().contains(&first));
        assert_eq!(Arc::strong_count(&first), 1);
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::sync::Arc;
    use loom::thread;

    use super::Snapshot;

    /// `RUSTFLAGS="--cfg loom" cargo test --release --lib model`
    #[test]
    fn readers_and_a_writer() {
        loom::model(|| {
            let snapshot = Arc::new(Snapshot::new(Box::new(1)));
            let reader = {
                let snapshot = Arc::clone(&snapshot);
                thread::spawn(move || {
                    let first = **snapshot.load_in(1);
                    let second = **snapshot.load_in(0);
                    assert!(first <= second && second <= 3);
                })
            };
            let mut writer = snapshot.write();
            writer.publish(Box::new(2));
            let old = writer.reclaim_all();
            assert_eq!(old, [Box::new(1)]);
            writer.publish(Box::new(3));
            drop(writer);
            drop(old);
            assert!(reader.join().is_ok());
            assert_eq!(**snapshot.load(), 3);
        });
    }

    #[test]
    fn readers_on_two_processors() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let snapshot = Arc::new(Snapshot::new(Box::new(1)));
            let readers: Vec<_> = (0..2)
                .map(|lane| {
                    let snapshot = Arc::clone(&snapshot);
                    thread::spawn(move || assert!(**snapshot.load_in(lane) <= 2))
                })
                .collect();
            let mut writer = snapshot.write();
            writer.publish(Box::new(2));
            assert_eq!(writer.reclaim_all(), [Box::new(1)]);
            drop(writer);
            for r in readers {
                assert!(r.join().is_ok());
            }
        });
    }

    #[test]
    fn two_writers_and_a_reader() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let snapshot = Arc::new(Snapshot::new(Box::new(1)));
            let threads: Vec<_> = (0..2)
                .map(|write| {
                    let snapshot = Arc::clone(&snapshot);
                    thread::spawn(move || {
                        if write == 1 {
                            let mut writer = snapshot.write();
                            let next = **writer.current() + 1;
                            writer.publish(Box::new(next));
                            drop(writer.reclaim_all());
                        } else {
                            assert!(**snapshot.load() <= 3);
                        }
                    })
                })
                .collect();
            let mut writer = snapshot.write();
            let next = **writer.current() + 1;
            writer.publish(Box::new(next));
            drop(writer);
            for t in threads {
                assert!(t.join().is_ok());
            }
            assert_eq!(**snapshot.load(), 3);
        });
    }
}
