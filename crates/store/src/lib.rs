//! Storage on both engines. Only this crate (with `migrations/`) contains SQL.
//!
//! One SQL text serves both engines where possible, with `$1` binds, ids, integers and text. Where the
//! engines differ, a `match` has an arm for each. Reads go through [`Store::read`], writes through
//! [`Store::write`] and [`Store::append`]. Each takes the [`Access`] that it runs with, which PostgreSQL
//! enforces row by row.

pub mod access_link;
pub mod action;
mod append;
mod backup;
pub mod browser_session;
mod conn;
pub mod criteria_set;
pub mod entity;
pub mod entity_import;
pub mod entity_type;
mod error;
pub mod event;
pub mod export_job;
pub mod failure;
pub mod feedback;
pub mod gate;
pub mod group;
pub mod human;
pub mod insight;
pub mod interaction;
pub mod lease;
pub mod mark_due;
mod migration;
mod notify;
mod open;
pub mod outbox;
mod partition;
#[cfg(feature = "planted-bugs")]
mod planted;
mod record;
pub mod retention;
pub mod roll;
pub mod session;
mod sign_in;
mod sql;
mod sqlite;
pub mod tenant;
pub mod thread;
pub mod token;
mod transaction;
pub mod user;
pub mod verify;
pub mod webhook;
pub mod work_queue;
mod writer;

pub use access_link::{AccessLinkRecord, LinkPurpose};
pub use append::{AppendOutcome, AppendRefusal, AppendRequest, PreparedEvent};
pub use conn::{Access, Conn};
pub use error::{Error, Result};
pub use feedback::{FeedbackBackend, FeedbackRecord};
pub use lease::LeaseTime;
pub use open::{Database, Mode, Store};
pub use outbox::MessageRecord;
pub use record::{
    ActionRecord, BrowserSessionRecord, CriteriaSetRecord, DecisionRecord, EntityRecord, EntityTypeRecord,
    EntityVersionRecord, EventRecord, FailureRecord, GateRecord, GroupRecord, ImportRecord, MemberRecord, Page,
    ReviewerRecord, SessionRecord, SignInRecord, TenantRecord, TokenRecord, UserRecord,
};
pub use sign_in::{
    SignInAttempts, clear_sign_in_attempts, lock_sign_in_attempts, prune_sign_in_attempts, record_sign_in_attempt,
    sign_in_attempts,
};
pub use sql::statements;
pub use transaction::{Change, Notice, WriteTx};
pub use webhook::WebhookRecord;
pub use writer::Stats;
