//! Causes of failures: failures with the same error code, tool, step and normalised message have the same cause.
//!
//! [`Fingerprint`] groups failures, [`normalise`] cuts what differs between two failures of one cause, [`Origin`] names
//! the tool and the step in which a session failed, and [`state::current`] says whether people must look at a cause.

mod fingerprint;
mod message;
mod origin;
mod placeholder;
mod quote;
pub mod state;
mod token;
mod unit;
mod window;

pub use fingerprint::{Fingerprint, RULE, fingerprint};
pub use message::normalise;
pub use origin::{KINDS, Origin, origin};
pub use state::{CauseState, Current, Opening};
pub use window::{Span, Window};

#[cfg(test)]
mod cases;
#[cfg(test)]
mod tests;
