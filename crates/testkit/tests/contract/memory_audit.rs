//! Whatever changes a document, the audit list has a row that says so, and nothing else is in it. Its rows are in the
//! order of writing.

use crate::{
    gate::says,
    memory_writer::{AGENT, changes, finish, line, proposals, settle, take, talked_again},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    gate::Verdict,
    id::SessionId,
    memory::{CardFormat, Operation, Source, ToolCommand, digest},
    memory_writer::plan::Policy,
};
use ledger::{
    Error, ListPage, MemoryDocumentRecord, MemoryVersionRecord, gate,
    memory::{self, Change, Listing, Write},
    memory_forget::{self, Forget},
    memory_writer::WriterTerms,
    page::{self, memory::Selection, memory_document::Part},
    session::{self, Completion},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use testkit::{Fixture, on_both_engines};
use uuid::Uuid;

on_both_engines!(
    no_document_changes_without_an_audit_row,
    the_audit_list_is_in_the_order_of_writing_after_the_clock_was_set_back,
);

/// Steps of the property. Each of the fourteen kinds of change comes several times.
const STEPS: usize = 160;
const PATHS: [&str; 6] = [
    "topics/a.md",
    "topics/b.md",
    "people/discord-1.md",
    "people/discord-2.md",
    "sessions/2026-11-21-night.md",
    "self/rules.md",
];

/// A reproducible source of choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn path(&mut self) -> &'static str {
        PATHS[self.below(PATHS.len())]
    }
}

/// Every document, deleted ones too, and every row of the audit list, newest first.
struct Seen {
    documents: BTreeMap<Uuid, MemoryDocumentRecord>,
    audit: Vec<MemoryVersionRecord>,
}

async fn seen(f: &Fixture) -> Seen {
    let (mut documents, mut audit) = (BTreeMap::new(), Vec::new());
    let mut page = ListPage::default();
    loop {
        let listing = Listing { with_deleted: true, page, ..Listing::default() };
        let listed = memory::list(&f.ledger, &f.admin, AGENT, listing).await.unwrap();
        documents.extend(listed.items.into_iter().map(|document| (document.id.0, document)));
        let Some(cursor) = listed.next_cursor else { break };
        page = ListPage { cursor: Some(cursor), ..ListPage::default() };
    }
    let mut page = ListPage::default();
    loop {
        let listed = memory::audit(&f.ledger, &f.admin, AGENT, page).await.unwrap();
        audit.extend(listed.items);
        let Some(cursor) = listed.next_cursor else { break };
        page = ListPage { cursor: Some(cursor), ..ListPage::default() };
    }
    Seen { documents, audit }
}

/// Documents at random paths are written, changed and removed by everyone who can, also with old versions and by those
/// who may not.
async fn no_document_changes_without_an_audit_row(f: Fixture) {
    assert!(take(&f, WriterTerms::default()).await.is_none());
    let mut choices = Choices(24_112_026);
    let mut before = seen(&f).await;
    let mut sources: BTreeSet<&str> = BTreeSet::new();
    let (mut taken, mut refused) = (0, 0);
    for step in 0..STEPS {
        f.clock.advance(TimeDelta::seconds(1));
        let changed = change(&f, &mut choices, step).await;
        let after = seen(&f).await;
        let new = after.audit.len() - before.audit.len();
        if let Err(why) = &changed {
            refused += 1;
            assert_eq!((new, &after.documents), (0, &before.documents), "step {step} was refused: {why}");
        }
        taken += usize::from(new > 0);
        assert_audited(&f, &before, &after, step).await;
        sources.extend(after.audit[..new].iter().map(|version| version.source.as_str()));
        before = after;
    }
    assert_eq!(sources.into_iter().collect::<Vec<_>>(), Source::ALL.map(Source::as_str).sorted(), "every source wrote");
    assert!(taken > STEPS / 4 && refused > STEPS / 10, "{taken} changes, {refused} refusals");
    // The rows of documents and versions agree, as the database has them.
    let mut raw = f.engine.raw().await;
    for (what, sql) in [
        ("a document whose newest version is not its own", NEWEST),
        ("a document whose versions have a gap", GAP),
        ("a version without a document", ORPHAN),
    ] {
        assert_eq!(raw.number(sql).await, 0, "{what}");
    }
    f.assert_verified().await;
    f.done().await;
}

const NEWEST: &str = "SELECT COUNT(*) FROM memory_documents d WHERE NOT EXISTS (SELECT 1 FROM memory_versions v \
     WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version AND v.digest = d.digest \
     AND v.path = d.path AND v.agent = d.agent)";
