//! What the writer's model is shown of conversations and of the agent's documents.

use crate::{
    memory::put,
    memory_people::open_window,
    memory_writer::{AGENT, changes, finish, line, own_path, take, talk, talked, talked_again, tenant},
    thread::{ENDING, turn},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    id::SessionId,
    limit::THREAD_MESSAGE_CHARS_MAX,
    memory_writer::{
        answer::parse,
        channel::{Channel, ChannelKind},
        check::{Window, check},
        limit::{DOCUMENT_CHARS_SHOWN_MAX, DOCUMENTS_LISTED_MAX, TURN_CHARS_MAX, WINDOW_CHARS_MAX},
        plan::Policy,
        prompt::render,
        run::RunCause,
        turn::Taint,
    },
    session::Type,
};
use ledger::{
    Error, history,
    memory_forget::{self, Forget},
    memory_writer::{self, WriterTerms},
    session::{self, NewSession},
    thread::{self, Message, NewThread},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    of_many_documents_some_are_listed_and_none_is_made_a_second_time,
    the_document_that_a_speaker_has_under_another_platform_is_shown,
    a_person_with_a_long_document_is_still_written_about,
    a_long_message_is_read_to_its_end_and_a_window_holds_what_fits,
    the_request_of_a_task_is_a_turn_of_the_member_who_made_it,
    interleaved_conversations_are_read_in_the_order_of_time,
    the_history_of_a_channel_is_found_however_many_other_sessions_there_are,
    turns_from_before_a_writer_was_set_up_are_read_when_an_operator_asks_for_it,
    what_is_new_is_read_before_a_backlog_that_somebody_asked_for,
    a_request_for_a_run_reads_all_that_was_open_window_after_window,
);

