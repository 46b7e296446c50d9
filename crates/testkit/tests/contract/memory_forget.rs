//! Forgetting a person: what goes, what stays, and what is not learnt again.

use crate::{
    feedback::open_without_key,
    gate::says,
    memory::put,
    memory_writer::{AGENT, changes, finish, line, own_path, proposals, settle, take, talk, talked, talked_again},
    retention::columns_with,
    thread::ENDING,
};
use chrono::TimeDelta;
use domain::{
    gate::Verdict,
    memory::{Evidence, Operation, Source},
    memory_forget::RemovalReason,
    memory_writer::plan::Policy,
    session::Status,
};
use ledger::{
    Error, ListPage,
    gate::{self, NewDecision},
    memory,
    memory_forget::{self, Forget, Forgetting},
    memory_writer::{RunWindow, WriterTerms},
    session, thread,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    names_that_only_the_person_wrote_are_listed_and_not_looked_for,
    what_is_known_about_a_person_is_listed_then_erased_and_the_rest_stays,
    a_forgotten_person_is_not_learnt_again_until_an_admin_allows_it,
    proposals_about_a_person_are_withdrawn_and_their_texts_erased,
    a_run_that_has_read_what_is_forgotten_writes_nothing,
    a_run_that_has_read_what_is_forgotten_proposes_nothing,
    no_run_begins_while_a_person_is_being_forgotten,
    erasing_a_document_takes_its_proposals_and_denied_lines_with_it,
    without_a_key_nothing_of_a_document_is_erased,
    proposals_from_before_a_rename_are_erased_with_their_document,
    only_admins_forget_and_only_people,
    members_correct_what_is_remembered_of_them_and_ask_to_be_forgotten,
);

const MARKER: &str = "zanzibarmarker";

fn of(person: &str) -> Forget {
    Forget { person: person.into(), names: None }
}

async fn preview(f: &Fixture, person: &str) -> Forgetting {
    memory_forget::preview(&f.ledger, &f.admin, of(person)).await.unwrap()
}

