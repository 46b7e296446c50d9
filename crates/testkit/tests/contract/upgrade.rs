//! Migrations that change the rows of earlier versions.

use crate::{
    feedback_request::{ask, request},
    memory_window::read_next,
    memory_writer::{AGENT, take, talk, talked},
    response::{form, submission},
    response_table::{rating, submit},
    retention::key,
    thread::new,
    view_link::someone,
};
use chrono::TimeDelta;
use domain::{
    session::Type,
    view::{Gate, Publication},
};
use ledger::{
    feedback_request::{self, NewRequest},
    memory_writer::{self, WriterTerms},
    page,
    response::{self, Respondent, Submission},
    retention,
    session::{self, NewSession},
    thread::{self, NewThread},
    view_link,
};
use serde_json::json;
use testkit::{Fixture, Raw, on_both_engines, text};

on_both_engines!(
    channels_that_cannot_be_found_are_left_out_at_the_start_and_by_the_upgrade,
    responses_to_incognito_sessions_become_private_by_the_upgrade,
    a_writer_that_was_parked_before_the_upgrade_is_shown_and_can_be_freed,
    scores_that_an_erasure_left_are_cleared_by_the_upgrade,
    a_read_conversation_at_rest_is_no_longer_visited_after_the_upgrade,
    the_form_of_a_question_that_an_erasure_left_loses_its_texts_by_the_upgrade,
);

const CHANNELS: &str = include_str!("../../../../migrations/postgres/0045_session_channels.sql");
const CHANNELS_SQLITE: &str = include_str!("../../../../migrations/sqlite/0045_session_channels.sql");
const PRIVATE: &str = include_str!("../../../../migrations/postgres/0046_private_sessions_of_owners.sql");
const RESPONSES: &str = include_str!("../../../../migrations/postgres/0047_private_responses.sql");
const RESPONSES_SQLITE: &str = include_str!("../../../../migrations/sqlite/0047_private_responses.sql");
const WINDOWS: &str = include_str!("../../../../migrations/postgres/0048_parked_windows.sql");
const WINDOWS_SQLITE: &str = include_str!("../../../../migrations/sqlite/0048_parked_windows.sql");
const COMPRESSION: &str = include_str!("../../../../migrations/postgres/0051_event_compression.sql");
const SCORES: &str = include_str!("../../../../migrations/postgres/0052_erased_scores.sql");
const SCORES_SQLITE: &str = include_str!("../../../../migrations/sqlite/0052_erased_scores.sql");
const REST: &str = include_str!("../../../../migrations/postgres/0056_memory_watermarks_rest.sql");
const REST_SQLITE: &str = include_str!("../../../../migrations/sqlite/0056_memory_watermarks_rest.sql");
const FORMS: &str = include_str!("../../../../migrations/postgres/0057_erased_question_views.sql");
const FORMS_SQLITE: &str = include_str!("../../../../migrations/sqlite/0057_erased_question_views.sql");

/// Takes the schema back to where the migration of channels begins.
async fn remove_channels(raw: &mut Raw) {
    raw.execute("DROP INDEX sessions_by_channel; ALTER TABLE sessions DROP COLUMN channel").await.unwrap();
}

/// The channels of all sessions, sorted.
async fn channels(raw: &mut Raw) -> Vec<String> {
    let mut channels = raw.texts("SELECT channel FROM sessions WHERE channel IS NOT NULL").await;
    channels.sort();
    channels
}

