//! The JSON types of the API: names in camelCase, times in RFC 3339 and UTC, ids as plain UUID text.
//!
//! Request types refuse unknown fields. The browser, the server, the command line and the tests share these
//! types, so the crate depends on little more than `serde`.

pub mod access;
pub mod action;
pub mod approval;
pub mod audit;
pub mod bundle;
pub mod canvas;
pub mod canvas_suggestion;
pub mod count;
pub mod criteria_set;
pub mod entity;
pub mod event;
pub mod failure;
pub mod failure_cause;
pub mod feedback_request;
pub mod group;
pub mod history;
pub mod hook;
pub mod human;
pub mod insight;
pub mod interaction;
pub mod live;
pub mod mcp_server;
pub mod me;
pub mod memory;
pub mod memory_forget;
pub mod memory_revert;
pub mod memory_writer;
pub mod paced_run;
pub mod page;
pub mod problem;
pub mod relevance;
pub mod response;
pub mod rule;
#[cfg(feature = "openapi")]
pub mod schema;
pub mod search;
pub mod session;
pub mod session_bulk;
pub mod settings;
pub mod share_link;
pub mod telemetry;
pub mod thread;
pub mod tool;
pub mod tool_link;
pub mod tool_run;
pub mod view;
pub mod webhook;
pub mod worker;

pub use page::Page;
pub use problem::{Code, FieldProblem, Problem};

/// A JSON document kept byte for byte as it was sent.
pub type Json = Box<serde_json::value::RawValue>;
