//! Failures: what is to be known, and could be done, about sessions that ended badly.

mod acknowledge;
mod list;

pub use acknowledge::acknowledge;
pub use list::{ListFailures, list, of_sessions};
