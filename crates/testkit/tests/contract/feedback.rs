//! Ratings: one per person and session, stored apart from the log, without a text.

use crate::{
    entity::company,
    human::task,
    promotion::{self, promote, submitted},
    thread::{ENDING, new, rested, turn},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    session::Session,
    session_feedback::{ASKED_DAYS, Label, Surface, iso, purge_before},
};
use ledger::{
    Error, FeedbackRecord, InstanceKey,
    feedback::{self, Prompt, Undone},
    human, session,
    thread::{self, Ending, NewThread},
    webhook::{self, NewWebhook},
};
use outbound::Policy;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use testkit::{Engine, Fixture, Raw, on_both_engines};

on_both_engines!(
    each_label_lands_once_and_nothing_lands_without_one,
    only_the_key_links_a_rating_to_its_session,
    a_conversation_ends_although_its_rating_cannot_be_recorded,
    an_incognito_rating_has_no_name_and_ends_with_the_process,
    any_ended_session_is_rated_once_by_each_person_who_can_take_it_back,
    no_one_can_read_or_change_the_rating_of_another_person,
    no_one_is_asked_about_a_promotion_and_the_rating_of_a_private_one_has_no_name,
    a_person_is_asked_after_the_end_for_some_weeks_and_never_about_their_own_work,
    a_purge_removes_what_is_old_and_says_how_much,
    the_tables_take_nothing_but_ratings,
    every_statement_prepares,
    the_ratings_of_a_session_are_found_by_an_index,
);

const NO_KEY: &str = "instance_key_file";

fn with(label: Label, source: Surface) -> Ending {
    Ending { feedback: Some(label), source, ..ENDING }
}

async fn ratings_of(f: &Fixture, session: &Session) -> Vec<FeedbackRecord> {
    feedback::list_by_operator(&f.ledger, session.id).await.unwrap()
}

async fn each_label_lands_once_and_nothing_lands_without_one(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    for (label, source) in [
        (Label::Positive, Surface::CliEnd),
        (Label::Negative, Surface::CliExit),
        (Label::Skip, Surface::ApiEnd),
        (Label::Positive, Surface::WebEnd),
    ] {
        let session = rested(&f).await;
        let ended = thread::end(l, m, session.id, with(label, source)).await.unwrap();
        f.clock.advance(TimeDelta::seconds(1));
        let again = thread::end(l, m, session.id, with(label, source)).await.unwrap();
        assert_eq!((&ended.session, &ended.summary), (&again.session, &again.summary));
        let records = ratings_of(&f, &session).await;
        let [record] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!((record.label, record.source, record.user_id_or_null), (label, source, m.user_id()));
        assert_eq!((record.turn_count_at_end, record.schema_version), (1, 1));
        assert_eq!(record.recorded_at, ended.session.completed_at().unwrap(), "the first one stands");
        assert_eq!(record.id.get_version_num(), 4);
        assert_eq!(feedback::count(l, m, session.id).await.unwrap(), 1);
    }
    let silent = rested(&f).await;
    let ended = thread::end(l, m, silent.id, ENDING).await.unwrap();
    assert!(ended.summary.is_some() && ratings_of(&f, &silent).await.is_empty());
    assert_eq!(feedback::count_by_operator(l).await.unwrap(), 4);
    // A rating after the end counts, and a second label replaces the first.
    thread::end(l, m, silent.id, with(Label::Negative, Surface::ApiEnd)).await.unwrap();
    thread::end(l, m, silent.id, with(Label::Skip, Surface::CliEnd)).await.unwrap();
    let records = ratings_of(&f, &silent).await;
    assert_eq!(
        records.iter().map(|record| (record.label, record.source)).collect::<Vec<_>>(),
        [(Label::Skip, Surface::CliEnd)]
    );
    let status = feedback::status(l, m, Some(silent.id)).await.unwrap();
    assert_eq!((status.session_feedback_count, status.own_feedback_count), (Some(1), Some(5)));
    let state = status.session.unwrap();
    assert_eq!((state.turn_count, state.incognito), (1, false));
    assert!(state.event_count >= 5);
    assert_eq!(status.feedback_backend, if l.data_dir().is_some() { "sqlite" } else { "postgres" });
    assert_eq!(feedback::status(l, &f.other_member, None).await.unwrap().session_feedback_count, Some(0));
    f.done().await;
}

