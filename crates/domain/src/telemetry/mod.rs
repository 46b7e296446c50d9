//! Training telemetry: whether a workspace shares anonymous numbers about the usefulness of memories, and which.

mod opt_in;
mod share;

pub use opt_in::{Declined, OptIn, PROMPT, PROMPT_DAYS, PROMPT_HOURS};
pub use share::{SharedMemory, SharedSession, share};
