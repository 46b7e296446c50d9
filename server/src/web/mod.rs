//! The pages. Each handler authenticates, calls a use case of the ledger and passes the result to
//! the UI crate `app`.
//!
//! A page is rendered completely in its own task and then sent, so a browser that disconnects
//! leaves nothing half done.

mod account;
mod action;
mod action_bulk;
mod action_undo;
mod agent;
mod answer;
mod approval_form;
mod audit;
mod bulk_address;
mod bulk_choice;
mod bulk_part;
mod bundle;
mod canvas;
mod canvas_participants;
mod canvas_versions;
mod chat;
mod continue_form;
mod criteria_set;
mod docs;
mod entity;
mod entity_bulk;
mod entity_type;
pub mod export;
pub mod export_choice;
mod failure;
mod find;
pub mod form;
mod fragment;
mod import;
mod inbox;
mod inbox_hand_over;
mod inbox_notice;
mod inbox_patches;
mod inbox_review;
mod inbox_review_form;
mod insight;
mod link;
mod mcp_server;
mod member;
mod memory;
mod memory_forget;
mod memory_form;
mod memory_runs;
mod memory_session;
mod memory_usefulness;
mod new_secret;
mod paced_run;
mod people;
pub mod posted;
mod problem;
mod rating;
mod response;
mod rule;
mod rule_form;
mod saved_search;
mod search;
mod search_line;
mod session;
mod session_bulk;
mod session_find;
mod session_forget;
mod session_label;
mod session_memory;
mod sessions;
mod settings;
mod share;
mod shared;
mod shell;
mod sign_in;
mod stalled;
mod today;
mod tool;
mod tool_by_link;
mod tool_draft;
mod tool_form;
mod tool_input;
mod tool_link;
mod tool_output;
mod tool_result;
mod tool_run;
mod tool_test;
mod view;
mod view_form;
mod webhook;
mod working_on;

pub use form::{Form, FormWithFiles, unreadable, value_or_text};
pub use problem::problem_page;
pub use shell::{active_of, local_path};

use crate::state::AppState;
use axum::Router;

/// The routes of all pages.
pub fn router() -> Router<AppState> {
    Router::new()
        .merge(sign_in::router())
        .merge(today::router())
        .merge(saved_search::router())
        .merge(sessions::router())
        .merge(session_bulk::router())
        .merge(paced_run::router())
        .merge(failure::router())
        .merge(find::router())
        .merge(search::router())
        .merge(continue_form::router())
        .merge(session::router())
        .merge(session_forget::router())
        .merge(session_label::router())
        .merge(session_memory::router())
        .merge(share::router())
        .merge(shared::router())
        .merge(chat::router())
        .merge(action::router())
        .merge(action_bulk::router())
        .merge(working_on::router())
        .merge(entity::router())
        .merge(entity_bulk::router())
        .merge(entity_type::router())
        .merge(import::router())
        .merge(criteria_set::router())
        .merge(view::router())
        .merge(rule::router())
        .merge(tool::router())
        .merge(mcp_server::router())
        .merge(tool_result::router())
        .merge(tool_run::router())
        .merge(tool_draft::router())
        .merge(tool_test::router())
        .merge(tool_link::router())
        .merge(tool_by_link::router())
        .merge(response::router())
        .merge(bundle::router())
        .merge(canvas::router())
        .merge(canvas_participants::router())
        .merge(canvas_versions::router())
        .merge(inbox::router())
        .merge(inbox_hand_over::router())
        .merge(inbox_patches::router())
        .merge(inbox_review::router())
        .merge(agent::router())
        .merge(memory::router())
        .merge(memory_forget::router())
        .merge(memory_runs::router())
        .merge(memory_session::router())
        .merge(insight::router())
        .merge(export::router())
        .merge(inbox_notice::router())
        .merge(settings::router())
        .merge(account::router())
        .merge(member::router())
        .merge(audit::router())
        .merge(link::router())
        .merge(webhook::router())
        .merge(answer::router())
        .merge(docs::router())
}