async fn text(f: &Fixture, path: &str) -> Option<String> {
    let found = memory::read(&f.ledger, &f.member, AGENT, memory::path(path).unwrap()).await;
    match found {
        Ok(found) => Some(found.text),
        Err(Error::NotFound(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

/// A document with the origin of one line.
async fn written(f: &Fixture, path: &str, text: &str, evidence: Vec<Evidence>) {
    let write = memory::Write { text: text.into(), evidence, ..memory::Write::default() };
    memory::write(&f.ledger, &f.operator, AGENT, memory::path(path).unwrap(), write).await.unwrap();
}

async fn names_that_only_the_person_wrote_are_listed_and_not_looked_for(f: Fixture) {
    let own = format!("people/shiftbook-{}.md", f.member.user_id().unwrap());
    put(&f, &f.operator, &own, 0, "# Mia\n\n## Aliases\n\n- Mimi\n").await.unwrap();
    let aliases = "# Mia\n\n## Aliases\n\n- Mimi\n- Budget\n- Renews\n";
    put(&f, &f.member, &own, 1, aliases).await.unwrap();
    // A later version of another person has these names too.
    put(&f, &f.operator, &own, 2, &format!("{aliases}- Mimmi\n")).await.unwrap();
    let plan = "# Plan\n\n- Budget is 5,000\n- Northwind Renews in May\n- Mimi signs\n";
    put(&f, &f.operator, "topics/plan.md", 0, plan).await.unwrap();
    let found = preview(&f, own.trim_start_matches("people/").trim_end_matches(".md")).await;
    assert_eq!(found.names, ["Mia", "Mimi", "Mimmi", "mia@acme.test"]);
    let lines: Vec<_> = found.documents.iter().filter(|one| one.path == "topics/plan.md").collect();
    assert_eq!(lines[0].lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["- Mimi signs"]);
    assert!(found.kept.iter().any(|why| why.contains("Budget, Renews")), "{:?}", found.kept);
    f.done().await;
}

async fn what_is_known_about_a_person_is_listed_then_erased_and_the_rest_stays(f: Fixture) {
    let session = talk(&f, "I moved.", "Noted.").await;
    let other = f.running().await;
    let said = f.append(other.id, other.attempt, vec![testkit::text("It rains.")]).await.unwrap().events[0].1;
    let rain = Evidence { line: 4, session: other.id, sequence: said };
    let own = format!("people/shiftbook-{}.md", session.user_id.unwrap());
    put(&f, &f.operator, &own, 0, &format!("# Ines\n\n- {MARKER} one\n\n## Aliases\n\n- Nines\n- I\n")).await.unwrap();
    let derived = Evidence { line: 3, session: session.id, sequence: 2 };
    let town = format!("# Town\n\n- {MARKER} two\n- It rains\n");
    written(&f, "topics/town.md", &town, vec![derived, rain]).await;
    // A person corrected a word by hand: that version has no turns.
    let corrected = format!("# Town\n\n- {MARKER} two!\n- It rains\n- Dry in May\n");
    put(&f, &f.operator, "topics/town.md", 1, &corrected).await.unwrap();
    put(&f, &f.operator, "topics/party.md", 0, "# Party\n\n- Nínes brings cake\n- Bob sings\n").await.unwrap();
    put(&f, &f.operator, "topics/party.md", 1, "# Party\n\n- Bob sings\n").await.unwrap();
    put(&f, &f.operator, "topics/nines-garden.md", 0, "# Garden\n\n- Roses\n").await.unwrap();
    put(&f, &f.operator, "topics/gone.md", 0, "Ines slept\n").await.unwrap();
    let gone = memory::Change { base_version: 1, ..memory::Change::default() };
    memory::delete(&f.ledger, &f.operator, AGENT, memory::path("topics/gone.md").unwrap(), gone).await.unwrap();
    put(&f, &f.operator, "topics/machines.md", 0, "# Machines\n\n- Business as usual\n").await.unwrap();
    put(&f, &f.operator, "self/rules.md", 0, "Be kind to Ines.\n").await.unwrap();
    let elsewhere = memory::Write { text: "- also here\n".into(), ..memory::Write::default() };
    memory::write(&f.ledger, &f.operator, "clerk", memory::path(&own).unwrap(), elsewhere).await.unwrap();

    let found = preview(&f, own.trim_start_matches("people/").trim_end_matches(".md")).await;
    assert_eq!((found.is_done, found.path.as_str()), (false, own.as_str()));
    assert_eq!(found.names, ["Ines", "Nines", "mia@acme.test"]);
    assert_eq!(found.short_names, ["I"]);
    let shown: Vec<_> =
        found.documents.iter().map(|one| (one.agent.as_str(), one.path.as_str(), one.is_whole)).collect();
    let expected = [
        ("clerk", own.as_str(), true),
        (AGENT, own.as_str(), true),
        (AGENT, "topics/gone.md", true),
        (AGENT, "topics/nines-garden.md", true),
        (AGENT, "topics/party.md", false),
        (AGENT, "topics/town.md", false),
    ];
    assert_eq!(shown, expected);
    let town: Vec<_> = found.documents[5].lines.iter().map(|one| (one.line, one.why)).collect();
    assert_eq!(town, [(3, RemovalReason::Said)]);
    let kept = found.kept.join("\n");
    assert!(
        kept.contains("self/rules.md") && kept.contains("too short: I") && kept.contains("1 conversation with"),
        "{kept}"
    );
    assert!(text(&f, &own).await.is_some(), "looking changes nothing");

    let done = memory_forget::forget(&f.ledger, &f.admin, of(&own)).await.unwrap();
    assert!(done.is_done && done.documents.len() == 6, "{done:?}");
    assert_eq!(text(&f, &own).await, None);
    assert_eq!(text(&f, "topics/nines-garden.md").await, None);
    let audit = memory::audit(&f.ledger, &f.member, AGENT, ListPage::default()).await.unwrap().items;
    let erasures: Vec<_> = audit.iter().filter(|one| one.operation == Operation::Erased).collect();
    assert!(erasures.len() == 3 && erasures.iter().all(|one| !one.reason.is_empty()), "{erasures:?}");
    assert!(erasures.iter().all(|one| !one.reason.contains("Ines")), "{erasures:?}");
    assert_eq!(text(&f, "topics/town.md").await.unwrap(), "# Town\n\n- It rains\n- Dry in May\n");
    assert_eq!(text(&f, "topics/party.md").await.unwrap(), "# Party\n\n- Bob sings\n");
    assert!(text(&f, "topics/machines.md").await.is_some() && text(&f, "self/rules.md").await.is_some());
    let town =
        memory::versions(&f.ledger, &f.member, AGENT, memory::path("topics/town.md").unwrap(), ListPage::default());
    let town = town.await.unwrap().items;
    assert_eq!((town[0].source, town[0].operation), (Source::Erasure, Operation::Modified));
    assert!(town[0].author.starts_with("user:") && !town[0].reason.contains("Ines"));
    assert!(town[0].erased_at.is_none() && town[1..].iter().all(|one| one.erased_at.is_some()));
    let at = memory::path("topics/town.md").unwrap();
    let diff = memory::diff(&f.ledger, &f.member, AGENT, at, None, None).await.unwrap();
    assert!(diff.is_erased && diff.lines.is_empty(), "an erased text is not an empty one");
    assert_eq!((diff.added, diff.removed), (0, 0));
    let blamed = memory::blame(&f.ledger, &f.member, AGENT, memory::path("topics/town.md").unwrap()).await.unwrap();
    assert_eq!(
        blamed[2].evidence.iter().map(|one| (one.session, one.sequence)).collect::<Vec<_>>(),
        [(other.id, said)]
    );
    assert!(memory::search(&f.ledger, &f.admin, None, MARKER, 0).await.unwrap().is_empty());
    assert!(memory::search(&f.ledger, &f.admin, Some(AGENT), "cake", 0).await.unwrap().is_empty());
    assert_eq!(memory::search(&f.ledger, &f.admin, Some(AGENT), "rains", 0).await.unwrap().len(), 1);
    // The row of the erasure names who did it, and not whom.
    let mut raw = f.engine.raw().await;
    let rows = raw
        .texts("SELECT author || ' ' || documents || ' ' || proposals FROM memory_forgotten WHERE finished_at > 0")
        .await;
    assert!(rows.len() == 1 && rows[0].starts_with("user:") && rows[0].ends_with(" 6 0"), "{rows:?}");
    drop(raw);
    let again = preview(&f, &own).await;
    assert!(again.documents.is_empty() && again.denials == 0, "{again:?}");
    f.assert_verified().await;
    if let Some(file) = f.engine.file() {
        f.ledger.close().await;
        let bytes = std::fs::read(&file).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!holds(MARKER) && !holds("Nines") && !holds("brings cake"), "the file still has the erased text");
        f.engine.discard().await;
        return;
    }
    f.done().await;
}

async fn waiting(f: &Fixture, said: &str, known: &str) -> RunWindow {
    talked(f, said).await;
    let run = take(f, WriterTerms::default()).await.unwrap();
    let change = changes(&run, json!([line(&run, known)]), Value::Null);
    finish(f, run.clone(), change, Policy::Review).await.unwrap();
    run
}

async fn a_forgotten_person_is_not_learnt_again_until_an_admin_allows_it(f: Fixture) {
    let run = waiting(&f, "I like trains.", "Likes trains").await;
    let own = own_path(&run);
    memory_forget::forget(&f.ledger, &f.admin, of(&own)).await.unwrap();
    talked_again(&f, "I like trains very much.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert!(run.window.turns.is_empty() && run.window.people.is_empty(), "{:?}", run.window.turns);
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    // The agent does not make their document either. A person may.
    let working = f.running().await;
    let write = memory::Write { text: "x\n".into(), session_id: Some(working.id), ..memory::Write::default() };
    let refused = memory::write(&f.ledger, &f.worker, AGENT, memory::path(&own).unwrap(), write).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let (topic, person) = (memory::path("topics/trains.md").unwrap(), memory::path(&own).unwrap());
    let write = memory::Write { text: "x\n".into(), session_id: Some(working.id), ..memory::Write::default() };
    memory::write(&f.ledger, &f.worker, AGENT, topic.clone(), write).await.unwrap();
    let change = || memory::Change { base_version: 1, session_id: Some(working.id), ..memory::Change::default() };
    let renamed = memory::rename(&f.ledger, &f.worker, AGENT, topic, person.clone(), change()).await;
    assert!(matches!(renamed, Err(Error::Forbidden(_))), "{renamed:?}");
    put(&f, &f.operator, &own, 0, "by hand\n").await.unwrap();
    let reverted = memory::revert(&f.ledger, &f.worker, AGENT, person, 1, change()).await;
    assert!(matches!(reverted, Err(Error::Forbidden(_))), "{reverted:?}");

    let lifted = memory_forget::lift(&f.ledger, &f.admin, &own).await.unwrap();
    assert_eq!((lifted.path.as_str(), lifted.is_shared), (own.as_str(), false));
    assert!(matches!(memory_forget::lift(&f.ledger, &f.admin, &own).await, Err(Error::NotFound(_))));
    talked_again(&f, "I like buses.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(run.window.turns.len(), 2, "from now on");
    f.done().await;
}

async fn proposals_about_a_person_are_withdrawn_and_their_texts_erased(f: Fixture) {
    let run = waiting(&f, "I like trains.", "Denied zanzibarmarker").await;
    let own = own_path(&run);
    let denied = proposals(&f).await.remove(0);
    let denial = NewDecision { note: Some(format!("not {MARKER}")), ..says(Verdict::Deny) };
    gate::decide(&f.ledger, &f.operator, denied.gate.id, denial).await.unwrap();
    settle(&f).await;
    talked_again(&f, "I like buses.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let change = changes(&run, json!([line(&run, "Waits zanzibarmarker")]), Value::Null);
    finish(&f, run, change, Policy::Review).await.unwrap();
    let open = proposals(&f).await.remove(0);
    // One is decided, and can still be undone.
    let said = talk(&f, "I like ships.", "Good.").await;
    thread::end(&f.ledger, &f.member, said.id, ENDING).await.unwrap();
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let topic = json!({ "op": "create", "path": "topics/ships.md", "heading": [], "base_sha256": null,
        "body": "# Ships\n\n- Held zanzibarmarker\n", "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "" });
    let change = changes(&run, json!([topic]), Value::Null);
    finish(&f, run, change, Policy::Review).await.unwrap();
    let held = proposals(&f).await.into_iter().find(|item| item.gate.id != open.gate.id).unwrap();
    gate::decide(&f.ledger, &f.operator, held.gate.id, says(Verdict::Approve)).await.unwrap();

    let columns = ["gates.task", "gate_decisions.note", "memory_denials.line", "session_events.content"];
    marker_is_in(&f, &columns).await;
    let found = preview(&f, &own).await;
    assert_eq!((found.proposals.len(), found.denials), (3, 1), "{found:?}");
    assert_eq!(found.proposals.iter().filter(|one| one.waits).count(), 2);
    let done = memory_forget::forget(&f.ledger, &f.admin, of(&own)).await.unwrap();
    assert_eq!((done.proposals.len(), done.denials), (3, 1));
    assert!(proposals(&f).await.is_empty());
    assert_eq!(settle(&f).await.settled, 0);
    assert_eq!(text(&f, "topics/ships.md").await, None, "the decision does not take effect");
    for (item, status) in [(&denied, Status::Completed), (&open, Status::Abandoned), (&held, Status::Abandoned)] {
        let session = session::get(&f.ledger, &f.admin, item.gate.session_id).await.unwrap();
        assert_eq!((session.status(), session.title.as_str(), session.input), (status, "(erased)", None));
    }
    marker_is_gone(&f, &columns).await;
    assert!(preview(&f, &own).await.proposals.is_empty());
    f.assert_verified().await;
    f.done().await;
}

async fn only_admins_forget_and_only_people(f: Fixture) {
    for by in [&f.member, &f.operator, &f.worker] {
        let refused = memory_forget::preview(&f.ledger, by, of("discord-1")).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        assert!(matches!(memory_forget::forget(&f.ledger, by, of("discord-1")).await, Err(Error::Forbidden(_))));
        assert!(matches!(memory_forget::lift(&f.ledger, by, "discord-1").await, Err(Error::Forbidden(_))));
    }
    for bad in ["", "discord", "topics/a.md", "../x-1", "people/", "a b-c", "people/discord-1.md/x"] {
        let refused = memory_forget::forget(&f.ledger, &f.admin, of(bad)).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{bad}: {refused:?}");
    }
    let names = Some(vec!["x".into(); 51]);
    let refused = memory_forget::preview(&f.ledger, &f.admin, Forget { names, ..of("discord-1") }).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    // No one forgets in another workspace.
    put(&f, &f.operator, "people/discord-1.md", 0, "theirs\n").await.unwrap();
    memory_forget::forget(&f.ledger, &f.stranger, of("discord-1")).await.unwrap();
    assert!(text(&f, "people/discord-1.md").await.is_some());
    f.done().await;
}

async fn a_run_that_has_read_what_is_forgotten_writes_nothing(f: Fixture) {
    forgotten_meanwhile(f, Policy::Auto).await;
}

async fn a_run_that_has_read_what_is_forgotten_proposes_nothing(f: Fixture) {
    forgotten_meanwhile(f, Policy::Review).await;
}

/// A person is forgotten while the model works on their turn and on a document about them.
async fn forgotten_meanwhile(f: Fixture, policy: Policy) {
    let session = talked(&f, &format!("I live in {MARKER}.")).await;
    let said = Evidence { line: 3, session, sequence: 2 };
    written(&f, "topics/towns.md", &format!("# Towns\n\n- {MARKER}\n- Lisbon\n"), vec![said]).await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let own = own_path(&run);
    let learnt = changes(&run, json!([line(&run, &format!("lives in {MARKER}"))]), Value::Null);
    memory_forget::forget(&f.ledger, &f.admin, of(&own)).await.unwrap();

    let late = finish(&f, run, learnt, policy).await;
    assert!(matches!(late, Err(Error::Unavailable(_))), "{late:?}");
    assert!(proposals(&f).await.is_empty());
    assert_eq!(text(&f, &own).await, None);
    assert_eq!(text(&f, "topics/towns.md").await.unwrap(), "# Towns\n\n- Lisbon\n");
    let again = take(&f, WriterTerms::default()).await.unwrap();
    assert!(!format!("{:?}", again.window).contains(MARKER), "it would be learnt again");
    f.done().await;
}

async fn no_run_begins_while_a_person_is_being_forgotten(f: Fixture) {
    let run = waiting(&f, "I like trains.", "Likes trains").await;
    memory_forget::forget(&f.ledger, &f.admin, of(&own_path(&run))).await.unwrap();
    talked_again(&f, "I like ships.").await;
    let mut raw = f.engine.raw().await;
    raw.execute("UPDATE memory_forgotten SET finished_at = NULL").await.unwrap();
    assert!(take(&f, WriterTerms::default()).await.is_none());
    // One that was interrupted holds the writers up for a while, not for good.
    f.clock.advance(TimeDelta::minutes(11));
    assert!(take(&f, WriterTerms::default()).await.is_some());
    drop(raw);
    f.done().await;
}

async fn erasing_a_document_takes_its_proposals_and_denied_lines_with_it(f: Fixture) {
    let run = waiting(&f, "I like trains.", &format!("Denied {MARKER}")).await;
    let own = own_path(&run);
    let denied = proposals(&f).await.remove(0);
    gate::decide(&f.ledger, &f.operator, denied.gate.id, says(Verdict::Deny)).await.unwrap();
    settle(&f).await;
    put(&f, &f.operator, &own, 0, &format!("# Mia\n\n## Notes\n\n- {MARKER} before\n")).await.unwrap();
    talked_again(&f, "I like buses.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let topic = json!({ "op": "create", "path": "topics/buses.md", "heading": [], "base_sha256": null,
        "body": "# Buses\n\n- Red\n", "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "" });
    let change = changes(&run, json!([line(&run, &format!("Waits {MARKER}")), topic]), Value::Null);
    finish(&f, run, change, Policy::Review).await.unwrap();
    assert_eq!(proposals(&f).await.len(), 2);
    talked_again(&f, "I like ships.").await;
    let late = take(&f, WriterTerms::default()).await.unwrap();

    let refused = memory_forget::erase(&f.ledger, &f.operator, AGENT, memory::path(&own).unwrap()).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let columns = ["gates.task", "memory_denials.line", "memory_versions.body", "session_events.metadata"];
    marker_is_in(&f, &columns).await;
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path(&own).unwrap()).await.unwrap();

    let left: Vec<_> = proposals(&f).await.iter().map(|item| item.gate.title.clone()).collect();
    assert!(left.len() == 1 && left[0].contains("topics/buses.md"), "{left:?}");
    let change = changes(&late, json!([line(&late, "more")]), Value::Null);
    assert!(matches!(finish(&f, late, change, Policy::Review).await, Err(Error::Unavailable(_))));
    marker_is_gone(&f, &columns).await;
    f.assert_verified().await;
    f.done().await;
}

async fn without_a_key_nothing_of_a_document_is_erased(f: Fixture) {
    let own = own_path(&waiting(&f, "I like trains.", &format!("Waits {MARKER}")).await);
    put(&f, &f.operator, &own, 0, &format!("# Mia\n\n- {MARKER}\n")).await.unwrap();
    let unkeyed = open_without_key(&f).await;
    let refused = memory_forget::erase(&unkeyed, &f.admin, AGENT, memory::path(&own).unwrap()).await;
    assert!(matches!(refused, Err(Error::NoInstanceKey)), "{refused:?}");
    unkeyed.close().await;
    assert!(text(&f, &own).await.is_some_and(|text| text.contains(MARKER)));
    assert_eq!(proposals(&f).await.len(), 1);
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path(&own).unwrap()).await.unwrap();
    assert_eq!(text(&f, &own).await, None);
    assert!(proposals(&f).await.is_empty());
    f.assert_verified().await;
    f.done().await;
}

/// Asserts that each of these columns, each as `table.column`, has the marker in some row. Otherwise [`marker_is_gone`]
/// would prove nothing.
async fn marker_is_in(f: &Fixture, columns: &[&str]) {
    assert_eq!(columns_with(f, MARKER, columns).await, columns, "the test would find it");
}

/// Asserts that no row has the marker in these columns, each as `table.column`.
async fn marker_is_gone(f: &Fixture, columns: &[&str]) {
    let left = columns_with(f, MARKER, columns).await;
    assert!(left.is_empty(), "{left:?}");
}

async fn proposals_from_before_a_rename_are_erased_with_their_document(f: Fixture) {
    let topic = |line: &str| {
        json!({ "op": "create", "path": "topics/ships.md", "heading": [], "base_sha256": null,
            "body": format!("# Ships\n\n- {line}\n"), "evidence": [{ "session": "s1", "sequence": 2 }], "reason": "" })
    };
    talked(&f, "I like ships.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let change = changes(&run, json!([topic(&format!("Sold {MARKER}"))]), Value::Null);
    finish(&f, run, change, Policy::Review).await.unwrap();
    let approved = proposals(&f).await.remove(0);
    gate::decide(&f.ledger, &f.operator, approved.gate.id, says(Verdict::Approve)).await.unwrap();
    settle(&f).await;
    // Versions of one moment are in no order.
    f.clock.advance(TimeDelta::milliseconds(2));
    let (ships, boats) = (memory::path("topics/ships.md").unwrap(), memory::path("topics/boats.md").unwrap());
    let change = memory::Change { base_version: 1, ..memory::Change::default() };
    memory::rename(&f.ledger, &f.operator, AGENT, ships, boats.clone(), change).await.unwrap();
    // What is proposed for another document at the old path stays.
    f.clock.advance(TimeDelta::seconds(1));
    talked_again(&f, "I like blue ships.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let change = changes(&run, json!([topic("Blue")]), Value::Null);
    finish(&f, run, change, Policy::Review).await.unwrap();

    let columns = ["gates.task", "memory_versions.body", "session_events.metadata"];
    marker_is_in(&f, &columns).await;
    memory_forget::erase(&f.ledger, &f.admin, AGENT, boats).await.unwrap();

    let left = proposals(&f).await;
    assert!(left.len() == 1 && left[0].gate.id != approved.gate.id, "{left:?}");
    marker_is_gone(&f, &columns).await;
    f.assert_verified().await;
    f.done().await;
}

async fn members_correct_what_is_remembered_of_them_and_ask_to_be_forgotten(f: Fixture) {
    let person = f.member.user_id().unwrap();
    let own = format!("people/shiftbook-{person}.md");
    put(&f, &f.operator, &own, 0, "# Mia\n\n- Lives in Oslo\n").await.unwrap();
    put(&f, &f.operator, "people/shiftbook-other.md", 0, "# Ada\n").await.unwrap();
    let corrected = "# Mia\n\n- Lives in Bergen\n";
    assert_eq!(put(&f, &f.member, &own, 1, corrected).await.unwrap().document.version, 2);
    assert_eq!(text(&f, &own).await.as_deref(), Some(corrected));
    for path in ["people/shiftbook-other.md", "topics/new.md", "self/rules.md", "sessions/2026-01-01-night.md"] {
        let refused = put(&f, &f.member, path, 0, "# x\n").await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{path}: {refused:?}");
    }
    // Only a reviewer shares it with the conversations of others.
    let shared = "---\nshared: true\n---\n# Mia\n";
    let refused = put(&f, &f.member, &own, 2, shared).await;
    assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "text"), "{refused:?}");
    put(&f, &f.operator, "people/shiftbook-other.md", 1, shared).await.unwrap();
    // The test writes it; it comes from no conversation.
    let evidence = vec![Evidence { line: 1, session: f.running().await.id, sequence: 1 }];
    let claimed = memory::Write { base_version: 2, text: "# Mia\n".into(), evidence, ..memory::Write::default() };
    let at = memory::path(&own).unwrap();
    let refused = memory::write(&f.ledger, &f.member, AGENT, at.clone(), claimed).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let gone = memory::Change { base_version: 2, ..memory::Change::default() };
    let refused = memory::delete(&f.ledger, &f.member, AGENT, at, gone).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");

    let asked = async || memory_forget::requests(&f.ledger, &f.admin).await.unwrap();
    for scope in [&f.member, &f.member, &f.operator] {
        memory_forget::ask(&f.ledger, scope).await.unwrap();
    }
    assert_eq!(asked().await.len(), 2, "a second request is the same one");
    memory_forget::withdraw(&f.ledger, &f.operator).await.unwrap();
    assert_eq!(asked().await.iter().map(|one| one.user_id).collect::<Vec<_>>(), [person]);
    let refused = memory_forget::requests(&f.ledger, &f.operator).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = memory_forget::ask(&f.ledger, &f.worker).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    memory_forget::forget(&f.ledger, &f.admin, of(&own)).await.unwrap();
    assert_eq!(asked().await, [], "it is done");
    assert_eq!(text(&f, &own).await, None);
    f.done().await;
}
