//! The list of all SQL texts. A test prepares them on both engines.

use crate::{
    action, audit, auth, canvas, canvas_inbox, continuity, criteria_set, engine, engine::Texts, entity, entity_type,
    event, failure, feedback, feedback_request, gate, group, human, insight, interaction, lease, mcp_server, memory,
    memory_figure, memory_forget, memory_ranker, memory_writer, open, outbox, paced_run, relevance, response,
    retention, rule, search, session, share_link, telemetry, thread, tool, tool_draft, tool_link, tool_run,
    tool_run_output, tool_saved_input, tool_step, verify, view, view_link, webhook, work_queue, worker,
};

const FILES: &[Texts] = &[
    action::SQL,
    audit::SQL,
    canvas::SQL,
    canvas_inbox::SQL,
    continuity::SQL,
    criteria_set::SQL,
    entity_type::SQL,
    failure::SQL,
    failure::cause::SQL,
    failure::regroup::SQL,
    failure::visit::SQL,
    group::SQL,
    human::SQL,
    insight::SQL,
    lease::SQL,
    mcp_server::SQL,
    memory_figure::SQL,
    memory_forget::SQL,
    memory_ranker::SQL,
    outbox::SQL,
    paced_run::SQL,
    relevance::SQL,
    response::SQL,
    response::list::SQL,
    response::promoted::SQL,
    retention::SQL,
    share_link::SQL,
    rule::SQL,
    telemetry::SQL,
    thread::SQL,
    tool::SQL,
    tool_draft::SQL,
    tool_link::SQL,
    tool_run::SQL,
    tool_run_output::SQL,
    tool_saved_input::SQL,
    tool_step::SQL,
    view::SQL,
    view_link::SQL,
    webhook::SQL,
    work_queue::SQL,
    work_queue::everyone::SQL,
    worker::SQL,
];

const FOLDERS: &[&[Texts]] = &[
    auth::SQL,
    engine::SQL,
    entity::SQL,
    event::SQL,
    feedback_request::SQL,
    gate::SQL,
    interaction::SQL,
    memory::SQL,
    memory_writer::SQL,
    open::SQL,
    search::SQL,
    session::SQL,
    verify::SQL,
];

/// Every SQL text of this crate for one engine as `(name, text)`. A name is the path of a constant in this crate.
pub fn statements(postgres: bool) -> Vec<(&'static str, String)> {
    let texts = FILES.iter().chain(FOLDERS.iter().copied().flatten()).copied().flatten();
    let literal = texts.map(|(name, text)| (*name, (*text).to_owned()));
    let of_other_engine = if postgres { "_SQLITE" } else { "_POSTGRES" };
    let mut all: Vec<_> = literal
        .chain([event::made(), session::made(), verify::statements(postgres)].concat())
        .map(|(name, text)| (name.trim_start_matches("store::"), text))
        .filter(|(name, _)| !name.ends_with(of_other_engine))
        .collect();
    if postgres {
        // On SQLite they are for the file of ratings.
        all.extend(feedback::statements(postgres));
    }
    all
}
