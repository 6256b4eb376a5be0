//! A server on a loopback port, and a little HTTP, for programs that try it out.

pub mod http;
pub mod server;