/// PostgreSQL only: `shiftbook_app` acts as an owner of the tables who is no superuser and has no BYPASSRLS.
#[tokio::test]
async fn an_owner_whom_row_level_security_restricts_upgrades_the_rows_of_before() {
    let f = Fixture::postgres().await;
    thread::start(&f.ledger, &f.member, new(Some("Hello"))).await.unwrap();
    let hidden = NewThread { incognito: true, ..new(Some("A secret")) };
    let hidden = thread::start(&f.ledger, &f.member, hidden).await.unwrap().session;
    let mut raw = f.engine.raw().await;
    remove_channels(&mut raw).await;
    let before = format!(
        "UPDATE sessions SET private_to = NULL; \
         UPDATE sessions SET metadata = '{{\"incognito\":true,\"channel\":{{\"platform\":\"slack\",\"id\":\"C1\"}}}}' \
         WHERE id = '{}'; \
         ALTER TABLE sessions OWNER TO shiftbook_app; GRANT CREATE ON SCHEMA public TO shiftbook_app",
        hidden.id
    );
    raw.execute(&before).await.unwrap();
    let as_owner = |migration: &str| format!("BEGIN; SET LOCAL ROLE shiftbook_app; {migration} COMMIT");

    raw.execute(&as_owner(CHANNELS)).await.unwrap();
    let own = format!("shiftbook\n{}", f.member.user_id().unwrap());
    assert_eq!(channels(&mut raw).await, std::slice::from_ref(&own), "an incognito conversation is on no channel");
    raw.execute(&as_owner(PRIVATE)).await.unwrap();
    let private = raw.texts("SELECT private_to FROM sessions WHERE private_to IS NOT NULL").await;
    assert_eq!(private, [hidden.created_by]);
    assert_eq!(channels(&mut raw).await, [own]);
    drop(raw);
    f.done().await;
}

/// Rows of workspaces are hidden from an owner whom row-level security restricts, so such a statement changes nothing
/// without a word. Migration 0021 is older than this rule.
#[test]
fn migrations_that_change_rows_see_those_of_every_workspace() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let mut changing = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if text.lines().any(|line| line.starts_with("UPDATE ") || line.starts_with("DELETE FROM ")) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            changing.push((name, text.contains("set_config('app.system', 'on', true)")));
        }
    }
    changing.sort();
    assert!(changing.len() > 5, "the migrations are not read as they are written: {changing:?}");
    let blind: Vec<_> = changing.iter().filter(|(_, sees)| !sees).map(|(name, _)| name.as_str()).collect();
    assert_eq!(blind, ["0021_private_sessions.sql"]);
}

async fn channels_that_cannot_be_found_are_left_out_at_the_start_and_by_the_upgrade(f: Fixture) {
    let on = async |platform: &str, id: &str| {
        let channel = json!({ "platform": platform, "id": id, "name": "general", "kind": "text" });
        let metadata = Some(json!({ "channel": channel }).to_string());
        let new = NewSession { agent_slug: Some("scout".into()), metadata, ..NewSession::of_type(Type::Agent) };
        session::create(&f.ledger, &f.member, new).await.unwrap();
    };
    let (longest, most) = ("日".repeat(200), "x".repeat(64));
    let found = [("slack", "C1"), ("ms-teams", "a]é^ b-"), ("slack", longest.as_str()), (most.as_str(), "1")];
    for (platform, id) in found {
        on(platform, id).await;
    }
    // No part of it repeats, so that PostgreSQL cannot compress it.
    let incompressible: String = (0..200).map(|_| uuid::Uuid::from_u128(fastrand::u128(..)).to_string()).collect();
    let (long, one_more) = (incompressible.as_str(), "x".repeat(201));
    for id in [long, one_more.as_str(), "", "a\nb", "a\u{0}b", "\u{7f}", "a\u{85}"] {
        on("slack", id).await;
    }
    let long_platform = "x".repeat(65);
    for platform in [long, long_platform.as_str(), "", "Slack", "a--b", "-a", "a-", "a b", "é"] {
        on(platform, "1").await;
    }
    let mut expected = found.map(|(platform, id)| format!("{platform}\n{id}"));
    expected.sort();
    let mut raw = f.engine.raw().await;
    assert_eq!(channels(&mut raw).await, expected);
    remove_channels(&mut raw).await;
    let migration = if f.engine.file().is_some() { CHANNELS_SQLITE } else { CHANNELS };
    raw.execute(migration).await.unwrap();
    assert_eq!(channels(&mut raw).await, expected);
    drop(raw);
    f.done().await;
}

