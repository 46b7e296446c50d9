//! People who write on other platforms: their documents, whatever their ids look like.

use crate::{
    memory::put,
    memory_writer::{AGENT, changes, finish, line, own_path, take, tenant},
    thread::turn,
};
use domain::{
    Scope,
    chain::Digest,
    id::SessionId,
    memory::{Evidence, fold},
    memory_writer::plan::Policy,
    role::Role,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use ledger::{
    Error, auth, memory,
    memory_forget::{self, Forget, Forgetting},
    memory_writer::{self, RunWindow, WriterTerms},
    thread::{self, Message, NewThread, RelayedAuthor},
    token,
};
use serde_json::{Value, json};
use testkit::{Fixture, INSTANCE_KEY, on_both_engines};

on_both_engines!(
    a_person_is_forgotten_by_their_id_even_if_it_is_no_file_name,
    documents_with_names_of_earlier_versions_are_found_and_no_one_else_is_erased,
    a_mark_of_an_earlier_version_holds_until_it_is_lifted,
    what_the_agent_answers_a_forgotten_person_among_others_is_left_out,
    forgetting_one_speaker_keeps_the_lines_of_another_in_the_same_answer,
);

/// A token that may name the authors of messages.
pub async fn relay(f: &Fixture) -> Scope {
    let (_, secret) = token::create(&f.ledger, &f.admin, "relay", Role::Operator, None).await.unwrap();
    auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope
}

/// A conversation that the relay has begun.
pub async fn relayed(f: &Fixture, relay: &Scope) -> SessionId {
    let new = NewThread { agent: AGENT.into(), ..NewThread::default() };
    thread::start(&f.ledger, relay, new).await.unwrap().session.id
}

/// A message of a person of another platform.
pub async fn says(f: &Fixture, relay: &Scope, at: SessionId, (platform, id): (&str, &str), text: &str) {
    let author = RelayedAuthor { platform: platform.into(), id: id.into(), name: None };
    let message = Message { text: text.into(), id: None };
    thread::relay_message(&f.ledger, relay, at, message, Some(author)).await.unwrap();
}

/// The window of a server that stops: everything that is open.
pub async fn open_window(f: &Fixture) -> RunWindow {
    memory_writer::take(&f.ledger, tenant(f), AGENT, &WriterTerms::default(), Some(f.ledger.now()))
        .await
        .unwrap()
        .unwrap()
}

fn of(person: &str) -> Forget {
    Forget { person: person.into(), names: None }
}

async fn preview(f: &Fixture, person: &str) -> Forgetting {
    memory_forget::preview(&f.ledger, &f.admin, of(person)).await.unwrap()
}

async fn is_there(f: &Fixture, path: &str) -> bool {
    let found = memory::read(&f.ledger, &f.member, AGENT, memory::path(path).unwrap()).await;
    assert!(matches!(found, Ok(_) | Err(Error::NotFound(_))), "{found:?}");
    found.is_ok()
}

async fn a_person_is_forgotten_by_their_id_even_if_it_is_no_file_name(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let relay = relay(&f).await;
    for (platform, id, person) in [
        ("mail", "Ines@example.org", "mail-Ines@example.org"),
        ("sms", "+4915", "sms-+4915"),
        ("mail", "日本", "mail-日本"),
        ("mail", "_ines_", "mail-_ines_"),
        ("ms-teams", "1", "ms-teams/1"),
    ] {
        let session = relayed(&f, &relay).await;
        says(&f, &relay, session, (platform, id), "I like ships.").await;
        let run = open_window(&f).await;
        let own = own_path(&run);
        let change = changes(&run, json!([line(&run, "Likes ships")]), Value::Null);
        assert_eq!(finish(&f, run, change, Policy::Auto).await.unwrap().written, 1);
        for name in [person, own.as_str()] {
            let found = preview(&f, name).await;
            let documents: Vec<_> = found.documents.iter().map(|one| (one.path.as_str(), one.is_whole)).collect();
            assert_eq!((found.path.as_str(), documents), (own.as_str(), vec![(own.as_str(), true)]), "{name}");
        }
        memory_forget::forget(&f.ledger, &f.admin, of(person)).await.unwrap();
        assert!(!is_there(&f, &own).await, "{person}");
        says(&f, &relay, session, (platform, id), "I like ships very much.").await;
        let run = open_window(&f).await;
        assert!(run.window.turns.is_empty(), "{person}: {:?}", run.window.turns);
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
        memory_forget::lift(&f.ledger, &f.admin, person).await.unwrap();
        says(&f, &relay, session, (platform, id), "I like buses.").await;
        let run = open_window(&f).await;
        assert_eq!((run.window.turns.len(), own_path(&run)), (1, own));
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    }
    f.assert_verified().await;
    f.done().await;
}

async fn documents_with_names_of_earlier_versions_are_found_and_no_one_else_is_erased(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let relay = relay(&f).await;
    let session = relayed(&f, &relay).await;
    says(&f, &relay, session, ("mail", "ines@example.org"), "I like ships.").await;
    let run = open_window(&f).await;
    let sequence = run.window.turns[0].at.sequence;
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    let earlier = "people/mail-ines-example-org.md";
    put(&f, &f.operator, earlier, 0, "# A person\n\n- Likes ships\n").await.unwrap();
    let evidence = vec![Evidence { line: 1, session, sequence }];
    let write = memory::Write { text: "- Ships sail\n- Rain\n".into(), evidence, ..memory::Write::default() };
    memory::write(&f.ledger, &f.operator, AGENT, memory::path("topics/ships.md").unwrap(), write).await.unwrap();

    let found = preview(&f, "mail-ines@example.org").await;
    let documents: Vec<_> = found.documents.iter().map(|one| (one.path.as_str(), one.is_whole)).collect();
    assert_eq!(documents, [(earlier, true), ("topics/ships.md", false)]);
    let kept = found.kept.join("\n");
    assert!(kept.contains(&format!("{earlier} of {AGENT} goes whole")), "{kept}");

    // Someone else has the name of the earlier version as their id.
    let other = preview(&f, "mail-ines-example-org").await;
    let documents: Vec<_> = other.documents.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(documents, [earlier], "what she said is not theirs");
    let kept = other.kept.join("\n");
    assert!(kept.contains("people/mail-ines@example.org.md"), "{kept}");
    f.done().await;
}

/// Makes every mark that holds one that an earlier version made for the path of a text that an admin typed.
async fn mark_as_before(f: &Fixture, path: &str) {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&Digest::parse(INSTANCE_KEY).unwrap().0).unwrap();
    mac.update(b"memory-forgotten\0");
    mac.update(tenant(f).0.as_bytes());
    mac.update(fold(path).as_bytes());
    let mark = Digest(mac.finalize().into_bytes().into());
    let mark = if f.engine.file().is_some() { format!("x'{mark}'") } else { format!("decode('{mark}', 'hex')") };
    let update = format!("UPDATE memory_forgotten SET mark = {mark} WHERE lifted_at IS NULL");
    assert_eq!(f.engine.raw().await.execute(&update).await.unwrap(), 1);
}