async fn only_the_key_links_a_rating_to_its_session(f: Fixture) {
    let session = rested(&f).await;
    thread::end(&f.ledger, &f.member, session.id, with(Label::Positive, Surface::CliEnd)).await.unwrap();
    let name = ratings_of(&f, &session).await.remove(0).session_id_opaque;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let id = session.id.to_string();
    let bare = [hex(&Sha256::digest(id.as_bytes())), hex(&Sha256::digest(session.id.0.as_bytes()))];
    assert!(name.len() == 64 && !bare.contains(&name) && !name.contains(&id.replace('-', "")), "{name}");
    // The value is the same on every server with this key, and differs with another key.
    let second = f.second_ledger(ledger::Mode::Tool).await;
    assert_eq!(feedback::list_by_operator(&second, session.id).await.unwrap().len(), 1);
    second.close().await;
    let other = open_without_key(&f).await;
    let refused = feedback::opaque_id(&other, session.id).unwrap_err();
    assert!(matches!(&refused, Error::NoInstanceKey if refused.to_string().contains(NO_KEY)), "{refused:?}");
    let rated = feedback::record(&other, &f.member, session.id, Label::Positive, Surface::WebEnd).await;
    assert!(matches!(rated, Err(Error::NoInstanceKey)), "{rated:?}");
    let status = feedback::status(&other, &f.member, None).await;
    assert!(matches!(status, Err(Error::NoInstanceKey)), "{status:?}");
    let url = "https://example.org/hook".into();
    let new = NewWebhook { url, events: vec!["session.failed".into()] };
    let made = webhook::create(&other, &f.admin, &Policy::default(), new).await;
    assert!(matches!(made, Err(Error::NoInstanceKey)), "{made:?}");
    other.use_instance_key(InstanceKey::parse(&"ab".repeat(32)).unwrap());
    assert_ne!(feedback::opaque_id(&other, session.id).unwrap(), name);
    assert!(feedback::list_by_operator(&other, session.id).await.unwrap().is_empty());
    other.close().await;
    f.done().await;
}

/// Opens another ledger on the same data, which has no instance key.
pub async fn open_without_key(f: &Fixture) -> ledger::Ledger {
    let options = ledger::Options {
        database: f.engine.database(),
        mode: ledger::Mode::Tool,
        clock: std::sync::Arc::new(f.clock.clone()),
        lease_clock: ledger::LeaseClock::Process(std::sync::Arc::new(f.clock.clone())),
        entropy: std::sync::Arc::new(testkit::SeededEntropy::new(11)),
        password_cost: ledger::PasswordCost::Least,
        settings: ledger::Settings::default(),
    };
    ledger::Ledger::open(options).await.unwrap()
}

async fn a_conversation_ends_although_its_rating_cannot_be_recorded(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let silent = rested(&f).await;
    let without = thread::end(l, m, silent.id, ENDING).await.unwrap();
    let session = rested(&f).await;
    let drop = format!("DROP TABLE {}", f.engine.feedback_table());
    f.engine.raw_feedback().await.execute(&drop).await.unwrap();
    let ended = thread::end(l, m, session.id, with(Label::Positive, Surface::CliEnd)).await.unwrap();
    assert_eq!((ended.session.status(), ended.turns), (without.session.status(), without.turns));
    assert_eq!(ended.summary.is_some(), without.summary.is_some());
    assert_eq!(feedback::failures(l), 1);
    // A caller that requests the rating itself gets the error.
    let rated = feedback::record(l, m, session.id, Label::Positive, Surface::WebEnd).await;
    assert!(matches!(rated, Err(Error::Unavailable(_))), "{rated:?}");
    let unkeyed = open_without_key(&f).await;
    let session = rested(&f).await;
    thread::end(&unkeyed, m, session.id, with(Label::Positive, Surface::CliEnd)).await.unwrap();
    assert_eq!(feedback::failures(&unkeyed), 1);
    unkeyed.close().await;
    f.assert_verified().await;
    f.done().await;
}

