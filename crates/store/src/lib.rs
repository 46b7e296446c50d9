//! Storage on both engines. Only this crate (with `migrations/`) contains SQL.
//!
//! One SQL text serves both engines where possible, with `$1` binds, ids, integers and text. Where the
//! engines differ, a `match` has an arm for each. Reads go through [`Store::read`], writes through
//! [`Store::write`] and [`Store::append`]. Each takes the [`Access`] that it runs with, which PostgreSQL
//! enforces row by row.
//!
//! A module has the tables of one subject. Modules use each other one way, from the bottom up: `engine`, `event`,
//! `transaction`, the subjects, `writer`, `open`, `statements`.
//!
//! # Errors
//!
//! Every function that returns a [`Result`] fails with an [`Error`] if the database does, or with
//! [`Error::Inconsistent`] if a row that it reads holds a value that this version does not know. This is not repeated.
//! A function that has another failure names it in its own `# Errors`.

pub mod action;
pub mod audit;
mod auth;
pub mod canvas;
pub mod canvas_inbox;
pub mod continuity;
pub mod criteria_set;
mod engine;
pub mod entity;
pub mod entity_type;
pub mod event;
pub mod failure;
pub mod feedback;
pub mod feedback_request;
pub mod gate;
pub mod group;
pub mod human;
pub mod insight;
pub mod interaction;
pub mod lease;
pub mod mcp_server;
pub mod memory;
pub mod memory_figure;
pub mod memory_forget;
pub mod memory_ranker;
pub mod memory_writer;
mod open;
pub mod outbox;
pub mod paced_run;
pub mod relevance;
pub mod response;
pub mod retention;
pub mod rule;
pub mod search;
pub mod session;
pub mod share_link;
mod statements;
pub mod telemetry;
pub mod thread;
pub mod tool;
pub mod tool_draft;
pub mod tool_link;
pub mod tool_run;
pub mod tool_run_output;
pub mod tool_saved_input;
pub mod tool_step;
mod transaction;
pub mod verify;
pub mod view;
pub mod view_link;
pub mod webhook;
pub mod work_queue;
pub mod worker;
mod writer;

pub use action::ActionRecord;
pub use audit::EntryRecord;
pub use auth::{
    AccessLinkRecord, BrowserSessionRecord, LinkPurpose, MemberRecord, SignInAttempts, SignInRecord, TenantRecord,
    TokenRecord, UserRecord, access_link, browser_session, clear_sign_in_attempts, lock_sign_in_attempts,
    prune_sign_in_attempts, record_sign_in_attempt, sign_in_attempts, tenant, token, user,
};
pub use canvas::{CanvasRecord, ListedCanvas, ParticipantRecord, SuggestionRecord};
pub use criteria_set::CriteriaSetRecord;
pub use engine::{Access, Conn, Error, Page, Result, SPAN_TARGET};
pub use entity::{EntityRecord, EntityVersionRecord, ImportRecord};
pub use entity_type::EntityTypeRecord;
pub use event::{
    AppendOutcome, AppendRefusal, AppendRequest, Change, Notice, PreparedEvent, PresenceNotice, ProgressNotice,
};
pub use failure::FailureRecord;
pub use feedback::{FeedbackBackend, FeedbackRecord};
pub use feedback_request::{AnswerRecord, RequestRecord};
pub use gate::{DecisionRecord, ReviewerRecord};
pub use group::GroupRecord;
pub use interaction::export_job;
pub use lease::LeaseTime;
pub use mcp_server::{McpListingRecord, McpServerRecord};
pub use memory::{CardRecord, MemoryAgentRecord, MemoryDocumentRecord, MemoryVersionRecord, MemoryVersionText};
pub use open::{Database, DatabaseUse, Mode, SQLITE_FILE, Store};
pub use outbox::MessageRecord;
pub use paced_run::{PacedRunRecord, PacedSessionRecord};
pub use response::{Promotion, ResponseCounts, ResponseRecord, ResponseState};
pub use rule::{RuleRecord, RuleUseRecord, RuleVersionRecord};
pub use search::SavedSearchRecord;
pub use share_link::ShareLinkRecord;
pub use statements::statements;
pub use tool::{ToolRecord, ToolSecretRecord, ToolVersionRecord};
pub use tool_draft::ToolDraftRecord;
pub use tool_link::ToolLinkRecord;
pub use tool_run_output::ToolRunOutputRecord;
pub use tool_saved_input::SavedInputRecord;
pub use transaction::{Body, Committed, WriteTx};
pub use verify::roll;
pub use view::{ViewRecord, ViewVersionRecord};
pub use view_link::ViewLinkRecord;
pub use webhook::WebhookRecord;
pub use worker::AgentWorkers;
pub use writer::Stats;