async fn a_mark_of_an_earlier_version_holds_until_it_is_lifted(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let relay = relay(&f).await;
    let long = "7".repeat(70);
    for (platform, id) in [("sms", "+4915"), ("mail", "日本"), ("discord", long.as_str())] {
        let person = format!("{platform}-{id}");
        memory_forget::forget(&f.ledger, &f.admin, of("irc-nobody")).await.unwrap();
        mark_as_before(&f, &format!("people/{person}.md")).await;
        let session = relayed(&f, &relay).await;
        says(&f, &relay, session, (platform, id), "I like ships.").await;
        let run = open_window(&f).await;
        assert!(run.window.turns.is_empty(), "{person}: {:?}", run.window.turns);
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
        let lifted = memory_forget::lift(&f.ledger, &f.admin, &person).await.unwrap();
        assert!(lifted.is_shared, "{lifted:?}");
        says(&f, &relay, session, (platform, id), "I like buses.").await;
        let run = open_window(&f).await;
        assert_eq!((run.window.turns.len(), own_path(&run)), (1, lifted.path));
        finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    }
    // Of two people with the same earlier path, the one with a mark of their own is lifted alone.
    let (ines, other) = ("mail-ines@example.org", "mail-ines-example-org");
    for person in [ines, other] {
        memory_forget::forget(&f.ledger, &f.admin, of(person)).await.unwrap();
    }
    for is_shared in [false, true] {
        assert_eq!(memory_forget::lift(&f.ledger, &f.admin, ines).await.unwrap().is_shared, is_shared);
    }
    for person in [ines, other] {
        assert!(matches!(memory_forget::lift(&f.ledger, &f.admin, person).await, Err(Error::NotFound(_))));
    }
    f.done().await;
}