async fn an_incognito_rating_has_no_name_and_ends_with_the_process(mut f: Fixture) {
    let m = f.member;
    let conversation = thread::start(&f.ledger, &m, NewThread { incognito: true, ..new(Some("Hush")) }).await.unwrap();
    crate::thread::turn(&f, "…").await;
    let id = conversation.session.id;
    thread::end(&f.ledger, &m, id, with(Label::Negative, Surface::CliEnd)).await.unwrap();
    let own = feedback::of_session(&f.ledger, &m, id).await.unwrap().unwrap();
    assert_eq!((own.label, own.user_id_or_null), (Label::Negative, None));
    let status = feedback::status(&f.ledger, &m, Some(id)).await.unwrap();
    assert_eq!((status.feedback_backend, status.session_feedback_count), ("memory", Some(1)));
    assert_eq!((status.own_feedback_count, status.session.unwrap().incognito), (Some(0), true));
    for other in [f.other_member, f.operator] {
        let refused = feedback::record(&f.ledger, &other, id, Label::Positive, Surface::WebEnd).await;
        assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    }
    assert_eq!(feedback::count_by_operator(&f.ledger).await.unwrap(), 0);
    let rows = format!("SELECT COUNT(*) FROM {}", f.engine.feedback_table());
    assert_eq!(f.engine.raw_feedback().await.number(&rows).await, 0, "nothing was written");
    f.restart().await;
    assert_eq!(feedback::of_session(&f.ledger, &m, id).await.unwrap(), None);
    f.done().await;
}

async fn any_ended_session_is_rated_once_by_each_person_who_can_take_it_back(f: Fixture) {
    let l = &f.ledger;
    let running = f.running().await;
    let early = feedback::record(l, &f.member, running.id, Label::Positive, Surface::WebEnd).await;
    assert!(matches!(early, Err(Error::Refused(_))), "{early:?}");
    session::complete(l, &f.worker, running.id, session::Completion { attempt: 1, result: None, usage: None })
        .await
        .unwrap();
    for (who, label) in [(&f.member, Label::Positive), (&f.other_member, Label::Negative), (&f.member, Label::Positive)]
    {
        let record = feedback::record(l, who, running.id, label, Surface::WebEnd).await.unwrap().rating;
        assert_eq!((record.label, record.user_id_or_null), (label, who.user_id()));
        assert_eq!(record.turn_count_at_end, 1, "of a session without messages: its attempts");
    }
    assert_eq!(feedback::count(l, &f.member, running.id).await.unwrap(), 2);
    feedback::record(l, &f.member, running.id, Label::Skip, Surface::WebEnd).await.unwrap();
    assert_eq!(feedback::of_session(l, &f.member, running.id).await.unwrap().unwrap().label, Label::Skip);
    for undone in [Undone::Removed, Undone::Nothing] {
        assert_eq!(feedback::undo(l, &f.member, running.id).await.unwrap(), undone);
    }
    assert_eq!(feedback::of_session(l, &f.member, running.id).await.unwrap(), None);
    assert_eq!(feedback::count(l, &f.member, running.id).await.unwrap(), 1);
    // Many concurrent ratings from one person result in one rating.
    let many = (0..12).map(|n| {
        let label = Label::ALL[n % 3];
        feedback::record(l, &f.admin, running.id, label, Surface::WebEnd)
    });
    for made in futures_util::future::join_all(many).await {
        made.unwrap();
    }
    assert_eq!(ratings_of(&f, &running).await.iter().filter(|one| one.user_id_or_null == f.admin.user_id()).count(), 1);
    f.done().await;
}