const GAP: &str = "SELECT COUNT(*) FROM memory_documents d WHERE d.version <> (SELECT COUNT(*) FROM memory_versions v \
     WHERE v.tenant_id = d.tenant_id AND v.document_id = d.id)";
const ORPHAN: &str = "SELECT COUNT(*) FROM memory_versions v WHERE NOT EXISTS (SELECT 1 FROM memory_documents d \
     WHERE d.tenant_id = v.tenant_id AND d.id = v.document_id)";

trait Sorted {
    fn sorted(self) -> Vec<&'static str>;
}

impl<const N: usize> Sorted for [&'static str; N] {
    fn sorted(mut self) -> Vec<&'static str> {
        self.sort_unstable();
        self.to_vec()
    }
}

/// Checks that each changed document has new rows, that each new row is of a changed document, and that the newest row
/// of each document says what the document is.
async fn assert_audited(f: &Fixture, before: &Seen, after: &Seen, step: usize) {
    let known: BTreeSet<Uuid> = before.audit.iter().map(|version| version.id.0).collect();
    let new: Vec<_> = after.audit.iter().filter(|version| !known.contains(&version.id.0)).collect();
    assert_eq!(new.len(), after.audit.len() - before.audit.len(), "step {step} removed rows");
    let ids: BTreeSet<Uuid> = before.documents.keys().chain(after.documents.keys()).copied().collect();
    for id in ids {
        let mut rows: Vec<u64> = new.iter().filter(|row| row.document_id.0 == id).map(|row| row.version).collect();
        rows.sort_unstable();
        let (old, now) = (before.documents.get(&id), after.documents.get(&id));
        assert_eq!(old != now, !rows.is_empty(), "step {step}: {old:?} became {now:?}, with {rows:?}");
        let Some(now) = now else { continue };
        let first = old.map_or(1, |old| old.version + 1);
        assert_eq!(rows, (first..=now.version).collect::<Vec<_>>(), "step {step}: one row for each version");
        let of = after.audit.iter().filter(|row| row.document_id.0 == id);
        let row = of.max_by_key(|row| row.version).unwrap();
        let recorded = (row.version, row.path.as_str(), row.digest, row.source, row.author.as_str());
        assert_eq!(
            recorded,
            (now.version, now.path.as_str(), now.digest, now.source, now.author.as_str()),
            "step {step}"
        );
        if !now.is_deleted && !rows.is_empty() {
            let text = memory::read(&f.ledger, &f.member, AGENT, memory::path(&now.path).unwrap()).await.unwrap().text;
            assert_eq!(digest(&text), now.digest, "step {step}: {}", now.path);
        }
    }
}

/// The version that a writer names: mostly the newest one, at times an older or a future one.
async fn base(f: &Fixture, choices: &mut Choices, path: &str) -> u64 {
    let at = memory::path(path).unwrap();
    let page = page::memory::memory(&f.ledger, &f.member, AGENT, Selection::Document(at, Part::Text)).await;
    let found = page.ok().and_then(|page| page.document).map(|found| found.document);
    let newest = found.map_or(0, |document| if document.is_deleted { 0 } else { document.version });
    match choices.below(5) {
        0 => newest.saturating_sub(1),
        1 => newest + 1,
        _ => newest,
    }
}

/// Does something as a worker that has claimed a session of the agent, and completes the session.
async fn as_worker(f: &Fixture, work: impl AsyncFnOnce(SessionId) -> Result<(), Error>) -> Result<(), Error> {
    let session = f.running().await;
    let done = work(session.id).await;
    let completion = Completion { attempt: session.attempt, result: None, usage: None };
    session::complete(&f.ledger, &f.worker, session.id, completion).await.unwrap();
    done
}

