//! The memories that an agent is given, and what the log keeps of their choice: claims, turns of conversations, prompts
//! of coding agents. Channels of conversations.

use crate::{
    hook::{payload, send},
    memory::{AGENT, put},
};
use domain::{
    event::Event,
    id::SessionId,
    memory::Evidence,
    memory_writer::{
        block::Bounds,
        channel::{self, Channel, ChannelKind},
        plan::Policy,
    },
    role::Role,
    session::Type,
};
use ledger::{
    Error, MemoryBounds, Settings, auth, history,
    memory::{self, Write},
    memory_forget,
    memory_writer::WriterTerms,
    session::{self, Claim, ListSessions, NewSession},
    thread::{self, Message, NewThread, RelayedAuthor},
    token,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_conversation_names_its_channel,
    channels_that_cannot_be_kept_are_refused_by_field,
    memories_of_the_same_channel_come_first,
    importance_of_a_document_decides_between_equals,
    every_block_is_recorded_with_all_its_candidates,
    a_candidate_that_is_not_injected_is_recorded_too,
    the_settings_say_how_much_an_agent_is_given,
    the_speakers_own_document_is_given_whatever_was_said,
    what_a_long_message_says_last_is_looked_for,
    the_commonest_words_of_a_message_find_no_memories_beside_others,
    memories_are_found_whatever_their_script_and_accents,
    people_of_other_platforms_have_documents_of_their_own,
    the_history_of_an_agent_has_two_views,
    what_is_remembered_of_one_person_is_not_given_to_another_unless_it_is_shared,
    memories_say_when_they_were_noted_and_keep_their_ids,
);

pub fn channel(id: &str) -> Channel {
    let (platform, name) = ("discord".to_owned(), "general".to_owned());
    Channel { platform, id: id.into(), name, kind: ChannelKind::Text, parent: None }
}

pub fn talk(channel: Option<Channel>, message: &str) -> NewThread {
    NewThread { agent: AGENT.into(), message: Some(message.into()), channel, ..NewThread::default() }
}

/// Starts a conversation, claims its turn, and returns the metadata of the block's event.
pub async fn block_of(f: &Fixture, new: NewThread) -> Option<Value> {
    thread::start(&f.ledger, &f.member, new).await.unwrap();
    claimed(f).await
}

async fn claimed(f: &Fixture) -> Option<Value> {
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap().remove(0);
    recorded(&f.log(claimed.session.id).await)
}

/// The metadata of the newest event that records memories.
fn recorded(log: &[Event]) -> Option<Value> {
    let injected = log.iter().filter(|event| event.kind == "session.context_injected");
    let mut metadata = injected.map(|event| serde_json::from_str::<Value>(&event.metadata).unwrap());
    metadata.rfind(|metadata| metadata["context"] == "memory")
}