async fn responses_to_incognito_sessions_become_private_by_the_upgrade(f: Fixture) {
    let hidden = NewThread { incognito: true, ..new(Some("A secret")) };
    let hidden = thread::start(&f.ledger, &f.member, hidden).await.unwrap().session;
    f.pending().await;
    for session in f.claim(2, 3_600).await {
        let ask = NewRequest { access: Some(Gate::None), ..request(&session, "k", false) };
        let (asked, secret) = view_link::ask(&f.ledger, &f.worker, session.id, ask).await.unwrap();
        let zoe = someone(&f, &secret.unwrap()).await;
        let given = json!({ "region": "EU" });
        let given = Submission { request_id: Some(asked.request.id.0), ..submission("s", given) };
        response::submit(&f.ledger, &zoe, asked.request.view_id, given).await.unwrap();
    }
    let view = form(&f, Publication::default()).await;
    let member = Respondent::member(&f.member).unwrap();
    response::submit(&f.ledger, &member, view, submission("s", json!({ "name": "Mia" }))).await.unwrap();
    let mut raw = f.engine.raw().await;
    let of_responses = "SELECT private_to FROM sessions WHERE session_type = 'response' AND private_to IS NOT NULL";
    let counted = "SELECT submitted FROM response_counts c WHERE EXISTS (SELECT 1 FROM responses r JOIN sessions s \
                   ON s.id = r.session_id WHERE r.view_id = c.view_id AND s.private_to IS NOT NULL)";
    raw.execute(
        "INSERT INTO response_counts SELECT r.tenant_id, r.view_id, 1 FROM responses r JOIN sessions s \
         ON s.id = r.session_id WHERE s.private_to IS NOT NULL",
    )
    .await
    .unwrap();
    // A task was given the response. It replaces one here.
    raw.execute(
        "UPDATE sessions SET source = 'promotion', parent_id = (SELECT s.id FROM sessions s WHERE s.session_type = \
         'response' AND s.private_to IS NOT NULL) WHERE id = (SELECT p.id FROM sessions p WHERE p.session_type = \
         'agent' AND p.private_to IS NULL)",
    )
    .await
    .unwrap();
    raw.execute("UPDATE sessions SET private_to = NULL WHERE session_type = 'response'").await.unwrap();
    assert!(raw.texts(of_responses).await.is_empty());
    let migration = if f.engine.file().is_some() { RESPONSES_SQLITE } else { RESPONSES };
    raw.execute(migration).await.unwrap();
    assert_eq!(raw.texts(of_responses).await, [hidden.created_by.as_str()], "others stay as they are");
    let of_tasks = "SELECT private_to FROM sessions WHERE source = 'promotion'";
    assert_eq!(raw.texts(of_tasks).await, [hidden.created_by.as_str()]);
    assert_eq!(raw.number(counted).await, 0);
    drop(raw);
    f.done().await;
}

async fn a_writer_that_was_parked_before_the_upgrade_is_shown_and_can_be_freed(f: Fixture) {
    let id = talked(&f, "I like trains.").await;
    let mut raw = f.engine.raw().await;
    raw.execute(
        "DROP INDEX memory_watermarks_alone; DROP INDEX memory_watermarks_next; \
         DROP INDEX memory_watermarks_left; ALTER TABLE memory_watermarks DROP COLUMN is_alone; \
         ALTER TABLE memory_watermarks DROP COLUMN failures; ALTER TABLE memory_watermarks DROP COLUMN retry_at; \
         ALTER TABLE memory_watermarks DROP COLUMN parked_at; ALTER TABLE memory_writers DROP COLUMN failed_runs; \
         UPDATE memory_writers SET failures = 3, parked_at = 1",
    )
    .await
    .unwrap();
    let migration = if f.engine.file().is_some() { WINDOWS_SQLITE } else { WINDOWS };
    raw.execute(migration).await.unwrap();
    drop(raw);
    assert!(take(&f, WriterTerms::default()).await.is_none(), "it waits for a person");
    let found = page::memory_home::read(&f.ledger, &f.member, None).await.unwrap().stalled;
    let [parked] = found.as_slice() else { panic!("a parked writer is not listed") };
    assert_eq!((parked.failures, parked.parked_sessions, parked.parked_at.is_some()), (3, 0, true));
    memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
    assert_eq!(page::memory_home::read(&f.ledger, &f.member, None).await.unwrap().stalled, []);
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(run.ranges.iter().map(|range| range.session).collect::<Vec<_>>(), [id]);
    f.done().await;
}