async fn what_the_agent_answers_a_forgotten_person_among_others_is_left_out(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let relay = relay(&f).await;
    memory_forget::forget(&f.ledger, &f.admin, of("irc-ines")).await.unwrap();
    let session = relayed(&f, &relay).await;
    let texts = |run: &RunWindow| run.window.turns.iter().map(|turn| turn.text.clone()).collect::<Vec<_>>();
    says(&f, &relay, session, ("irc", "bob"), "I like buses.").await;
    turn(&f, "Bob likes buses.").await;
    says(&f, &relay, session, ("irc", "ines"), "I like ships.").await;
    turn(&f, "Ines likes ships.").await;
    says(&f, &relay, session, ("irc", "bob"), "I like trams.").await;
    turn(&f, "Bob likes trams.").await;
    says(&f, &relay, session, ("irc", "ines"), "I like rain.").await;
    let run = open_window(&f).await;
    assert_eq!(texts(&run), ["I like buses.", "Bob likes buses.", "I like trams.", "Bob likes trams."]);
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    // The answer is past the watermark, and what it answers is not.
    turn(&f, "Ines likes rain.").await;
    says(&f, &relay, session, ("irc", "bob"), "I like snow.").await;
    let run = open_window(&f).await;
    assert_eq!(texts(&run), ["I like snow."]);
    f.done().await;
}

async fn forgetting_one_speaker_keeps_the_lines_of_another_in_the_same_answer(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let relay = relay(&f).await;
    let session = relayed(&f, &relay).await;
    says(&f, &relay, session, ("irc", "ines"), "The boat needs new ropes.").await;
    says(&f, &relay, session, ("irc", "bob"), "The boat needs green paint.").await;
    let run = open_window(&f).await;
    let at = |text: &str| run.window.turns.iter().find(|turn| turn.text.contains(text)).unwrap().at.sequence;
    let block = |text: &str, of: &str| json!({ "text": text, "evidence": [{ "session": "s1", "sequence": at(of) }], "contradicts": [] });
    let path = "topics/boat.md";
    let create = json!({ "op": "create", "path": path, "heading": [], "base_sha256": null, "reason": "", "evidence": [],
        "blocks": [block("# Boat\n\n## Needs", "ropes"), block("- Needs new ropes", "ropes")] });
    let more = json!({ "op": "append_section", "path": path, "heading": ["Needs"], "base_sha256": null, "reason": "",
        "evidence": [], "blocks": [block("- Needs green paint", "paint")] });
    let summary = json!({ "title": "The boat", "blocks": [
        block("- New ropes are needed", "ropes"), block("- Green paint is needed", "paint")] });
    let planned = changes(&run, json!([create, more]), summary);
    let path_of_summary = run.window.session_path.clone();
    assert_eq!(finish(&f, run, planned, Policy::Auto).await.unwrap().written, 2);
    memory_forget::forget(&f.ledger, &f.admin, of("irc-ines")).await.unwrap();
    for (path, left) in [
        (path, "# Boat\n\n## Needs\n\n- Needs green paint\n"),
        (path_of_summary.as_str(), "# The boat\n\n- Green paint is needed\n"),
    ] {
        let found = memory::read(&f.ledger, &f.member, AGENT, memory::path(path).unwrap()).await.unwrap();
        assert_eq!(found.text, left);
        let blamed = memory::blame(&f.ledger, &f.member, AGENT, memory::path(path).unwrap()).await.unwrap();
        assert_eq!(blamed.last().unwrap().evidence.len(), 1, "{path}");
    }
    f.assert_verified().await;
    f.done().await;
}
