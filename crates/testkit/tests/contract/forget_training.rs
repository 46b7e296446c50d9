//! Forgetting a person, or one session, in the training data: what was captured goes, nothing more is captured, other
//! sessions stay, and every chain verifies.

use crate::{
    interaction::{answered, due, keep, keep_all, lines_of},
    memory_writer::talk,
    thread::{ENDING, rested, turn},
};
use domain::{id::SessionId, interaction::ExportState};
use ledger::{
    Error,
    export_job::{self, Ending, ExportContent},
    interaction::{self, Stream},
    memory_forget::{self, Forget},
    retention::{ErasureState, erasure_states_by_operator},
    thread::{self, Message},
};
use serde_json::json;
use std::path::Path;
use testkit::{Fixture, on_both_engines};
use uuid::Uuid;

on_both_engines!(
    a_forgotten_persons_captured_answers_go_and_none_is_captured_again,
    a_turn_that_is_being_captured_when_its_person_is_forgotten_is_not_stored,
    the_training_data_of_one_session_goes_for_its_person_and_for_admins,
);

/// The admin, as others call them.
const ADMIN: &str = "ada@acme.test";

fn of(person: &str) -> Forget {
    Forget { person: person.into(), names: None }
}

async fn captured(f: &Fixture) -> usize {
    lines_of(f, Stream::Interactions).await.len()
}

/// Captures everything that is due. Returns how many answers there were.
async fn capture(f: &Fixture) -> usize {
    let due = due(f).await;
    keep_all(f, &due).await;
    due.iter().map(|due| due.turns.len()).sum()
}

async fn verified(f: &Fixture) {
    let key = ledger::InstanceKey::parse(testkit::INSTANCE_KEY).unwrap();
    let verified = ledger::verify::all(&f.ledger, &[key], |_| {}).await.unwrap();
    assert!(verified.bad.is_none(), "{:?}", verified.bad);
}

async fn state(f: &Fixture, id: SessionId) -> ErasureState {
    let states = erasure_states_by_operator(&f.ledger, vec![(f.member.tenant_id, id)]).await.unwrap();
    states[0]
}

