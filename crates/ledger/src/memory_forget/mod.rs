//! Forgetting a person in the memories of all agents of a workspace, and erasing one document.
//!
//! Erased are their documents, lines that come from their turns, lines that name them, proposals that quote either,
//! denied lines, leads who gave the person's name or address before a form, with their responses, and the training data
//! of sessions in which they wrote. A mark stays, so that no writer learns them again and nothing more is captured of
//! them. The logs of conversations are not touched: retention erases those.

mod apply;
mod ask;
mod document;
mod find;
mod lead;
mod person;
mod promoted;
mod training;

pub use apply::{Remembered, forget, lift};
pub use ask::{ForgetRequestRecord, ask, requests, withdraw};
pub use document::erase;
pub use find::{Forget, Forgetting, ForgottenDocument, ForgottenProposal, preview};
pub use lead::ForgottenLead;
pub use promoted::PromotedEntity;

/// Why others are refused.
const ADMINS: &str = "only admins can forget a person or let one be remembered again";
