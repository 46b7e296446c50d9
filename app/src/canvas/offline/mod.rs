//! Changes of a canvas that the server has not answered, kept in IndexedDB, so that neither a lost connection nor a
//! reload nor a closed tab loses what was typed.
//!
//! Each tab keeps and sends its own changes. The changes of a tab that is gone are taken over by the next one that
//! opens the canvas; a Web Lock that each tab holds says which tabs are gone. A change that is sent twice is applied
//! once, because it has an id.

#[cfg(feature = "hydrate")]
mod outbox;
mod queue;
#[cfg(feature = "hydrate")]
mod rows;

#[cfg(feature = "hydrate")]
pub use outbox::{Outbox, Rejected, Typed};
