//! Failures: code, message and remedy of sessions that failed, expired or never began.

mod acknowledge;
pub mod cause;
mod list;

pub use acknowledge::acknowledge;
pub use list::{ListFailures, list, of_sessions};