/// Returns the prompt for feedback that each of these callers gets for the present state of a session.
async fn prompts(f: &Fixture, session: &Session, who: [&Scope; 3]) -> Vec<Prompt> {
    let now = session::get(&f.ledger, who[0], session.id).await.unwrap();
    let mut prompts = Vec::new();
    for scope in who {
        prompts.push(feedback::prompt(&f.ledger, scope, &now).await.unwrap());
    }
    prompts
}

async fn a_person_is_asked_after_the_end_for_some_weeks_and_never_about_their_own_work(f: Fixture) {
    let l = &f.ledger;
    let who = [&f.member, &f.other_member, &f.worker];
    let (ask, silent) = (Prompt::Ask, Prompt::Silent);
    let running = f.running().await;
    assert_eq!(prompts(&f, &running, who).await, [silent; 3], "never while work goes on");
    let done = session::Completion { attempt: 1, result: None, usage: None };
    session::complete(l, &f.worker, running.id, done).await.unwrap();
    assert_eq!(prompts(&f, &running, who).await, [ask, ask, silent], "people, not programs");
    feedback::record(l, &f.member, running.id, Label::Skip, Surface::WebEnd).await.unwrap();
    assert_eq!(prompts(&f, &running, who).await, [Prompt::Rated(Label::Skip), ask, silent]);

    let never = f.pending().await;
    session::cancel(l, &f.operator, never.id, None).await.unwrap();
    assert_eq!(prompts(&f, &never, who).await, [silent; 3], "what never began helped nobody");
    let own = human::start(l, &f.member, task(&f, "Own work").await).await.unwrap().session;
    human::stop(l, &f.member, own.id).await.unwrap();
    assert_eq!(prompts(&f, &own, who).await, [silent; 3]);

    let secret = NewThread { incognito: true, ..new(Some("Hush")) };
    thread::start(l, &f.member, secret).await.unwrap();
    let secret = turn(&f, "Hush.").await;
    thread::end(l, &f.member, secret.id, ENDING).await.unwrap();
    assert_eq!(prompts(&f, &secret, who).await, [ask, silent, silent]);

    f.clock.advance(TimeDelta::days(ASKED_DAYS) + TimeDelta::seconds(1));
    assert_eq!(prompts(&f, &running, who).await, [Prompt::Rated(Label::Skip), silent, silent]);
    assert_eq!(prompts(&f, &secret, who).await, [silent; 3]);
    f.done().await;
}

async fn no_one_is_asked_about_a_promotion_and_the_rating_of_a_private_one_has_no_name(f: Fixture) {
    let (l, o) = (&f.ledger, &f.operator);
    company(&f).await;
    let by = promotion::task(&f, json!({}), json!({})).await;
    let hide = format!("UPDATE sessions SET private_to = '{}' WHERE session_type = 'response'", o.caller);
    for is_private in [false, true] {
        let response = submitted(&f, json!({ "name": "Acme", "stage": "Lead" })).await.session_id;
        if is_private {
            f.engine.raw().await.execute(&hide).await.unwrap();
        }
        let id = promote(&f, response, by).await.unwrap().promotion_session_id.unwrap();
        let session = session::get(l, o, id).await.unwrap();
        assert_eq!(prompts(&f, &session, [o, &f.member, &f.admin]).await, [Prompt::Silent; 3]);
        let rating = feedback::record(l, o, id, Label::Positive, Surface::WebEnd).await.unwrap().rating;
        assert_eq!(rating.user_id_or_null, o.acting_user().filter(|_| !is_private));
        assert_eq!(ratings_of(&f, &session).await.len(), usize::from(!is_private), "a private one is only in memory");
    }
    f.done().await;
}

