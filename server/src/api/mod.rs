//! The HTTP API. One file per resource. Each handler authenticates, calls one use case and maps its
//! result.

mod action;
mod approval;
mod audit;
mod bundle;
mod canvas;
mod canvas_suggestion;
mod card;
mod criteria_set;
mod document;
mod entity;
mod entity_type;
mod event;
mod failure;
mod failure_cause;
mod feedback;
mod feedback_request;
mod group;
mod health;
mod history;
mod hook;
mod human;
mod import;
mod insight;
mod interaction;
mod invitation;
mod live;
mod mcp_server;
mod me;
mod member;
mod memory;
mod memory_forget;
mod memory_revert;
mod memory_writer;
mod paced_run;
mod response;
mod response_csv;
mod rule;
mod saved_search;
mod search;
mod session;
mod session_bulk;
mod session_label;
mod session_memory;
mod share_link;
mod sign_in;
mod stream;
mod telemetry;
mod thread;
mod today;
mod tool;
mod tool_input;
mod tool_link;
mod tool_run;
mod tool_session;
mod view;
mod view_link;
mod webhook;
mod worker;
mod workspace;

use crate::{protocol, state::AppState};
use axum::Router;
use std::sync::LazyLock;
use utoipa_axum::{router::OpenApiRouter, routes};

/// Adds a part of the API to the routes before it.
type AddRoutes = fn(OpenApiRouter<AppState>) -> OpenApiRouter<AppState>;

/// The parts of the API.
const PARTS: [AddRoutes; 16] = [
    people,
    tasks,
    views,
    tools,
    entities,
    memories,
    sessions,
    responses,
    working_sessions,
    worker_calls,
    approvals,
    rules,
    canvases,
    logs,
    reports,
    protocol::add_routes,
];

fn described() -> OpenApiRouter<AppState> {
    PARTS.into_iter().fold(OpenApiRouter::with_openapi(document::head()), |router, add| add(router))
}

/// Members, invitations, sign-ins and the audit list.
fn people(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(me::me))
        .routes(routes!(member::list))
        .routes(routes!(member::update, member::remove))
        .routes(routes!(member::reset_link))
        .routes(routes!(invitation::create, invitation::list))
        .routes(routes!(invitation::withdraw))
        .routes(routes!(sign_in::list))
        .routes(routes!(sign_in::end))
        .routes(routes!(audit::list))
}

/// Tasks, and what they are made of.
fn tasks(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(action::create, action::list))
        .routes(routes!(action::get, action::update))
        .routes(routes!(action::trigger))
        .routes(routes!(action::task_status))
        .routes(routes!(bundle::install))
        .routes(routes!(criteria_set::create, criteria_set::list))
        .routes(routes!(criteria_set::get, criteria_set::update))
        .routes(routes!(criteria_set::versions))
        .routes(routes!(group::create, group::list))
        .routes(routes!(group::get, group::update))
}

/// Forms and pages that people design.
fn views(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(view::create, view::list))
        .routes(routes!(view::get, view::update, view::delete))
        .routes(routes!(view::publish))
        .routes(routes!(view::unpublish))
        .routes(routes!(view::versions))
        .routes(routes!(view::schema))
}

/// Rules that decide approvals.
fn rules(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(rule::create, rule::list))
        .routes(routes!(rule::back_test))
        .routes(routes!(rule::get, rule::update, rule::delete))
        .routes(routes!(rule::suspend))
        .routes(routes!(rule::resume))
        .routes(routes!(rule::decisions))
}

/// Documents that people and agents edit together.
fn canvases(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(canvas::create, canvas::list))
        .routes(routes!(canvas::templates))
        .routes(routes!(canvas::get))
        .routes(routes!(canvas::put_template))
        .routes(routes!(canvas::state))
        .routes(routes!(canvas::patch, canvas::patches))
        .routes(routes!(canvas_suggestion::suggestions, canvas_suggestion::decide_suggestion))
        .routes(routes!(canvas_suggestion::decide_suggestions))
        .routes(routes!(canvas_suggestion::undo))
        .routes(routes!(canvas::participants, canvas::put_participant))
        .routes(routes!(canvas::mark_presence))
        .routes(routes!(canvas::complete))
}

/// Tools, their versions and secrets, and MCP servers.
fn tools(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(tool::create, tool::list))
        .routes(routes!(tool::get, tool::update, tool::delete))
        .routes(routes!(tool::publish))
        .routes(routes!(tool_run::run))
        .routes(routes!(tool_run::test))
        .routes(routes!(tool::unpublish))
        .routes(routes!(tool::versions))
        .routes(routes!(tool::secrets))
        .routes(routes!(tool_session::list))
        .routes(routes!(tool_session::get))
        .routes(routes!(tool_session::promote))
        .routes(routes!(tool_session::open))
        .routes(routes!(tool_session::change_fields))
        .routes(routes!(tool_session::run))
        .routes(routes!(tool_input::list))
        .routes(routes!(tool_input::save, tool_input::delete))
        .routes(routes!(tool::set_secret, tool::delete_secret))
        .routes(routes!(tool_link::create, tool_link::list))
        .routes(routes!(tool_link::revoke))
        .routes(routes!(mcp_server::create, mcp_server::list))
        .routes(routes!(mcp_server::get, mcp_server::update, mcp_server::delete))
        .routes(routes!(mcp_server::refresh))
        .routes(routes!(mcp_server::tools))
        .routes(routes!(mcp_server::import))
}

/// Entities, their types and imports.
fn entities(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(entity_type::create, entity_type::list))
        .routes(routes!(entity_type::get, entity_type::update))
        .routes(routes!(import::begin))
        .routes(routes!(import::get))
        .routes(routes!(entity::create, entity::list))
        .routes(routes!(entity::get, entity::update))
        .routes(routes!(entity::erase))
        .routes(routes!(entity::versions))
        .routes(routes!(entity::sessions))
}