async fn a_forgotten_persons_captured_answers_go_and_none_is_captured_again(f: Fixture) {
    let session = talk(&f, "I moved to Lisbon.", "Noted.").await;
    let other = answered(&f, "Which port?", &json!("5432")).await;
    assert_eq!(capture(&f).await, 2);
    let person = format!("shiftbook-{}", session.user_id.unwrap());
    let found = memory_forget::preview(&f.ledger, &f.admin, of(&person)).await.unwrap();
    assert_eq!((found.interactions, &found.captured_sessions), (1, &vec![session.id]));
    assert_eq!(captured(&f).await, 2, "looking changes nothing");

    // An export that was written since, whose file is named.
    let (export, options) = (Uuid::from_u128(7), json!({ "format": "sft" }).to_string());
    export_job::begin(&f.ledger, &f.admin, export, "server".into(), (ExportContent::Training, options)).await.unwrap();
    export_job::end(&f.ledger, &f.admin, export, ExportState::Done, Ending::default()).await.unwrap();

    export_job::record_download(&f.ledger, &f.admin, export, "train.jsonl").await.unwrap();
    // One of the command line, with its folder. One of labels has no texts, and a preview no file.
    let noted = (Path::new("/srv/raw"), r#"{"agents":"scout"}"#);
    export_job::record_by_operator(&f.ledger, "acme", ExportContent::Raw, noted).await.unwrap();
    export_job::record_by_operator(&f.ledger, "acme", ExportContent::Labels, (Path::new("/srv/labels"), "{}"))
        .await
        .unwrap();
    let (look, options) = (Uuid::from_u128(8), json!({ "format": "dpo", "preview": true }).to_string());
    export_job::begin(&f.ledger, &f.admin, look, "server".into(), (ExportContent::Training, options)).await.unwrap();
    let seen = memory_forget::preview(&f.ledger, &f.admin, of(&person)).await.unwrap();

    let done = memory_forget::forget(&f.ledger, &f.admin, of(&person)).await.unwrap();
    assert!(seen.kept.iter().any(|text| text.contains("/srv/raw")), "{:?}", seen.kept);
    assert_eq!((done.interactions, &done.captured_sessions), (1, &vec![session.id]));
    let named = done.kept.iter().find(|text| text.contains("earlier exports")).expect("it is named");
    let at = f.ledger.now().format("on %Y-%m-%d at %H:%M UTC").to_string();
    for part in [
        format!("training data (sft) by {ADMIN} {at}, downloaded by {ADMIN} {at} (/exports/{export})"),
        format!(
            "captured prompts and answers (agents scout) by the operator of the server {at}, written into /srv/raw"
        ),
    ] {
        assert!(named.contains(&part), "{part}: {named}");
    }
    assert!(!named.contains("/srv/labels") && !named.contains("dpo"), "{named}");
    assert_eq!(lines_of(&f, Stream::Interactions).await, [r#""5432""#], "the other session stays");
    assert_eq!((state(&f, session.id).await, state(&f, other.id).await), (ErasureState::Erased, ErasureState::Kept));
    verified(&f).await;

    // Neither this conversation nor a new one of the person is captured.
    let message = Message { text: "And my dog is called Rex.".into(), id: None };
    thread::send_message(&f.ledger, &f.member, session.id, message).await.unwrap();
    turn(&f, "Nice.").await;
    thread::end(&f.ledger, &f.member, session.id, ENDING).await.unwrap();
    rested(&f).await;
    assert_eq!(capture(&f).await, 0);
    answered(&f, "Which host?", &json!("db")).await;
    assert_eq!(capture(&f).await, 1, "others are captured");

    // Once an admin allows it, new conversations are captured, and the forgotten one is not.
    memory_forget::lift(&f.ledger, &f.admin, &person).await.unwrap();
    rested(&f).await;
    assert_eq!(capture(&f).await, 1);
    assert!(due(&f).await.is_empty());
    verified(&f).await;
    f.done().await;
}

async fn a_turn_that_is_being_captured_when_its_person_is_forgotten_is_not_stored(f: Fixture) {
    let session = talk(&f, "I moved to Lisbon.", "Noted.").await;
    let taken = due(&f).await.pop().unwrap();
    let person = format!("shiftbook-{}", session.user_id.unwrap());
    let done = memory_forget::forget(&f.ledger, &f.admin, of(&person)).await.unwrap();
    assert_eq!((done.interactions, done.captured_sessions), (0, vec![session.id]));
    keep(&f, &taken).await;
    assert_eq!(captured(&f).await, 0);
    f.done().await;
}

async fn the_training_data_of_one_session_goes_for_its_person_and_for_admins(f: Fixture) {
    let (first, second) = (rested(&f).await, rested(&f).await);
    assert_eq!(capture(&f).await, 2);
    let refused = interaction::forget_session(&f.ledger, &f.other_member, first.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let unknown = interaction::forget_session(&f.ledger, &f.stranger, first.id).await;
    assert!(matches!(unknown, Err(Error::NotFound(_))), "{unknown:?}");
    assert_eq!(captured(&f).await, 2);
    for (interactions, who) in [(1, &f.member), (0, &f.member), (0, &f.admin)] {
        let found = interaction::forget_session(&f.ledger, who, first.id).await.unwrap();
        assert_eq!((found.interactions, found.exports.len()), (interactions, 0));
    }
    assert_eq!(captured(&f).await, 1);
    for session in [&first, &second] {
        thread::end(&f.ledger, &f.member, session.id, ENDING).await.unwrap();
    }
    capture(&f).await;
    assert_eq!(captured(&f).await, 1);
    assert_eq!(interaction::forget_session(&f.ledger, &f.admin, second.id).await.unwrap().interactions, 1);
    assert_eq!(captured(&f).await, 0);
    verified(&f).await;
    f.done().await;
}