async fn scores_that_an_erasure_left_are_cleared_by_the_upgrade(f: Fixture) {
    let view = rating(&f).await;
    let rated = json!({ "rate": { "tone": "cold" } });
    let erased = submit(&f, view, "erased", rated.clone()).await;
    f.clock.advance(TimeDelta::days(40));
    let kept = submit(&f, view, "kept", rated).await;
    let older_than = f.ledger.now() - TimeDelta::days(30);
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    let mut raw = f.engine.raw().await;
    // As earlier versions left them.
    raw.execute(
        "UPDATE responses SET scores = (SELECT r.scores FROM responses r WHERE r.scores IS NOT NULL) \
         WHERE scores IS NULL",
    )
    .await
    .unwrap();
    let scores = async |id| response::get(&f.ledger, &f.admin, id).await.unwrap().scores;
    assert_eq!(scores(erased.session_id).await, kept.scores);
    let migration = if f.engine.file().is_some() { SCORES_SQLITE } else { SCORES };
    raw.execute(migration).await.unwrap();
    drop(raw);
    assert!(scores(erased.session_id).await.is_empty());
    assert_eq!(scores(kept.session_id).await, kept.scores, "what is not erased stays");
    f.done().await;
}

async fn a_read_conversation_at_rest_is_no_longer_visited_after_the_upgrade(f: Fixture) {
    assert_eq!(read_next(&f).await, []);
    let read = talk(&f, "I like trains.", "Noted.").await.id;
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(read_next(&f).await, [read]);
    let unread = talk(&f, "I like ships.", "Noted.").await.id;
    assert_eq!(read_next(&f).await, [], "it has just been written to");
    let mut raw = f.engine.raw().await;
    // As earlier versions left them.
    raw.execute("UPDATE memory_watermarks SET is_open = 1").await.unwrap();
    if f.engine.file().is_some() {
        raw.execute(REST_SQLITE).await.unwrap();
    } else {
        raw.execute(
            "DROP POLICY memory_watermarks_of_respondent ON memory_watermarks; \
             CREATE POLICY memory_watermarks_of_no_respondent ON memory_watermarks AS RESTRICTIVE USING (true)",
        )
        .await
        .unwrap();
        raw.execute(REST).await.unwrap();
    }
    assert_eq!(raw.number("SELECT COUNT(*) FROM memory_watermarks WHERE is_open = 1").await, 1);
    drop(raw);
    f.clock.advance(TimeDelta::hours(1));
    assert_eq!(read_next(&f).await, [unread]);
    f.done().await;
}