pub fn paths(metadata: &Value) -> Vec<&str> {
    metadata["candidates"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect()
}

async fn a_conversation_names_its_channel(f: Fixture) {
    let named = channel("7");
    let begun = thread::start(&f.ledger, &f.member, talk(Some(named.clone()), "Hi")).await.unwrap().session;
    assert_eq!(Channel::of_metadata(&begun.metadata), Some(named.clone()));
    let read = session::get(&f.ledger, &f.member, begun.id).await.unwrap();
    assert_eq!(Channel::of_metadata(&read.metadata), Some(named.clone()));
    // The channel is part of what a repeated request must have in common.
    let keyed = |channel| NewThread { idempotency_key: Some("k".into()), ..talk(channel, "Hi") };
    let first = thread::start(&f.ledger, &f.member, keyed(Some(named.clone()))).await.unwrap().session;
    let again = thread::start(&f.ledger, &f.member, keyed(Some(named))).await.unwrap().session;
    assert_eq!(first.id, again.id);
    for other in [None, Some(channel("8"))] {
        let refused = thread::start(&f.ledger, &f.member, keyed(other)).await;
        assert!(refused.is_err(), "{refused:?}");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn channels_that_cannot_be_kept_are_refused_by_field(f: Fixture) {
    let wrong = |change: fn(&mut Channel)| {
        let mut one = channel("7");
        change(&mut one);
        one
    };
    for (field, bad) in [
        ("channel.platform", wrong(|one| one.platform = "Dis cord".into())),
        ("channel.id", wrong(|one| one.id = String::new())),
        ("channel.id", wrong(|one| one.id = "x".repeat(201))),
        ("channel.name", wrong(|one| one.name = "a\nb".into())),
        ("channel.name", wrong(|one| one.name = "x".repeat(201))),
        ("channel.parent", wrong(|one| one.parent = Some(" ".into()))),
    ] {
        let Err(Error::Invalid(issues)) = thread::start(&f.ledger, &f.member, talk(Some(bad), "Hi")).await else {
            panic!("{field} is accepted");
        };
        assert_eq!(issues.iter().map(|issue| issue.field.as_str()).collect::<Vec<_>>(), [field]);
    }
    let hushed = NewThread { incognito: true, ..talk(Some(channel("7")), "Hi") };
    let refused = thread::start(&f.ledger, &f.member, hushed).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    f.done().await;
}

/// Writes a document of one line that comes from the first message of a conversation.
pub async fn learned(f: &Fixture, path: &str, line: &str, from: Option<&str>) {
    let new = talk(from.map(channel), "We spoke of it");
    let session = thread::start(&f.ledger, &f.member, new).await.unwrap().session;
    let evidence = vec![Evidence { line: 3, session: session.id, sequence: 2 }];
    let write = Write { text: format!("# Note\n\n- {line}\n"), evidence, ..Write::default() };
    memory::write(&f.ledger, &f.operator, AGENT, memory::path(path).unwrap(), write).await.unwrap();
    session::cancel(&f.ledger, &f.member, session.id, None).await.unwrap();
}

async fn memories_are_found_whatever_their_script_and_accents(f: Fixture) {
    put(&f, &f.operator, "topics/tower.md", 0, "# Tower\n\n- 東京タワーの高さは333メートル\n").await.unwrap();
    put(&f, &f.operator, "topics/garden.md", 0, "# Garden\n\n- Inés: tomatoes\n").await.unwrap();
    for (asked, path) in [("東京タワーの高さは?", "topics/tower.md"), ("What does Ines like?", "topics/garden.md")]
    {
        let metadata = block_of(&f, talk(None, asked)).await.expect(asked);
        assert_eq!(paths(&metadata), [path], "{asked}");
    }
    f.assert_verified().await;
    f.done().await;
}

async fn memories_of_the_same_channel_come_first(f: Fixture) {
    for (path, from) in [("topics/a.md", Some("7")), ("topics/b.md", Some("8")), ("topics/c.md", None)] {
        learned(&f, path, "The launch is on Friday", from).await;
    }
    for (asked, first) in [("7", "topics/a.md"), ("8", "topics/b.md")] {
        let metadata = block_of(&f, talk(Some(channel(asked)), "When is the launch?")).await.unwrap();
        assert_eq!(paths(&metadata)[0], first);
        for candidate in metadata["candidates"].as_array().unwrap() {
            assert_eq!(candidate["sameChannel"], candidate["path"] == first, "{candidate}");
        }
    }
    // Without a channel it is the person's direct messages, where the third was learned.
    let metadata = block_of(&f, talk(None, "When is the launch?")).await.unwrap();
    assert_eq!(paths(&metadata)[0], "topics/c.md");
    for candidate in metadata["candidates"].as_array().unwrap() {
        assert_eq!(candidate["sameChannel"], candidate["path"] == "topics/c.md", "{candidate}");
    }
    // Not those of another person.
    let other = thread::start(&f.ledger, &f.admin, talk(None, "When is the launch?")).await.unwrap().session;
    let metadata = claimed(&f).await.unwrap();
    assert_eq!(other.user_id, f.admin.user_id());
    assert!(metadata["candidates"].as_array().unwrap().iter().all(|one| one["sameChannel"] == false));
    // An erased document leaves nothing of where it came from.
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path("topics/a.md").unwrap()).await.unwrap();
    let metadata = block_of(&f, talk(Some(channel("7")), "When is the launch?")).await.unwrap();
    assert!(metadata["candidates"].as_array().unwrap().iter().all(|one| one["sameChannel"] == false));
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM memory_channels").await, 2);
    f.assert_verified().await;
    f.done().await;
}

async fn importance_of_a_document_decides_between_equals(f: Fixture) {
    for (path, front) in
        [("topics/a.md", "---\nimportance: 0.1\n---\n"), ("topics/b.md", "---\nimportance: 0.9\n---\n")]
    {
        put(&f, &f.operator, path, 0, &format!("{front}# Note\n\n- The launch is on Friday\n")).await.unwrap();
    }
    let metadata = block_of(&f, talk(None, "When is the launch?")).await.unwrap();
    assert_eq!(paths(&metadata), ["topics/b.md", "topics/a.md"]);
    let importance = |at: usize| metadata["candidates"][at]["importance"].as_f64().unwrap();
    assert_eq!([importance(0), importance(1)], [0.9, 0.1]);
    f.done().await;
}

/// What every recorded candidate has. No one can learn from a choice of which a part is unknown.
fn is_complete(metadata: &Value) {
    assert_eq!((&metadata["context"], &metadata["ranker"]), (&json!("memory"), &json!("formula-1")));
    let candidates = metadata["candidates"].as_array().unwrap();
    assert!(!candidates.is_empty());
    for (at, one) in candidates.iter().enumerate() {
        let mut names: Vec<&str> = one.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        let expected = [
            "bm25",
            "holdout",
            "id",
            "importance",
            "injected",
            "kind",
            "path",
            "propensity",
            "rank",
            "recencyD",
            "sameChannel",
            "samePerson",
            "score",
            "slot",
            "tokens",
            "version",
        ];
        assert_eq!(names, expected);
        assert_eq!(one["rank"], at + 1);
        assert_eq!(one["injected"] == true, one["slot"].is_u64(), "{one}");
    }
}

async fn every_block_is_recorded_with_all_its_candidates(f: Fixture) {
    for agent in [AGENT, "claude-code"] {
        let write = Write { text: "# Launch\n\n- The launch is on Friday\n".into(), ..Write::default() };
        memory::write(&f.ledger, &f.operator, agent, memory::path("topics/launch.md").unwrap(), write).await.unwrap();
    }
    // A turn of a conversation.
    is_complete(&block_of(&f, talk(None, "When is the launch?")).await.unwrap());
    // A claim of a task.
    let title = "Plan the launch".to_owned();
    let new = NewSession { agent_slug: Some(AGENT.into()), title: Some(title), ..NewSession::of_type(Type::Agent) };
    session::create(&f.ledger, &f.member, new).await.unwrap();
    is_complete(&claimed(&f).await.unwrap());
    // A prompt of a coding agent.
    let prompt = json!({ "prompt": "When is the launch?" });
    let answer = send(&f, &f.member, payload("UserPromptSubmit", prompt)).await.unwrap();
    assert!(answer.additional_context.unwrap().contains("The launch is on Friday"));
    let session = only(&f, "claude-code").await;
    is_complete(&recorded(&f.log(session).await).unwrap());
    f.assert_verified().await;
    f.done().await;
}

/// The only session of an agent.
async fn only(f: &Fixture, agent: &str) -> SessionId {
    let wanted = ListSessions { agent_slug: Some(agent.into()), ..ListSessions::default() };
    let listed = session::list(&f.ledger, &f.admin, wanted).await.unwrap().items;
    assert_eq!(listed.len(), 1);
    listed[0].id
}

async fn a_candidate_that_is_not_injected_is_recorded_too(f: Fixture) {
    for number in 0..12 {
        put(&f, &f.operator, &format!("topics/t{number}.md"), 0, "# Note\n\n- The launch is on Friday\n")
            .await
            .unwrap();
    }
    let metadata = block_of(&f, talk(None, "When is the launch?")).await.unwrap();
    is_complete(&metadata);
    let injected = |wanted: bool| {
        metadata["candidates"].as_array().unwrap().iter().filter(|one| one["injected"] == wanted).count()
    };
    assert_eq!((injected(true), injected(false)), (8, 4));
    f.done().await;
}

async fn the_settings_say_how_much_an_agent_is_given(mut f: Fixture) {
    let common = Bounds { items: 2, ..Bounds::default() };
    let agents = [("otto", Bounds { tokens: 0, ..common }), ("claude-code", Bounds { items: 0, ..common })];
    let agents = agents.map(|(agent, bounds)| (agent.to_owned(), bounds)).into();
    let memory_bounds = MemoryBounds::new(common, agents);
    f.restart_with_settings(Settings { memory_bounds, ..Settings::default() }).await;
    for agent in [AGENT, "otto", "claude-code"] {
        for number in 0..4 {
            let write = Write { text: "# Note\n\n- The launch is on Friday\n".into(), ..Write::default() };
            let at = memory::path(&format!("topics/t{number}.md")).unwrap();
            memory::write(&f.ledger, &f.operator, agent, at, write).await.unwrap();
        }
    }
    let asked = |agent: &str| NewThread { agent: agent.into(), ..talk(None, "When is the launch?") };
    let metadata = block_of(&f, asked(AGENT)).await.unwrap();
    let injected = metadata["candidates"].as_array().unwrap().iter().filter(|one| one["injected"] == true);
    assert_eq!(injected.count(), 2);
    assert_eq!(block_of(&f, asked("otto")).await, None);
    let prompt = json!({ "prompt": "When is the launch?" });
    let answer = send(&f, &f.member, payload("UserPromptSubmit", prompt)).await.unwrap();
    assert_eq!(answer.additional_context, None);
    f.done().await;
}

async fn the_speakers_own_document_is_given_whatever_was_said(f: Fixture) {
    let person = f.member.user_id().unwrap();
    let own = format!("people/shiftbook-{person}.md");
    put(&f, &f.operator, &own, 0, "# Mia\n\n- Works in Oslo\n").await.unwrap();
    // More documents about the launch than are looked at, and one that another person is described in.
    for number in 0..45 {
        let text = "# Note\n\n- The launch is on Friday\n";
        put(&f, &f.operator, &format!("topics/t{number}.md"), 0, text).await.unwrap();
    }
    put(&f, &f.operator, "people/shiftbook-other.md", 0, "# Ada\n\n- Works in Bergen\n").await.unwrap();
    for said in ["When is the launch?", "zzz", "?", "Launch in Oslo, Mia?"] {
        let metadata = block_of(&f, talk(None, said)).await.unwrap();
        assert_eq!(paths(&metadata)[0], own, "{said}");
        assert_eq!(paths(&metadata).iter().filter(|path| **path == own).count(), 1);
        assert_eq!(metadata["candidates"][0]["samePerson"], true);
    }
    let change = memory::Change { base_version: 1, ..memory::Change::default() };
    memory::delete(&f.ledger, &f.operator, AGENT, memory::path(&own).unwrap(), change).await.unwrap();
    assert_eq!(block_of(&f, talk(None, "zzz")).await, None, "a deleted document is not given");
    f.assert_verified().await;
    f.done().await;
}

async fn what_a_long_message_says_last_is_looked_for(f: Fixture) {
    put(&f, &f.operator, "topics/launch.md", 0, "# Launch\n\n- The launch is on Friday\n").await.unwrap();
    let filler: String = (100..500).map(|number| format!("word{number} ")).collect();
    let message = format!("{filler}launch");
    assert!(message.len() > 2_000);
    let metadata = block_of(&f, talk(None, &message)).await.unwrap();
    assert_eq!(paths(&metadata), ["topics/launch.md"]);
    f.done().await;
}

async fn the_commonest_words_of_a_message_find_no_memories_beside_others(f: Fixture) {
    put(&f, &f.operator, "topics/launch.md", 0, "# Launch\n\n- The launch is on Friday\n").await.unwrap();
    put(&f, &f.operator, "topics/tea.md", 0, "# Tea\n\n- When it is late, the tea is green\n").await.unwrap();
    for (said, found) in [("When is the launch?", "topics/launch.md"), ("And when is it?", "topics/tea.md")] {
        let metadata = block_of(&f, talk(None, said)).await.unwrap();
        assert_eq!(paths(&metadata), [found], "{said}");
    }
    f.done().await;
}

async fn people_of_other_platforms_have_documents_of_their_own(f: Fixture) {
    let (_, secret) = token::create(&f.ledger, &f.admin, "relay", Role::Operator, None).await.unwrap();
    let relay = auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope;
    put(&f, &f.operator, "people/slack-u1.md", 0, "# Ada\n\n- Likes ships\n").await.unwrap();
    put(&f, &f.operator, "people/slack-u2.md", 0, "# Bob\n\n- Likes trains\n").await.unwrap();
    let aliases = "# A. L.\n\n- Lives in Turin\n\n## Aliases\n\n- ada\n";
    put(&f, &f.operator, "people/discord-7.md", 0, aliases).await.unwrap();
    let says = async |text: &str| {
        let new = NewThread { agent: AGENT.into(), ..NewThread::default() };
        let id = thread::start(&f.ledger, &relay, new).await.unwrap().session.id;
        let author = RelayedAuthor { platform: "slack".into(), id: "U1".into(), name: Some("Ada".into()) };
        let message = Message { text: text.into(), id: None };
        thread::relay_message(&f.ledger, &relay, id, message, Some(author)).await.unwrap();
        claimed(&f).await.unwrap()
    };
    let theirs = |metadata: &Value| {
        let all = metadata["candidates"].as_array().unwrap().iter().filter(|one| one["samePerson"] == true);
        all.map(|one| one["path"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    for text in ["zzz", "Who likes trains?"] {
        let metadata = says(text).await;
        let expected = ["people/discord-7.md", "people/slack-u1.md"].map(str::to_owned);
        assert_eq!(theirs(&metadata), BTreeSet::from(expected), "{metadata}");
        assert!(paths(&metadata)[0] != "people/slack-u2.md", "{metadata}");
    }
    // A name that two others have says nothing.
    put(&f, &f.operator, "people/discord-8.md", 0, &aliases.replace("Turin", "Rome")).await.unwrap();
    assert_eq!(theirs(&says("zzz").await), BTreeSet::from(["people/slack-u1.md".to_owned()]));
    f.done().await;
}

async fn the_history_of_an_agent_has_two_views(f: Fixture) {
    let said = |found: ledger::history::History| found.turns.into_iter().map(|turn| turn.text).collect::<Vec<_>>();
    let recent = async |id: &str, limit| {
        let at = ("discord".to_owned(), id.to_owned());
        history::recent(&f.ledger, &f.member, AGENT, at, limit).await.unwrap()
    };
    let since = async || history::since_watermark(&f.ledger, &f.member, AGENT, 0).await.unwrap();
    // The writer begins with sessions that start after it was set up.
    assert_eq!(since().await.turns, []);
    crate::memory_writer::take(&f, WriterTerms::default()).await.map(|run| run.ranges);
    for (id, message) in [(Some("7"), "one"), (Some("8"), "two"), (Some("7"), "three"), (None, "four")] {
        f.clock.advance(chrono::TimeDelta::seconds(1));
        thread::start(&f.ledger, &f.member, talk(id.map(channel), message)).await.unwrap();
    }
    let hushed = NewThread { incognito: true, ..talk(None, "secret") };
    thread::start(&f.ledger, &f.member, hushed).await.unwrap();
    assert_eq!(said(recent("7", 0).await), ["one", "three"]);
    let cut = recent("7", 1).await;
    assert!(cut.has_more);
    assert_eq!(cut.turns[0].channel.as_ref().map(|channel| channel.id.as_str()), Some("7"));
    assert_eq!(said(cut), ["three"]);
    assert_eq!(said(recent("9", 0).await), Vec::<String>::new());
    // A conversation without a channel is a direct message of its person. Incognito ones are in no channel.
    let person = f.member.user_id().unwrap().to_string();
    let at = ("shiftbook".to_owned(), person.clone());
    let direct = history::recent(&f.ledger, &f.member, AGENT, at, 0).await.unwrap();
    let channel = direct.turns[0].channel.clone().unwrap();
    assert_eq!((channel.id, channel.kind), (person, ChannelKind::Dm));
    assert!(!channel.name.is_empty(), "named by the person");
    assert_eq!(said(direct), ["four"]);
    // Sessions are tracked when the writer looks for work.
    let run =
        crate::memory_writer::take(&f, WriterTerms { turn_threshold: 1, ..WriterTerms::default() }).await.unwrap();
    assert_eq!(said(since().await), ["one", "two", "three", "four"]);
    let header = channel::header(run.channels.iter().map(|(_, channel)| channel));
    assert!(header.starts_with("## Context\n- #general\n- #general\n- DM:"), "{header}");
    crate::memory_writer::finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    assert_eq!(since().await.turns, [], "the watermark has moved");
    assert_eq!(said(recent("7", 0).await), ["one", "three"], "the log has not");
    for limit in [201, u32::MAX] {
        assert!(history::since_watermark(&f.ledger, &f.member, AGENT, limit).await.is_err());
    }
    assert!(history::since_watermark(&f.ledger, &f.stranger, AGENT, 0).await.unwrap().turns.is_empty());
    f.done().await;
}

async fn what_is_remembered_of_one_person_is_not_given_to_another_unless_it_is_shared(f: Fixture) {
    let (mia, ada) = (f.member.user_id().unwrap(), f.admin.user_id().unwrap());
    let (own, other) = (format!("people/shiftbook-{mia}.md"), format!("people/shiftbook-{ada}.md"));
    put(&f, &f.operator, &own, 0, "# Mia\n\n- Boat of Mia\n").await.unwrap();
    put(&f, &f.operator, &other, 0, "# Ada\n\n- Boat of Ada\n").await.unwrap();
    learned(&f, "topics/boats.md", "A boat needs paint", None).await;
    learned(&f, "sessions/2026-11-21-morning.md", "Mia asked for a boat", None).await;
    learned(&f, "sessions/2026-11-21-evening.md", "A channel spoke of a boat", Some("7")).await;
    let (topic, direct, common) =
        ("topics/boats.md", "sessions/2026-11-21-morning.md", "sessions/2026-11-21-evening.md");
    let given_to = async |scope: &domain::Scope, channel| {
        thread::start(&f.ledger, scope, talk(channel, "Whose boat?")).await.unwrap();
        let metadata = claimed(&f).await.unwrap();
        paths(&metadata).into_iter().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(given_to(&f.member, None).await, set(&[&own, topic, direct, common]));
    assert_eq!(given_to(&f.admin, None).await, set(&[&other, topic, common]));
    assert_eq!(given_to(&f.member, Some(channel("7"))).await, set(&[&own, topic, common]), "others read it too");
    // Whoever may write a document may share it.
    put(&f, &f.operator, &own, 1, "---\nshared: true\n---\n# Mia\n\n- Boat of Mia\n").await.unwrap();
    assert_eq!(given_to(&f.admin, None).await, set(&[&own, &other, topic, common]));
    f.assert_verified().await;
    f.done().await;
}

/// The block of the next claim, and the ids of its candidates by path.
async fn block(f: &Fixture, said: &str) -> (String, Vec<(String, String)>) {
    thread::start(&f.ledger, &f.member, talk(None, said)).await.unwrap();
    let claim = Claim { agent_slugs: None, max: 1, lease_seconds: 60 };
    let claimed = session::claim(&f.ledger, &f.worker, claim, Duration::ZERO).await.unwrap().remove(0);
    let metadata = recorded(&f.log(claimed.session.id).await).unwrap();
    let id = |one: &Value| (one["path"].as_str().unwrap().to_owned(), one["id"].as_str().unwrap().to_owned());
    (claimed.context.unwrap(), metadata["candidates"].as_array().unwrap().iter().map(id).collect())
}

async fn memories_say_when_they_were_noted_and_keep_their_ids(f: Fixture) {
    let (path, day) = ("topics/launch.md", |f: &Fixture| f.ledger.now().date_naive());
    let first = day(&f);
    put(&f, &f.operator, path, 0, "# Launch\n\n- The launch is on Friday\n\n## Place\n\n- A launch in Oslo\n")
        .await
        .unwrap();
    let (text, before) = block(&f, "When and where is the launch?").await;
    let noted = format!("from=\"{path}, Launch\" noted=\"{first}\">\n- The launch is on Friday\n</item>");
    assert!(text.contains(&noted), "{text}");
    // Another section gets a line: the first one keeps its id and its day.
    f.clock.advance(chrono::TimeDelta::days(3));
    let second = day(&f);
    let moved = "---\nimportance: 0.5\n---\n# Launch\n\n- The launch is on Friday\n\n## Place\n\n- A launch in Oslo\n- A launch in Bergen\n";
    put(&f, &f.operator, path, 1, moved).await.unwrap();
    let (text, after) = block(&f, "When and where is the launch?").await;
    assert!(text.contains(&noted), "{text}");
    assert!(
        text.contains(&format!(
            "noted=\"{first} to {second}\">\n- A launch in Oslo [{first}]\n- A launch in Bergen [{second}]\n</item>"
        )),
        "{text}"
    );
    let kept: Vec<_> = before.iter().filter(|id| after.contains(id)).collect();
    assert_eq!((before.len(), after.len(), kept.len()), (2, 2, 1), "{before:?} {after:?}");
    f.assert_verified().await;
    f.done().await;
}
