//! Canvases: one JSON document that people and agents edit together.
//!
//! The order of the log is the order of the changes. A [`Patch`] names the version that its author saw; [`decide`]
//! compares it with the patches that were committed since and accepts it, or rejects it with the reason. The document
//! is a fold of the accepted patches ([`Document::apply`]). [`Client`] is the client side: it has the document that a
//! browser or an agent shows while its own changes wait for an answer.
//!
//! The operations are a closed set (add, replace, remove, test) that this module applies itself. The `json-patch` crate
//! applies the whole of RFC 6902, without limits, and panics on some sequences of `move`.

/// Source of sessions that are canvases.
pub const SOURCE: &str = "collab";
/// Id of the patch with which a canvas begins.
pub const FIRST_OP_ID: &str = "start";

mod behind;
mod blame;
mod change_words;
pub mod changes;
mod client;
#[cfg(test)]
mod client_tests;
mod decide;
mod difference;
mod document;
pub mod edit;
#[cfg(test)]
mod fuzz_tests;
mod letters;
mod members;
#[cfg(test)]
mod model_tests;
mod notice;
mod operation;
mod order;
pub mod outline;
mod participant;
mod path;
mod pending;
mod presence;
mod related;
mod schema;
mod snapshot;
#[cfg(test)]
mod tests;
mod words;

pub use blame::Blame;
pub use change_words::change_words;
pub use client::{Answer, Client, Received, UndoRefusal};
pub use decide::{Accepted, Committed, Head, Overwritten, Reason, Rejected, decide};
pub use difference::operations;
pub use document::{Applied, Document, Failure, OverLimit};
pub use notice::Notice;
pub use operation::{Invalid, Operation, Patch};
pub use order::{NoRoom, between, is_order, spread};
pub use participant::{Participant, ParticipantRole, SuggestionState};
pub use path::Path;
pub use presence::{NotSent, Peers, Presence, Selection};
pub use schema::is_small_schema;
pub use snapshot::is_snapshot_due;
