//! The rules of the log, as pure functions over plain values.
//!
//! This crate performs no I/O, reads no clock and draws no randomness: time, ids and random bytes are
//! parameters. It builds for `wasm32-unknown-unknown`, so the browser and the server share one status machine
//! and one list of event kinds.

pub mod action;
pub mod audit;
pub mod block_status;
pub mod bundle;
pub mod canvas;
pub mod chain;
pub mod clock;
pub mod count;
pub mod criteria_set;
pub mod decoding;
pub mod entity;
pub mod event;
pub mod evidence;
pub mod failure;
pub mod feedback_request;
pub mod gate;
pub mod hook;
pub mod human;
pub mod id;
pub mod insight;
pub mod interaction;
pub mod issue;
pub mod json_line;
pub mod json_pointer;
pub mod json_schema;
pub mod limit;
pub mod line;
pub mod mcp;
pub mod member;
pub mod memory;
pub mod memory_forget;
pub mod memory_writer;
pub mod message;
mod names;
pub mod notification;
pub mod outcome;
pub mod output;
pub mod paced_run;
pub mod publishing;
pub mod recent_activity;
pub mod relevance;
pub mod respondent;
pub mod response;
pub mod response_chart;
pub mod response_table;
pub mod role;
pub mod rule;
pub mod run_again;
pub mod schema_form;
pub mod schema_steps;
pub mod scope;
pub mod search;
pub mod session;
pub mod session_feedback;
pub mod share_link;
pub mod slug;
pub mod telemetry;
pub mod terminal;
pub mod thread;
pub mod tool;
pub mod typed_number;
pub mod untrusted;
pub mod view;
pub mod work_queue;

pub use clock::{Clock, Entropy, Timestamp};
pub use scope::{Caller, Scope};