async fn no_one_can_read_or_change_the_rating_of_another_person(f: Fixture) {
    let l = &f.ledger;
    let session = rested(&f).await;
    thread::end(l, &f.member, session.id, with(Label::Negative, Surface::CliEnd)).await.unwrap();
    for other in [&f.other_member, &f.operator, &f.admin] {
        assert_eq!(feedback::of_session(l, other, session.id).await.unwrap(), None);
        assert_eq!(feedback::undo(l, other, session.id).await.unwrap(), Undone::Nothing);
    }
    let s = &f.stranger;
    let not_found = |result: Result<(), Error>| assert!(matches!(result, Err(Error::NotFound(_))), "{result:?}");
    not_found(feedback::of_session(l, s, session.id).await.map(drop));
    not_found(feedback::record(l, s, session.id, Label::Positive, Surface::WebEnd).await.map(drop));
    not_found(feedback::undo(l, s, session.id).await.map(drop));
    not_found(feedback::status(l, s, Some(session.id)).await.map(drop));
    not_found(feedback::count(l, s, session.id).await.map(drop));
    let nobody = Scope { token_scope: None, ..f.worker };
    for who in [&f.worker, &nobody] {
        let refused = feedback::record(l, who, session.id, Label::Positive, Surface::ApiEnd).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    // A token that acts for the person reads and writes the person's rating.
    let theirs = Scope { on_behalf_of: f.member.user_id(), ..nobody };
    assert_eq!(feedback::of_session(l, &theirs, session.id).await.unwrap().unwrap().label, Label::Negative);
    assert_eq!(ratings_of(&f, &session).await.len(), 1);
    f.done().await;
}

async fn a_purge_removes_what_is_old_and_says_how_much(f: Fixture) {
    let (l, m) = (&f.ledger, &f.member);
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let session = rested(&f).await;
        thread::end(l, m, session.id, with(Label::Positive, Surface::CliEnd)).await.unwrap();
        sessions.push(session);
        f.clock.advance(TimeDelta::days(100));
    }
    // It is day 300, so the first two ratings are older than 180 days.
    assert_eq!(feedback::purge_by_operator(l, purge_before(l.now())).await.unwrap(), 2);
    assert_eq!(feedback::purge_by_operator(l, purge_before(l.now())).await.unwrap(), 0);
    assert!(ratings_of(&f, &sessions[1]).await.is_empty());
    let last = ratings_of(&f, &sessions[2]).await.remove(0);
    // A rating exactly as old as the limit is kept.
    assert_eq!(feedback::purge_by_operator(l, last.recorded_at).await.unwrap(), 0);
    assert_eq!(feedback::count_by_operator(l).await.unwrap(), 1);
    // The log is unaffected.
    f.assert_verified().await;
    f.done().await;
}

async fn the_tables_take_nothing_but_ratings(f: Fixture) {
    let session = rested(&f).await;
    thread::end(&f.ledger, &f.member, session.id, with(Label::Positive, Surface::CliEnd)).await.unwrap();
    let table = f.engine.feedback_table();
    let mut raw = f.engine.raw_feedback().await;
    let at = iso(f.ledger.now());
    for wrong in [
        "label = 'great, thank you'".to_owned(),
        "source = 'my notes'".into(),
        "session_id_opaque = 'the session about Ann'".into(),
        format!("session_id_opaque = '{}'", "G".repeat(64)),
        "recorded_at = 'yesterday, after lunch'".into(),
        format!("recorded_at = '{}'", at.replace('Z', "+00:00")),
        "schema_version = 2".into(),
        "turn_count_at_end = -1".into(),
        "label = NULL".into(),
    ] {
        let refused = raw.execute(&format!("UPDATE {table} SET {wrong}")).await;
        assert!(refused.is_err(), "{wrong} was taken");
    }
    let columns = match &f.engine {
        Engine::Sqlite(_) => "SELECT COUNT(*) FROM pragma_table_info('session_feedback')",
        Engine::Postgres { .. } => {
            "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'session_feedback'"
        }
    };
    assert_eq!(raw.number(columns).await, 8);
    f.done().await;
}

