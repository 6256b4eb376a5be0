//! What the measuring programs share.

pub mod machine;
pub mod sample;
