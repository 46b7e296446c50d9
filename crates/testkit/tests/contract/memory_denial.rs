//! What is not proposed once more: removals and links that were denied or wait.

use crate::{
    gate::{edits, says},
    memory::put,
    memory_writer::{AGENT, changes, finish, line, own_path, proposals, settle, take, talk, talked, talked_again},
    thread::ENDING,
};
use domain::{
    gate::Verdict,
    memory_writer::{plan::Policy, text::normal},
};
use ledger::{
    gate,
    memory_writer::{RunWindow, WriterTerms},
    thread,
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_removal_is_proposed_once_and_not_again_after_a_denial,
    a_line_that_a_reviewer_cuts_out_is_denied_and_one_that_they_reword_is_not,
    what_the_agent_was_given_as_memory_is_not_proposed_whatever_its_characters,
);

/// Operations on the member's document: a section goes, and a link is added.
fn ops(run: &RunWindow, own: &str) -> Value {
    let evidence = json!([{ "session": "s1", "sequence": run.window.turns[0].at.sequence }]);
    let base = &run.window.prompt_documents[own].sha256;
    json!([
        { "op": "retire_section", "path": own, "heading": ["Plans"], "base_sha256": base, "body": "",
            "evidence": evidence, "reason": "" },
        { "op": "link_add", "path": own, "heading": [], "base_sha256": base, "body": "topics/oslo.md",
            "evidence": evidence, "reason": "" },
    ])
}

async fn a_removal_is_proposed_once_and_not_again_after_a_denial(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let own = format!("people/shiftbook-{}.md", f.member.user_id().unwrap());
    let text = "# Mia\n\n## Notes\n\n- Likes trains\n\n## Plans\n\n- Moves to Oslo\n";
    put(&f, &f.operator, &own, 0, text).await.unwrap();
    put(&f, &f.operator, "topics/oslo.md", 0, "# Oslo\n\n- A town\n").await.unwrap();
    let session = talk(&f, "I stay here.", "Noted.").await;
    thread::end(&f.ledger, &f.member, session.id, ENDING).await.unwrap();
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let first = changes(&run, ops(&run, &own), Value::Null);
    assert_eq!(first.len(), 1, "both are one change");
    finish(&f, run, first, Policy::Review).await.unwrap();

    talked_again(&f, "I really stay.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(changes(&run, ops(&run, &own), Value::Null), [], "they wait already");
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();

    let item = proposals(&f).await.remove(0);
    gate::decide(&f.ledger, &f.operator, item.gate.id, says(Verdict::Deny)).await.unwrap();
    settle(&f).await;
    assert!(proposals(&f).await.is_empty());
    talked_again(&f, "Believe me.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(changes(&run, ops(&run, &own), Value::Null), [], "they were denied");
    finish(&f, run, Vec::new(), Policy::Review).await.unwrap();
    let found = ledger::memory::read(&f.ledger, &f.member, AGENT, ledger::memory::path(&own).unwrap()).await.unwrap();
    assert_eq!(found.text, text);
    f.assert_verified().await;
    f.done().await;
}

async fn a_line_that_a_reviewer_cuts_out_is_denied_and_one_that_they_reword_is_not(f: Fixture) {
    talked(&f, "I like trains, I have a boat, and I play chess on Sundays.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    let own = own_path(&run);
    let mut create = line(&run, "Likes trains");
    create["body"] = json!("# Mia\n\n## Notes\n\n- Likes trains\n- Has a boat\n- Plays chess on Sundays\n");
    let first = changes(&run, json!([create]), Value::Null);
    finish(&f, run, first, Policy::Review).await.unwrap();
    let item = proposals(&f).await.remove(0);
    let approved = "# Mia\n\n## Notes\n\n- Likes trains\n- Plays chess on some Sundays\n";
    gate::decide(&f.ledger, &f.operator, item.gate.id, edits(&json!({ "body": approved }))).await.unwrap();
    settle(&f).await;
    let found = ledger::memory::read(&f.ledger, &f.member, AGENT, ledger::memory::path(&own).unwrap()).await.unwrap();
    assert_eq!(found.text, approved);

    talked_again(&f, "I have a boat, and I play chess on Sundays.").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert_eq!(changes(&run, json!([line(&run, "Has a boat")]), Value::Null), [], "it was cut out");
    let again = changes(&run, json!([line(&run, "Plays chess on Sundays")]), Value::Null);
    assert_eq!(again.len(), 1, "it was reworded");
    f.assert_verified().await;
    f.done().await;
}

async fn what_the_agent_was_given_as_memory_is_not_proposed_whatever_its_characters(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let own = format!("people/shiftbook-{}.md", f.member.user_id().unwrap());
    let line = "- Leads R&D & says \"a > b\"";
    put(&f, &f.operator, &own, 0, &format!("# Mia\n\n## Notes\n\n{line}\n")).await.unwrap();
    talked_again(&f, "Hello").await;
    let run = take(&f, WriterTerms::default()).await.unwrap();
    assert!(run.known.injected.contains(&normal(line)), "{:?}", run.known.injected);
    let evidence = json!([{ "session": "s1", "sequence": run.window.turns[0].at.sequence }]);
    let again = json!([{ "op": "create", "path": "topics/work.md", "heading": [], "base_sha256": null,
        "body": line, "evidence": evidence, "reason": "" }]);
    let summary = json!({ "title": "Hello", "body": format!("They met.\n\n{line}"), "evidence": evidence });
    let planned = changes(&run, again, summary);
    assert_eq!(planned.len(), 1, "{planned:?}");
    assert_eq!(planned[0].body, "# Hello\n\nThey met.\n");
    f.done().await;
}
