//! Any reply of an agent: no panic, and a weight or nothing. What must not matter does not, and what is no word of an
//! agent is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use report::agent::weight;

fuzz_target!(|reply: &[u8]| {
    let base = 3.0;
    let value = weight(reply, base);
    assert!(value.is_none_or(|w| w.is_finite() && w >= 0.0), "{value:?}");
    assert_eq!(weight(&reply.to_ascii_uppercase(), base), value, "capitals");
    assert_eq!(weight(&[reply, b" # drain"].concat(), base), value, "a comment");
    assert_eq!(weight(&[b" ,", reply, b"\r\n"].concat(), base), value, "blanks");
    if !reply.contains(&b'#') {
        assert_eq!(weight(&[reply, b" ?"].concat(), base), None, "garbage after it");
        let up = weight(&[reply, b" down"].concat(), base);
        assert!(up.is_none() || up == Some(0.0), "{up:?}");
    }
});
