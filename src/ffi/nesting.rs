//! Directors in directors: no loops, and no deeper than the stack holds.
//!
//! A director that is asked for its health or for a backend asks its members, which may be directors, also those of
//! other VMODs. Whether one of them leads back cannot be seen from here when it is added. So each thread keeps a list
//! of the directors that it is asking, and a director that is in it already does not ask any further.

use std::cell::Cell;
use std::ptr;

/// Directors in directors that are followed. One takes less than 1 kB of stack, and workers have 80 kB by default.
pub const LIMIT: usize = 32;

/// Directors that are asked for one answer. Far more than there are, but if many of them contain each other, there are
/// as many ways through them as orders to put them in, and each is followed until it meets itself.
pub const CALLS: u32 = 65_536;

/// Why a director may not be asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is being asked already.
    Loop,
    /// [`LIMIT`] directors are being asked already.
    TooDeep,
    /// [`CALLS`] directors have been asked already.
    TooMany {
        /// Nobody was refused for this reason before, for the same answer.
        first: bool,
    },
}

struct Frame {
    key: *const (),
    outer: *const Frame,
    /// Of the outermost frame: how many were asked below it.
    calls: Cell<u32>,
}

thread_local! {
    /// The innermost frame. Has no destructor: one would keep the library from being unloaded.
    static INNERMOST: Cell<*const Frame> = const { Cell::new(ptr::null()) };
}

/// Calls `ask` with the director `key` on the list of this thread.
pub fn within<R>(key: *const (), ask: impl FnOnce() -> R) -> Result<R, Refused> {
    // One look-up of the thread's own: in a library that is loaded at run time it is a function call.
    INNERMOST.with(|innermost| {
        let outer = innermost.get();
        let mut depth = 0;
        let mut outermost = None;
        let mut frame = outer;
        // SAFETY: each frame in the list is a local of a call of this function that has not returned: `Leave` takes
        // it off the list before its place on the stack is gone, also on unwinding. Other threads do not see it.
        while let Some(f) = unsafe { frame.as_ref() } {
            if f.key == key {
                return Err(Refused::Loop);
            }
            depth += 1;
            outermost = Some(&f.calls);
            frame = f.outer;
        }
        if depth >= LIMIT {
            return Err(Refused::TooDeep);
        }
        if let Some(calls) = outermost {
            let asked = calls.get();
            calls.set(asked.saturating_add(1));
            if asked >= CALLS {
                return Err(Refused::TooMany { first: asked == CALLS });
            }
        }
        let here = Frame { key, outer, calls: Cell::new(0) };
        innermost.set(&here);
        let _leave = Leave { innermost, outer };
        Ok(ask())
    })
}

struct Leave<'a> {
    innermost: &'a Cell<*const Frame>,
    outer: *const Frame,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.innermost.set(self.outer);
    }
}

#[cfg(test)]
mod tests {
    use super::{within, Refused, CALLS, LIMIT};

    fn key(n: usize) -> *const () {
        std::ptr::without_provenance(n)
    }

    fn nest(n: usize) -> Result<usize, Refused> {
        within(key(n), || nest(n + 1).map_or(1, |depth| depth + 1))
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(nest(1), Ok(LIMIT));
        assert_eq!(nest(1), Ok(LIMIT), "the list is empty again");
    }

    #[test]
    fn calls_are_bounded() {
        let mut refused = Vec::new();
        let outer = within(key(1), || {
            for n in 2..CALLS as usize + 10 {
                if let Err(why) = within(key(n), || ()) {
                    refused.push(why);
                }
            }
        });
        assert_eq!(outer, Ok(()));
        assert_eq!(refused.len(), 8);
        assert_eq!(refused.iter().filter(|r| **r == Refused::TooMany { first: true }).count(), 1);
        assert_eq!(within(key(1), || within(key(2), || ())), Ok(Ok(())), "the next answer starts anew");
    }

    #[test]
    fn loops_are_found() {
        let inner = within(key(1), || within(key(2), || within(key(1), || ())));
        assert_eq!(inner, Ok(Ok(Err(Refused::Loop))));
        let siblings = within(key(1), || (within(key(2), || ()), within(key(2), || ())));
        assert_eq!(siblings, Ok((Ok(()), Ok(()))));
    }
}
