//! Use cases of the log. Each command or query is one file, named by its verb.
//!
//! Functions take the [`Ledger`] and a [`Scope`], which determines what the caller can see and do. This crate
//! contains no SQL and no HTTP, and reads neither the system clock nor the environment.
//!
//! # Errors
//!
//! Two kinds of failure are not repeated at each function:
//!
//! - Whatever uses the database can fail with [`Error::Unavailable`], [`Error::Unusable`] or [`Error::Internal`], and
//!   with [`Error::Invalid`] for a text with a NUL character that is only searched for.
//! - Whatever takes a [`Scope`] can fail with [`Error::Forbidden`] if the caller's role or token scope lacks the
//!   permission for it.
//!
//! What else a public function refuses is in its own `# Errors`, with the variant and the condition. A function without
//! that section refuses nothing else.

pub mod action;
mod action_input;
mod activity;
pub mod audit;
pub mod auth;
pub mod backup;
pub mod bulk;
pub mod bundle;
pub mod canvas;
mod commit;
mod composition;
mod conflict;
pub mod criteria_set;
mod cursor;
pub mod email;
pub mod entity;
pub mod entity_type;
mod error;
pub mod event;
pub mod export_job;
pub mod failure;
pub mod feedback;
pub mod feedback_request;
pub mod gate;
pub mod group;
mod guard;
pub mod history;
pub mod hook;
pub mod human;
pub mod inbox;
pub mod insight;
mod instance_key;
pub mod interaction;
mod lease;
mod left_open;
mod list_line;
pub mod live;
pub mod mcp_server;
pub mod member;
pub mod memory;
mod memory_block;
mod memory_bounds;
pub mod memory_forget;
pub mod memory_ranker;
pub mod memory_vector;
pub mod memory_writer;
mod open;
pub mod outbox;
mod output;
pub mod paced_run;
pub mod page;
pub mod relevance;
pub mod rendering;
pub mod response;
pub mod retention;
pub mod rule;
pub mod search;
pub mod session;
mod settings;
pub mod share_link;
pub mod telemetry;
pub mod thread;
pub mod token;
pub mod tool;
pub mod tool_link;
mod tool_output;
pub mod tool_run;
pub mod verify;
pub mod view;
pub mod view_link;
mod visibility;
mod wait;
pub mod webhook;
pub mod work_queue;
pub mod worker;

pub use activity::Counted;
pub use auth::PasswordCost;
pub use cursor::{ListPage, Listed};
pub use domain::{Caller, Clock, Entropy, Scope, Timestamp};
pub use error::{Error, Result};
pub use instance_key::{BadInstanceKey, InstanceKey};
pub use memory_bounds::MemoryBounds;
pub use open::{LeaseClock, Ledger, Mode, Options};
pub use settings::{McpProgram, Settings};
pub use store::{
    AccessLinkRecord, ActionRecord, AnswerRecord, CanvasRecord, CardRecord, CriteriaSetRecord, Database, DatabaseUse,
    DecisionRecord, EntityRecord, EntityTypeRecord, EntityVersionRecord, FailureRecord, FeedbackRecord, GroupRecord,
    ImportRecord, LinkPurpose, ListedCanvas, McpListingRecord, McpServerRecord, MemberRecord, MemoryAgentRecord,
    MemoryDocumentRecord, MemoryVersionRecord, MemoryVersionText, MessageRecord, PacedRunRecord, ParticipantRecord,
    Promotion, RequestRecord, ResponseCounts, ResponseRecord, ResponseState, ReviewerRecord, RuleRecord, RuleUseRecord,
    RuleVersionRecord, SQLITE_FILE, SavedInputRecord, SavedSearchRecord, ShareLinkRecord, SignInRecord, Stats,
    SuggestionRecord, TenantRecord, TokenRecord, ToolDraftRecord, ToolLinkRecord, ToolRecord, ToolRunOutputRecord,
    ToolSecretRecord, ToolVersionRecord, ViewLinkRecord, ViewRecord, ViewVersionRecord, WebhookRecord,
};