async fn of_many_documents_some_are_listed_and_none_is_made_a_second_time(f: Fixture) {
    put(&f, &f.operator, "people/slack-eve.md", 0, "# Eve\n\n- Sails\n").await.unwrap();
    put(&f, &f.operator, "self/rules.md", 0, "Be kind.\n").await.unwrap();
    put(&f, &f.operator, "topics/zeppelin.md", 0, "# Zeppelin\n\n- An airship\n").await.unwrap();
    let topics = DOCUMENTS_LISTED_MAX + 5;
    for number in 0..topics {
        // Versions of one moment are in no order.
        f.clock.advance(chrono::TimeDelta::milliseconds(2));
        put(&f, &f.operator, &format!("topics/t{number}.md"), 0, &format!("# T{number}\n\n- x\n")).await.unwrap();
    }
    f.clock.advance(chrono::TimeDelta::milliseconds(2));
    let gone = ledger::memory::Change { base_version: 1, ..ledger::memory::Change::default() };
    let last = format!("topics/t{}.md", topics - 1);
    ledger::memory::delete(&f.ledger, &f.operator, AGENT, ledger::memory::path(&last).unwrap(), gone).await.unwrap();
    talked(&f, "I flew in a zeppelin.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let listed = &run.window.listed;
    assert_eq!((listed.len(), run.window.documents), (DOCUMENTS_LISTED_MAX, topics as u64 + 2));
    assert_eq!(listed[0], "topics/zeppelin.md", "the conversation has its word");
    assert_eq!(listed[1], format!("topics/t{}.md", topics - 2), "then the newest");
    assert!(listed.iter().all(|path| path.starts_with("topics/") && *path != last), "{listed:?}");
    let create = json!({ "op": "create", "path": "topics/t0.md", "heading": [], "base_sha256": null,
        "body": "- x y z\n", "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "" });
    let answer = json!({ "schema": 1, "nothing": false, "summary": null, "ops": [create] }).to_string();
    let answer = parse(&answer).unwrap();
    assert!(!listed.contains(&"topics/t0.md".to_owned()));
    let named = Window::named(&answer);
    let run = memory_writer::note_named(&f.ledger, tenant(&f), AGENT, named, run).await.unwrap();
    let issues = check(answer, &run.window).unwrap_err();
    assert!(issues[0].message.contains("not a document that this run may change"), "{issues:?}");
    // The model may ask for it all the same, and for any other document, which it cannot change.
    let wanted = ["topics/t0.md", "people/slack-eve.md", "self/rules.md", "topics/none.md"];
    let asked = wanted.map(str::to_owned).to_vec();
    let (run, is_more) = memory_writer::read_more(&f.ledger, tenant(&f), AGENT, asked, run).await.unwrap();
    assert!(is_more && wanted[..3].iter().all(|path| run.window.prompt_documents[*path].version == 1));
    assert!(wanted[1..3].iter().all(|path| !run.window.may_write(path)));
    assert!(!run.window.prompt_documents.contains_key("topics/none.md"));
    f.done().await;
}

async fn the_document_that_a_speaker_has_under_another_platform_is_shown(f: Fixture) {
    let (id, other) = (f.member.user_id().unwrap(), "people/slack-u1.md");
    let text = format!("# Ada\n\n- Likes ships\n\n## Aliases\n\n- Shiftbook-{id}\n");
    put(&f, &f.operator, other, 0, &text).await.unwrap();
    put(&f, &f.operator, "people/slack-u2.md", 0, "# Bob\n\n- Likes rain\n").await.unwrap();
    put(&f, &f.operator, "self/mes_example.md", 0, "Ahoy!\n").await.unwrap();
    talked(&f, "Hello").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(run.window.prompt_documents[other].body, text);
    assert!(!run.window.may_write(other) && !run.window.prompt_documents.contains_key("people/slack-u2.md"));
    assert!(run.window.listed.contains(&"self/mes_example.md".to_owned()), "{:?}", run.window.listed);
    let prompt = render(&run.window, &run.channels, &run.card, &memory_writer::delimiter(&f.ledger)).user;
    assert!(prompt.contains(&format!("path=\"{other}\" read-only sha256=")), "{prompt}");
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    // If two people have the alias, no one knows whose it is.
    put(&f, &f.operator, "people/slack-u2.md", 1, &text).await.unwrap();
    talked_again(&f, "Hello again").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert!(
        !run.window.prompt_documents.keys().any(|path| path.starts_with("people/slack")),
        "{:?}",
        run.window.prompt_documents
    );
    f.done().await;
}

async fn a_person_with_a_long_document_is_still_written_about(f: Fixture) {
    let own = format!("people/shiftbook-{}.md", f.member.user_id().unwrap());
    let notes: String = (0..DOCUMENT_CHARS_SHOWN_MAX / 10).map(|number| format!("- Note {number}\n")).collect();
    let long = format!("# Mia\n\n- Works in Oslo\n\n## Notes\n\n{notes}");
    put(&f, &f.operator, &own, 0, &long).await.unwrap();
    talked(&f, "I play chess.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert!(run.window.people.contains(&own));
    let prompt = render(&run.window, &run.channels, &run.card, &memory_writer::delimiter(&f.ledger)).user;
    assert!(prompt.contains(&format!("path=\"{own}\" writable excerpt sha256=")), "{prompt}");
    assert!(prompt.contains("- Works in Oslo") && prompt.contains("lines are not shown"), "{prompt}");
    assert!(!prompt.contains("- Note 1150\n"), "a part of it");
    let planned = changes(&run, json!([line(&run, "Plays chess")]), Value::Null);
    assert_eq!(finish(&f, run, planned, Policy::Auto).await.unwrap().written, 1);
    let found = ledger::memory::read(&f.ledger, &f.member, AGENT, ledger::memory::path(&own).unwrap()).await.unwrap();
    assert_eq!(found.text, format!("{long}- Plays chess\n"));
    f.assert_verified().await;
    f.done().await;
}

async fn a_long_message_is_read_to_its_end_and_a_window_holds_what_fits(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let long = format!("{}zeppelin", "word ".repeat((THREAD_MESSAGE_CHARS_MAX - 8) / 5));
    let id = talk(&f, &long, &"yes ".repeat(TURN_CHARS_MAX)).await.id;
    let messages = WINDOW_CHARS_MAX / THREAD_MESSAGE_CHARS_MAX;
    for _ in 1..messages {
        let message = Message { text: long.clone(), id: None };
        thread::send_message(&f.ledger, &f.member, id, message).await.unwrap();
    }
    let run = open_window(&f).await;
    let said: Vec<_> = run.window.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert!(said[0] == long && said[1].ends_with("characters are left out]"), "{}", said[1]);
    assert_eq!(said.len(), messages, "with the reply there is room for all but one");
    assert!(said.iter().map(|text| text.chars().count()).sum::<usize>() <= WINDOW_CHARS_MAX);
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    let run = open_window(&f).await;
    assert_eq!(run.window.turns.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>(), [long.as_str()]);
    f.done().await;
}

async fn the_request_of_a_task_is_a_turn_of_the_member_who_made_it(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let asks = async |by: &Scope, input: Value| {
        // Turns are read in the order of time.
        f.clock.advance(TimeDelta::seconds(1));
        let (agent_slug, input) = (Some(AGENT.to_owned()), Some(input.to_string()));
        let new = NewSession { agent_slug, input, ..NewSession::of_type(Type::Agent) };
        session::create(&f.ledger, by, new).await.unwrap().id
    };
    let first = asks(&f.member, json!("Book me a train to Oslo")).await;
    let second = asks(&f.member, json!({ "city": "Oslo", "seats": 2 })).await;
    asks(&f.worker, json!("A program asks")).await;
    let run = open_window(&f).await;
    let turns: Vec<_> = run.window.turns.iter().map(|turn| (turn.at.session, turn.text.as_str())).collect();
    assert_eq!(turns, [(first, "Book me a train to Oslo"), (second, "city: Oslo\nseats: 2")]);
    let own = own_path(&run);
    for turn in &run.window.turns {
        assert_eq!((turn.at.sequence, turn.taint), (1, Taint::Person));
        assert!(turn.speaker.as_ref().is_some_and(|speaker| speaker.path == own && !speaker.name.is_empty()));
    }
    let planned = changes(&run, json!([line(&run, "Takes the train to Oslo")]), Value::Null);
    assert!(planned[0].is_plain, "{planned:?}");
    assert_eq!(finish(&f, run, planned, Policy::Auto).await.unwrap().written, 1);

    let person = Forget { person: own.clone(), names: None };
    let found = memory_forget::preview(&f.ledger, &f.admin, person.clone()).await.unwrap();
    assert_eq!(found.documents.len(), 1);
    memory_forget::forget(&f.ledger, &f.admin, person).await.unwrap();
    asks(&f.member, json!("Book me a bus")).await;
    assert!(open_window(&f).await.window.turns.is_empty());
    f.assert_verified().await;
    f.done().await;
}

fn channel(name: &str) -> Channel {
    let (platform, id) = ("discord".to_owned(), name.to_owned());
    Channel { platform, id, name: name.to_owned(), kind: ChannelKind::Text, parent: None }
}

async fn interleaved_conversations_are_read_in_the_order_of_time(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let begun = async |name: &str| {
        let new = NewThread { agent: AGENT.into(), channel: Some(channel(name)), ..NewThread::default() };
        thread::start(&f.ledger, &f.member, new).await.unwrap().session.id
    };
    // The one that began first is spoken on last.
    let (garden, kitchen) = (begun("garden").await, begun("kitchen").await);
    for (at, text) in [(kitchen, "one"), (garden, "two"), (kitchen, "three"), (garden, "four")] {
        f.clock.advance(TimeDelta::hours(7));
        let message = Message { text: text.into(), id: None };
        thread::send_message(&f.ledger, &f.member, at, message).await.unwrap();
    }
    let run = take(&f, WriterTerms { turn_threshold: 1, ..WriterTerms::default() }).await.unwrap();
    let said: Vec<_> = run.window.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!(said, ["one", "two", "three", "four"]);
    let sessions: Vec<_> = run.window.sessions.iter().map(|(name, id)| (name.as_str(), *id)).collect();
    assert_eq!(sessions, [("s1", kitchen), ("s2", garden)]);
    let names: Vec<_> = run.channels.iter().map(|(_, channel)| channel.name.as_str()).collect();
    assert_eq!(names, ["kitchen", "garden"]);
    let prompt = render(&run.window, &run.channels, &run.card, &memory_writer::delimiter(&f.ledger)).user;
    assert!(prompt.contains("\ns1: #kitchen on discord\ns2: #garden on discord\n"), "{prompt}");
    let began = run.window.turns[0].time;
    assert_eq!(run.window.session_path, domain::memory_writer::slot::session_path(began, |_| false));
    f.done().await;
}

async fn the_history_of_a_channel_is_found_however_many_other_sessions_there_are(f: Fixture) {
    let begin = async |name: &str, message: Option<&str>| {
        let message = message.map(str::to_owned);
        let new = NewThread { agent: AGENT.into(), message, channel: Some(channel(name)), ..NewThread::default() };
        thread::start(&f.ledger, &f.member, new).await.unwrap();
    };
    let recent = async |name: &str| {
        let at = ("discord".to_owned(), name.to_owned());
        history::recent(&f.ledger, &f.member, AGENT, at, 0).await.unwrap()
    };
    begin("old", Some("Long ago")).await;
    for _ in 0..501 {
        begin("busy", None).await;
    }
    let old = recent("old").await;
    let said: Vec<_> = old.turns.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!((said, old.has_more), (vec!["Long ago"], false));
    assert!(recent("busy").await.has_more, "older conversations are not read");
    assert!(!recent("none").await.has_more);
    f.done().await;
}

async fn turns_from_before_a_writer_was_set_up_are_read_when_an_operator_asks_for_it(f: Fixture) {
    let old = talk(&f, "I like ships.", "Noted.").await.id;
    f.clock.advance(TimeDelta::days(2));
    let recent = talk(&f, "I like trains.", "Noted.").await.id;
    let hushed =
        NewThread { agent: AGENT.into(), message: Some("Quiet".into()), incognito: true, ..NewThread::default() };
    thread::start(&f.ledger, &f.member, hushed).await.unwrap();
    f.clock.advance(TimeDelta::days(1));
    assert!(take(&f, WriterTerms::default()).await.is_none(), "it begins with what is said from now on");

    let read_since = async |by: &Scope, days: i64| {
        let since = f.ledger.now() - TimeDelta::days(days);
        memory_writer::read_since(&f.ledger, by, AGENT, since).await
    };
    for by in [&f.member, &f.worker] {
        let refused = read_since(by, 9).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    assert_eq!(read_since(&f.stranger, 9).await.unwrap(), 0, "of another workspace");
    for (days, added) in [(2, 1), (2, 0), (9, 1)] {
        assert_eq!(read_since(&f.operator, days).await.unwrap(), added, "{days}");
    }
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let sessions: Vec<_> = run.window.sessions.iter().map(|(_, id)| *id).collect();
    assert_eq!(sessions, [old, recent]);
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    assert_eq!(read_since(&f.operator, 9).await.unwrap(), 0, "nothing is read twice");
    assert!(take(&f, WriterTerms::default()).await.is_none());
    f.done().await;
}

/// The sessions of the run that is due. The run succeeds.
pub async fn read_next(f: &Fixture) -> Vec<SessionId> {
    let Some(run) = take(f, WriterTerms::default()).await else { return Vec::new() };
    let sessions = run.ranges.iter().map(|range| range.session).collect();
    finish(f, run, Vec::new(), Policy::Review).await.unwrap();
    sessions
}

async fn what_is_new_is_read_before_a_backlog_that_somebody_asked_for(f: Fixture) {
    let begun = async |said: &str| {
        // Sessions of one moment begin in no order.
        f.clock.advance(TimeDelta::seconds(1));
        talk(&f, said, "Noted.").await.id
    };
    let ended = async |said: &str| {
        let id = begun(said).await;
        thread::end(&f.ledger, &f.member, id, ENDING).await.unwrap();
        id
    };
    // One more than a window has.
    let mut old = Vec::new();
    for number in 0..51 {
        old.push(begun(&format!("Old {number}")).await);
    }
    f.clock.advance(TimeDelta::days(1));
    assert_eq!(read_next(&f).await, []);
    let since = f.ledger.now() - TimeDelta::days(2);
    assert_eq!(memory_writer::read_since(&f.ledger, &f.operator, AGENT, since).await.unwrap(), 51);
    let new = ended("I like planes.").await;
    assert_eq!(read_next(&f).await, [new]);
    // A conversation that continues is not due, and does not hold the backlog.
    let open = begun("Hello").await;
    assert_eq!(read_next(&f).await, old[..50]);
    let newer = ended("I like ships.").await;
    assert_eq!(read_next(&f).await, [open, newer]);
    assert_eq!(read_next(&f).await, old[50..]);
    assert_eq!(read_next(&f).await, []);
    // What was read is a session as every other.
    let said = Message { text: "I like trains.".into(), id: None };
    thread::send_message(&f.ledger, &f.member, old[0], said).await.unwrap();
    turn(&f, "Noted.").await;
    let last = ended("Goodbye").await;
    assert_eq!(read_next(&f).await, [old[0], last]);
    assert_eq!(read_next(&f).await, []);
    f.done().await;
}

async fn a_request_for_a_run_reads_all_that_was_open_window_after_window(f: Fixture) {
    // Nothing but the request makes a run due.
    let terms = WriterTerms { turn_threshold: 1_000, ..WriterTerms::default() };
    assert!(take(&f, terms).await.is_none());
    // One more than a window has.
    let mut open = Vec::new();
    for number in 0..51 {
        f.clock.advance(TimeDelta::milliseconds(2));
        open.push(talk(&f, &format!("Open {number}"), "Noted.").await.id);
    }
    assert!(take(&f, terms).await.is_none());
    memory_writer::flush(&f.ledger, &f.operator, AGENT, None).await.unwrap();
    f.clock.advance(TimeDelta::seconds(1));
    for expected in [&open[..50], &open[50..]] {
        let run = take(&f, terms).await.unwrap();
        let sessions: Vec<_> = run.ranges.iter().map(|range| range.session).collect();
        assert_eq!((run.cause, &sessions[..]), (RunCause::Flush, expected));
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    }
    // A conversation that continues is not read turn by turn: the request is done.
    f.clock.advance(TimeDelta::seconds(1));
    let said = Message { text: "One more thing".into(), id: None };
    thread::send_message(&f.ledger, &f.member, open[0], said).await.unwrap();
    turn(&f, "Noted.").await;
    assert!(take(&f, terms).await.is_none());
    f.done().await;
}
