//! SplitMix64 by Steele, Lea and Flood, with the constants of Stafford's Mix13: numbers that look random, from any number.

/// The step from one state to the next, 2^64 divided by the golden ratio. Multiples of it are spread evenly.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number of a state.
#[must_use]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number as a fraction, from 0 up to, but not including, 1: its upper 53 bits.
#[must_use]
pub fn fraction(number: u64) -> f64 {
    (number >> 11) as f64 / 9_007_199_254_740_992.0
}
