//! People who write on other platforms: their documents, whatever their ids look like.

use crate::{
    memory::put,
    memory_writer::{AGENT, changes, finish, line, own_path, take, tenant},
};
use domain::{Scope, id::SessionId, memory::Evidence, memory_write::plan::Policy, role::Role};
use ledger::{
    Error, auth, memory,
    memory_forget::{self, Forget, Forgetting},
    memory_write::{self, RunWindow, WriterTerms},
    thread::{self, Message, NewThread, RelayedAuthor},
    token,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_person_is_forgotten_by_their_id_even_if_it_is_no_file_name,
    documents_with_names_of_earlier_versions_are_found_and_no_one_else_is_erased,
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
    memory_write::take(&f.ledger, tenant(f), AGENT, &WriterTerms::default(), Some(f.ledger.now()))
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

    // Somebody else has the name of the earlier version as their id.
    let other = preview(&f, "mail-ines-example-org").await;
    let documents: Vec<_> = other.documents.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(documents, [earlier], "what she said is not theirs");
    let kept = other.kept.join("\n");
    assert!(kept.contains("people/mail-ines@example.org.md"), "{kept}");
    f.done().await;
}