async fn the_form_of_a_question_that_an_erasure_left_loses_its_texts_by_the_upgrade(f: Fixture) {
    let old = f.running().await;
    let erased = ask(&f, &old, request(&old, "k", false)).await.request;
    session::cancel(&f.ledger, &f.operator, old.id, None).await.unwrap();
    f.clock.advance(TimeDelta::days(40));
    let young = f.running().await;
    let kept = ask(&f, &young, request(&young, "k", false)).await.request;
    let older_than = f.ledger.now() - TimeDelta::days(30);
    retention::erase_by_operator(&f.ledger, &key(), older_than, |_| {}).await.unwrap();
    let fields = async |id| feedback_request::answerable(&f.ledger, &f.operator, id).await.unwrap().fields;
    let (before, after) = (fields(kept.id).await, fields(erased.id).await);
    assert_ne!(after, before);
    let mut raw = f.engine.raw().await;
    let is_sqlite = f.engine.file().is_some();
    // The schema and the rows of earlier versions.
    raw.execute("DROP INDEX feedback_requests_of_view").await.unwrap();
    let on_table = if is_sqlite { "" } else { " ON view_versions" };
    raw.execute(&format!("DROP TRIGGER view_versions_no_update{on_table}")).await.unwrap();
    for table in ["views", "view_versions"] {
        let unerased = format!(
            "UPDATE {table} SET title = 'Where?', introduction = 'Where?', \
             fields = (SELECT t.fields FROM {table} t WHERE t.title <> '(erased)') WHERE title = '(erased)'"
        );
        assert_eq!(raw.execute(&unerased).await.unwrap(), 1);
    }
    assert_eq!(fields(erased.id).await, before);
    let refusing = if is_sqlite {
        "CREATE TRIGGER view_versions_no_update BEFORE UPDATE ON view_versions \
         BEGIN SELECT RAISE(ABORT, 'view_versions is append-only'); END"
    } else {
        "DROP TRIGGER view_versions_no_delete ON view_versions; DROP FUNCTION shiftbook_view_version_stays(); \
         DROP FUNCTION shiftbook_erased_fields(text); \
         CREATE TRIGGER view_versions_no_update BEFORE UPDATE OR DELETE ON view_versions \
         FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse()"
    };
    raw.execute(refusing).await.unwrap();
    raw.execute(if is_sqlite { FORMS_SQLITE } else { FORMS }).await.unwrap();
    assert_eq!(fields(erased.id).await, after);
    assert_eq!(fields(kept.id).await, before, "what is not erased stays");
    for table in ["views", "view_versions"] {
        let left = format!("SELECT COUNT(*) FROM {table} WHERE title = 'Where?' OR introduction = 'Where?'");
        assert_eq!(raw.number(&left).await, 0, "{table}");
        let stays = format!("SELECT COUNT(*) FROM {table} WHERE title = 'Where do we start?'");
        assert_eq!(raw.number(&stays).await, 1, "{table}");
    }
    drop(raw);
    f.done().await;
}

#[tokio::test]
async fn large_events_are_compressed_with_lz4_in_every_partition_also_after_an_upgrade() {
    let f = Fixture::postgres().await;
    let session = f.running().await;
    let mut raw = f.engine.raw().await;
    let large = |number: u32| format!("message {number} ").repeat(2_000);
    let methods = "SELECT pg_column_compression(content) FROM session_events WHERE octet_length(content) > 10000 \
                   ORDER BY sequence";
    f.append(session.id, 1, vec![text(&large(0))]).await.unwrap();
    assert_eq!(raw.texts(methods).await, ["lz4"]);

    let tables = "SELECT 'session_events' UNION SELECT inhrelid::regclass::text FROM pg_inherits \
                  WHERE inhparent = 'session_events'::regclass";
    for table in raw.texts(tables).await {
        raw.execute(&format!("ALTER TABLE {table} ALTER COLUMN content SET COMPRESSION pglz")).await.unwrap();
    }
    f.append(session.id, 1, vec![text(&large(1))]).await.unwrap();
    raw.execute(COMPRESSION).await.unwrap();
    f.append(session.id, 1, vec![text(&large(2))]).await.unwrap();
    assert_eq!(raw.texts(methods).await, ["lz4", "pglz", "lz4"]);
    raw.execute(
        "CREATE TABLE later PARTITION OF session_events FOR VALUES FROM ('ff000000-0000-0000-0000-000000000000') \
                 TO (MAXVALUE)",
    )
    .await
    .unwrap();
    let others = "SELECT COUNT(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE (c.relname = 'later' \
                  OR c.relname LIKE 'session_events%' AND c.relkind IN ('r', 'p')) \
                  AND a.attname IN ('content', 'metadata') AND a.attcompression <> 'l'";
    assert_eq!(raw.number(others).await, 0);

    let kept: Vec<String> = f.log(session.id).await.into_iter().map(|event| event.content).collect();
    assert!((0..3).all(|number| kept.iter().any(|content| content.contains(&large(number)))));
    f.assert_verified().await;
    f.done().await;
}