/// Memories and cards of agents.
fn memories(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(card::upload, card::get))
        .routes(routes!(card::original))
        .routes(routes!(memory::list))
        .routes(routes!(memory::read, memory::write, memory::delete))
        .routes(routes!(memory::rename))
        .routes(routes!(memory::revert))
        .routes(routes!(memory_revert::revert_session))
        .routes(routes!(memory::erase))
        .routes(routes!(memory::versions))
        .routes(routes!(memory::diff))
        .routes(routes!(memory::blame))
        .routes(routes!(memory::search))
        .routes(routes!(memory::tool))
        .routes(routes!(history::channel))
        .routes(routes!(history::unsummarised))
        .routes(routes!(memory_forget::forget))
        .routes(routes!(memory_forget::remember))
        .routes(routes!(memory_writer::flush))
        .routes(routes!(memory_writer::runs))
        .routes(routes!(session_memory::list))
        .routes(routes!(session_memory::rate))
}

/// Sessions, conversations and failures.
fn sessions(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(session::create, session::list))
        .routes(routes!(session::get))
        .routes(routes!(session::result))
        .routes(routes!(session::dependencies))
        .routes(routes!(session::cancel))
        .routes(routes!(session::retry))
        .routes(routes!(session_bulk::change))
        .routes(routes!(session_label::tag))
        .routes(routes!(session_label::assign))
        .routes(routes!(paced_run::create, paced_run::list))
        .routes(routes!(paced_run::get))
        .routes(routes!(paced_run::cancel))
        .routes(routes!(session::send_message))
        .routes(routes!(session::supply_tool_results))
        .routes(routes!(feedback::rate, feedback::get, feedback::undo))
        .routes(routes!(feedback::status))
        .routes(routes!(thread::start, thread::list))
        .routes(routes!(thread::get))
        .routes(routes!(thread::send_message))
        .routes(routes!(thread::interrupt))
        .routes(routes!(thread::end))
        .routes(routes!(thread::end_at_root))
        .routes(routes!(failure::list))
        .routes(routes!(failure::acknowledge))
        .routes(routes!(search::events))
        .routes(routes!(saved_search::create, saved_search::list))
        .routes(routes!(saved_search::rename, saved_search::delete))
        .routes(routes!(share_link::create, share_link::list_of_session))
        .routes(routes!(share_link::list))
        .routes(routes!(share_link::revoke))
        .routes(routes!(failure_cause::list))
        .routes(routes!(failure_cause::get))
        .routes(routes!(failure_cause::sessions))
        .routes(routes!(failure_cause::acknowledge))
        .routes(routes!(failure_cause::snooze))
        .routes(routes!(failure_cause::resolve))
        .routes(routes!(failure_cause::reopen))
        .routes(routes!(failure_cause::run_again))
}

/// Answers to forms, and links to forms.
fn responses(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(response::list))
        .routes(routes!(response::get))
        .routes(routes!(response::promote))
        .routes(routes!(response::list_of_view))
        .routes(routes!(response_csv::of_view))
        .routes(routes!(response::submit))
        .routes(routes!(view_link::create, view_link::list))
        .routes(routes!(view_link::revoke))
}

/// What people work on.
fn working_sessions(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(human::active))
        .routes(routes!(human::start))
        .routes(routes!(human::stop))
        .routes(routes!(human::today))
        .routes(routes!(human::recent_activity))
}

/// Adds what a worker calls: claims, heartbeats, appends, results and releases.
fn worker_calls(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(worker::claim))
        .routes(routes!(worker::heartbeat))
        .routes(routes!(worker::complete))
        .routes(routes!(worker::fail))
        .routes(routes!(worker::yield_to))
        .routes(routes!(worker::wake))
        .routes(routes!(worker::release))
}

/// Approvals and requests to people.
fn approvals(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(approval::list))
        .routes(routes!(approval::count))
        .routes(routes!(approval::get))
        .routes(routes!(approval::decide))
        .routes(routes!(approval::decide_many))
        .routes(routes!(approval::undo))
        .routes(routes!(approval::snooze))
        .routes(routes!(approval::hand_over))
        .routes(routes!(approval::tool_approval))
        .routes(routes!(approval::reply))
        .routes(routes!(feedback_request::ask, feedback_request::list))
        .routes(routes!(feedback_request::get))
        .routes(routes!(feedback_request::answer))
        .routes(routes!(feedback_request::answers))
        .routes(routes!(feedback_request::take))
}

/// The workspace, logs of sessions, and webhooks.
fn logs(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(workspace::get, workspace::update))
        .routes(routes!(telemetry::get, telemetry::answer))
        .routes(routes!(event::read, event::append))
        .routes(routes!(event::find))
        .routes(routes!(event::send_delta))
        .routes(routes!(event::send_progress))
        .routes(routes!(stream::follow))
        .routes(routes!(hook::record))
        .routes(routes!(today::work_queue_counts))
        .routes(routes!(webhook::create, webhook::list))
        .routes(routes!(webhook::delete))
        .routes(routes!(webhook::test))
        .routes(routes!(webhook::deliveries))
}

/// Figures, captured turns, and the state of the server.
fn reports(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router
        .routes(routes!(insight::read))
        .routes(routes!(interaction::list))
        .routes(routes!(interaction::mark))
        .routes(routes!(interaction::forget))
        .routes(routes!(live::live))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .routes(routes!(document::openapi))
}

/// All routes of the API.
pub fn router() -> Router<AppState> {
    described().split_for_parts().0
}

/// The OpenAPI document as JSON, rendered once.
pub fn document_json() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| document::json(described().into_openapi()));
    &DOCUMENT
}