async fn change(f: &Fixture, choices: &mut Choices, step: usize) -> Result<(), Error> {
    let (l, path) = (&f.ledger, choices.path());
    let at = memory::path(path).unwrap();
    let old = Change { base_version: base(f, choices, path).await, ..Change::default() };
    match choices.below(14) {
        kind @ 0..5 => {
            let text = format!("# Note\n\n- Written in step {}\n", choices.below(step + 2));
            let write = Write { base_version: old.base_version, text, is_import: kind == 4, ..Write::default() };
            if kind == 2 {
                let by = async |id| {
                    let write = Write { session_id: Some(id), ..write };
                    memory::write(l, &f.worker, AGENT, at, write).await.map(drop)
                };
                return as_worker(f, by).await;
            }
            let by: &Scope = [&f.operator, &f.admin, &f.operator, &f.member, &f.operator][kind];
            memory::write(l, by, AGENT, at, write).await.map(drop)
        }
        5 => memory::delete(l, &f.operator, AGENT, at, old).await.map(drop),
        6 => {
            let to = memory::path(choices.path()).unwrap();
            memory::rename(l, &f.operator, AGENT, at, to, old).await.map(drop)
        }
        7 => {
            let to = 1 + choices.below(3) as u64;
            memory::revert(l, &f.operator, AGENT, at, to, old).await.map(drop)
        }
        8 => memory_forget::erase(l, [&f.admin, &f.operator][choices.below(2)], AGENT, at).await.map(drop),
        9 => {
            let data = json!({ "name": "Iris", "description": format!("Card {}", choices.below(3)) });
            let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": data }).to_string();
            memory::overwrite_card(l, &f.operator, AGENT, CardFormat::Json, card.into_bytes()).await.map(drop)
        }
        10..12 => {
            let command = command(choices, path, step);
            // A refusal of the tool is an answer.
            let by = async |id| memory::tool(l, &f.worker, AGENT, Some(id), None, command).await.map(drop);
            as_worker(f, by).await
        }
        12 => {
            let person = ["discord-1", "discord-2"][choices.below(2)].to_owned();
            let forget = Forget { person: person.clone(), ..Forget::default() };
            memory_forget::forget(l, &f.admin, forget).await?;
            memory_forget::lift(l, &f.admin, &person).await.map(drop)
        }
        _ => {
            writer_runs(f, choices, step).await;
            Ok(())
        }
    }
}

fn command(choices: &mut Choices, path: &str, step: usize) -> ToolCommand {
    let path = format!("/memories/{path}");
    match choices.below(5) {
        0 => ToolCommand::Create { path, file_text: format!("- By the tool in step {step}\n") },
        1 => ToolCommand::StrReplace { path, old_str: "Written".into(), new_str: "Noted".into() },
        2 => ToolCommand::Insert { path, insert_line: 0, insert_text: format!("- First in step {step}") },
        3 => ToolCommand::Delete { path },
        _ => ToolCommand::Rename { old_path: path, new_path: format!("/memories/{}", choices.path()) },
    }
}

/// A conversation, the run that reads it, and the decisions about what it proposes.
async fn writer_runs(f: &Fixture, choices: &mut Choices, step: usize) {
    talked_again(f, &format!("Remember step {step}.")).await;
    let run = take(f, WriterTerms::default()).await.unwrap();
    let planned = changes(&run, json!([line(&run, &format!("Said in step {step}"))]), Value::Null);
    let policy = [Policy::Auto, Policy::Review][choices.below(2)];
    finish(f, run, planned, policy).await.unwrap();
    for item in proposals(f).await {
        let verdict = [Verdict::Approve, Verdict::Deny][choices.below(2)];
        gate::decide(&f.ledger, &f.operator, item.gate.id, says(verdict)).await.unwrap();
    }
    settle(f).await;
}

async fn the_audit_list_is_in_the_order_of_writing_after_the_clock_was_set_back(f: Fixture) {
    let (l, s) = (&f.ledger, &f.admin);
    let path = |name: &str| memory::path(name).unwrap();
    let write = |base_version, text: &str| Write { base_version, text: text.into(), ..Write::default() };
    let of = |base_version| Change { base_version, ..Change::default() };
    memory::write(l, s, AGENT, path("topics/a.md"), write(0, "one\n")).await.unwrap();
    f.clock.advance(-TimeDelta::hours(1));
    memory::write(l, s, AGENT, path("topics/a.md"), write(1, "two\n")).await.unwrap();
    memory::write(l, s, AGENT, path("topics/b.md"), write(0, "three\n")).await.unwrap();
    memory::rename(l, s, AGENT, path("topics/b.md"), path("topics/c.md"), of(1)).await.unwrap();
    memory::delete(l, s, AGENT, path("topics/c.md"), of(2)).await.unwrap();
    memory_forget::erase(l, s, AGENT, path("topics/a.md")).await.unwrap();
    let audit = memory::audit(l, s, AGENT, ListPage::default()).await.unwrap().items;
    let written: Vec<_> = audit.iter().map(|one| (one.operation, one.version)).collect();
    let expected = [
        (Operation::Erased, 3),
        (Operation::Deleted, 3),
        (Operation::Renamed, 2),
        (Operation::Created, 1),
        (Operation::Modified, 2),
        (Operation::Created, 1),
    ];
    assert_eq!(written, expected);
    f.done().await;
}