async fn every_statement_prepares(f: Fixture) {
    let statements = store::feedback::statements(matches!(f.engine, Engine::Postgres { .. }));
    assert!(statements.len() >= 9, "the list has lost its entries: {}", statements.len());
    let mut raw = f.engine.raw_feedback().await;
    for (name, text) in statements {
        if let Err(error) = raw.prepare(&text).await {
            panic!("{name}: {error}\n{text}");
        }
    }
    f.done().await;
}

/// Each page of an ended session, each page of insights and each export asks for ratings of sessions.
async fn the_ratings_of_a_session_are_found_by_an_index(f: Fixture) {
    let mut raw = f.engine.raw_feedback().await;
    if let Raw::Sqlite(_) = raw {
        let statements = store::feedback::statements(false);
        for name in ["CHANGE", "REMOVE", "OF", "LIST", "COUNT_OF_SESSION", "LABELS"] {
            let known = statements.iter().find(|(known, _)| known.rsplit("::").next() == Some(name));
            let plan = raw.sqlite_plan(&known.expect(name).1).await.join("; ");
            assert!(plan.contains("INDEX session_feedback_by_session (session_id_opaque=?"), "{name}: {plan}");
        }
    }
    f.done().await;
}

/// The file of ratings is opened with the same checks as the ledger's file, and backups contain both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_of_ratings_is_durable_refuses_newer_ones_and_is_backed_up() {
    let f = Fixture::sqlite().await;
    let session = rested(&f).await;
    thread::end(&f.ledger, &f.member, session.id, with(Label::Positive, Surface::CliEnd)).await.unwrap();
    let dir = f.ledger.data_dir().unwrap().to_owned();
    let file = dir.join("session_feedback.sqlite3");
    let header = std::fs::read(&file).unwrap();
    assert_eq!((header[18], header[19]), (2, 2), "the file is not in WAL mode");
    let copy = dir.join("copy.sqlite3");
    assert!(ledger::backup::backup_feedback(&f.ledger, &copy).await.unwrap());
    assert!(ledger::backup::backup_feedback(&f.ledger, &copy).await.is_err(), "a backup replaces nothing");
    let restored = tempfile::tempdir().unwrap();
    std::fs::copy(&copy, restored.path().join("session_feedback.sqlite3")).unwrap();
    let options = |data_dir: &std::path::Path| ledger::Options {
        database: ledger::Database::Sqlite { data_dir: data_dir.to_owned() },
        mode: ledger::Mode::Tool,
        clock: std::sync::Arc::new(f.clock.clone()),
        lease_clock: ledger::LeaseClock::Process(std::sync::Arc::new(f.clock.clone())),
        entropy: std::sync::Arc::new(testkit::SeededEntropy::new(3)),
        password_cost: ledger::PasswordCost::Least,
        settings: ledger::Settings::default(),
    };
    let ledger = ledger::Ledger::open(options(restored.path())).await.unwrap();
    assert_eq!(feedback::count_by_operator(&ledger).await.unwrap(), 1);
    ledger.close().await;
    // A file that a newer version has changed is not touched. The ledger itself opens.
    let mut raw = f.engine.raw_feedback().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9000, 'x', 1, x'00', 0)";
    raw.execute(newer).await.unwrap();
    let ledger = ledger::Ledger::open(options(&dir)).await.unwrap();
    let refused = feedback::count_by_operator(&ledger).await;
    assert!(matches!(&refused, Err(Error::Internal(why)) if why.contains("migration")), "{refused:?}");
    ledger.close().await;
    f.done().await;
}
