//! The list of all SQL texts. A test prepares them on both engines.

use crate::{
    action, audit, auth, criteria_set, engine, engine::Texts, entity, entity_type, event, failure, feedback,
    feedback_request, gate, group, human, insight, interaction, lease, memory, memory_forget, memory_writer, open,
    outbox, response, retention, session, thread, verify, view, view_link, webhook, work_queue, worker,
};

/// Every SQL text of this crate as `(name, text)`, by engine.
pub fn statements(postgres: bool) -> Vec<(&'static str, String)> {
    let (of_engine, made) =
        if postgres { (on_postgres(), made_on_postgres()) } else { (on_sqlite(), made_on_sqlite()) };
    let listed = on_both().into_iter().chain(of_engine).flatten();
    listed.map(|(name, text)| (*name, (*text).to_owned())).chain(made).collect()
}

fn on_both() -> Vec<Texts> {
    let files = [
        action::SQL,
        audit::SQL,
        criteria_set::SQL,
        entity_type::SQL,
        failure::SQL,
        group::SQL,
        human::SQL,
        insight::SQL,
        lease::SQL,
        outbox::SQL,
        response::SQL,
        response::list::SQL,
        response::promoted::SQL,
        retention::SQL,
        thread::SQL,
        view::SQL,
        view_link::SQL,
        webhook::SQL,
        work_queue::SQL,
        worker::SQL,
    ];
    let folders: [&[Texts]; 11] = [
        &auth::SQL,
        &entity::SQL,
        &event::SQL,
        &feedback_request::SQL,
        &gate::SQL,
        &interaction::SQL,
        &memory::SQL,
        &[memory_forget::SQL],
        &memory_writer::SQL,
        &session::SQL,
        &verify::SQL,
    ];
    [&files[..], &folders.concat()].concat()
}

fn on_sqlite() -> Vec<Texts> {
    let files = [
        action::SQLITE_SQL,
        failure::SQLITE_SQL,
        outbox::SQLITE_SQL,
        response::list::SQLITE_SQL,
        retention::SQLITE_SQL,
    ];
    let folders: [&[Texts]; 9] = [
        &engine::SQLITE_SQL,
        &entity::SQLITE_SQL,
        &event::SQLITE_SQL,
        &gate::SQLITE_SQL,
        &interaction::SQLITE_SQL,
        &memory::SQLITE_SQL,
        &open::SQLITE_SQL,
        &session::SQLITE_SQL,
        &verify::SQLITE_SQL,
    ];
    [&files[..], &folders.concat()].concat()
}

fn on_postgres() -> Vec<Texts> {
    let files = [
        action::POSTGRES_SQL,
        audit::POSTGRES_SQL,
        criteria_set::POSTGRES_SQL,
        entity_type::POSTGRES_SQL,
        failure::POSTGRES_SQL,
        feedback_request::POSTGRES_SQL,
        group::POSTGRES_SQL,
        human::POSTGRES_SQL,
        lease::POSTGRES_SQL,
        outbox::POSTGRES_SQL,
        response::POSTGRES_SQL,
        response::list::POSTGRES_SQL,
        retention::POSTGRES_SQL,
        view::POSTGRES_SQL,
    ];
    let folders: [&[Texts]; 9] = [
        &auth::POSTGRES_SQL,
        &entity::POSTGRES_SQL,
        &event::POSTGRES_SQL,
        &gate::POSTGRES_SQL,
        &interaction::POSTGRES_SQL,
        &memory::POSTGRES_SQL,
        &open::POSTGRES_SQL,
        &session::POSTGRES_SQL,
        &verify::POSTGRES_SQL,
    ];
    [&files[..], &folders.concat()].concat()
}

/// Texts that are put together when the program runs.
fn made_on_sqlite() -> Vec<(&'static str, String)> {
    [event::sqlite_statements(), verify::statements(false)].concat()
}

fn made_on_postgres() -> Vec<(&'static str, String)> {
    [event::postgres_statements(), feedback::statements(true), session::postgres_statements(), verify::statements(true)]
        .concat()
}
