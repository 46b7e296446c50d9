//! Imports: every row of a file is imported once, whatever happens during the import.

use crate::entity::{acme, company, values};
use domain::{
    entity::ImportStatus,
    limit::{IMPORT_CHUNK_ROWS, IMPORT_ERRORS_MAX},
};
use ledger::{
    Error,
    entity::{self, ListEntities, import},
};
use serde_json::json;
use std::collections::BTreeMap;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_import_that_is_interrupted_goes_on_and_makes_every_row_once,
    many_who_run_one_import_make_every_row_once,
    wrong_rows_are_reported_by_number_and_field_and_the_others_are_made,
    a_preview_says_what_would_happen_and_makes_nothing,
    a_preview_says_how_many_rows_would_be_there_twice,
    a_file_that_is_no_table_is_refused_whole,
    an_import_begins_once_for_each_key_of_a_caller,
);

fn file(source: impl Into<String>) -> import::NewImport {
    import::NewImport { source: source.into(), mapping: None }
}

async fn titles(f: &Fixture) -> Vec<String> {
    let mut titles = Vec::new();
    let mut cursor = None;
    loop {
        let query = ListEntities { limit: 1_000, cursor, ..Default::default() };
        let page = entity::list(&f.ledger, &f.member, query).await.unwrap();
        titles.extend(page.items.into_iter().map(|e| e.title));
        cursor = page.next_cursor;
        if cursor.is_none() {
            titles.sort();
            return titles;
        }
    }
}

fn numbered(rows: usize) -> (String, Vec<String>) {
    let names: Vec<String> = (0..rows).map(|n| format!("Row {n:05}")).collect();
    (format!("Name,Size\n{}\n", names.iter().map(|n| format!("{n},1")).collect::<Vec<_>>().join("\n")), names)
}

async fn an_import_that_is_interrupted_goes_on_and_makes_every_row_once(mut f: Fixture) {
    let of = company(&f).await;
    let rows = IMPORT_CHUNK_ROWS * 3 + 7;
    let (source, names) = numbered(rows);
    let started = import::begin(&f.ledger, &f.member, of.id, file(source)).await.unwrap();
    assert_eq!((started.rows_total, started.next_row, started.status), (rows as u64, 0, ImportStatus::Running));
    let tenant_id = f.member.tenant_id;
    let after = import::advance(&f.ledger, tenant_id, started.id).await.unwrap();
    assert_eq!(after.next_row, IMPORT_CHUNK_ROWS as u64);
    // If the transaction of a chunk fails, neither its entities nor its progress are stored.
    let mut raw = f.engine.raw().await;
    let refuse = match &raw {
        testkit::Raw::Sqlite(_) => {
            "CREATE TRIGGER broken BEFORE UPDATE ON entity_imports BEGIN SELECT RAISE(ABORT, 'broken'); END"
        }
        testkit::Raw::Postgres(_) => {
            "CREATE TRIGGER broken BEFORE UPDATE ON entity_imports FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse()"
        }
    };
    raw.execute(refuse).await.unwrap();
    assert!(import::advance(&f.ledger, tenant_id, started.id).await.is_err());
    assert_eq!(titles(&f).await.len(), IMPORT_CHUNK_ROWS);
    let repair = match &raw {
        testkit::Raw::Sqlite(_) => "DROP TRIGGER broken",
        testkit::Raw::Postgres(_) => "DROP TRIGGER broken ON entity_imports",
    };
    raw.execute(repair).await.unwrap();
    drop(raw);
    f.restart().await;
    // A stalled import is resumed only when no server can still be working on it. Then it runs to its end.
    assert_eq!(import::resume_stalled(&f.ledger).await.unwrap(), 0);
    f.clock.advance(chrono::TimeDelta::seconds(30));
    assert_eq!(import::resume_stalled(&f.ledger).await.unwrap(), 1);
    assert_eq!(import::resume_stalled(&f.ledger).await.unwrap(), 0);
    let done = import::get(&f.ledger, &f.member, started.id).await.unwrap();
    assert_eq!((done.status, done.next_row, done.created_count), (ImportStatus::Completed, rows as u64, rows as u64));
    assert_eq!(titles(&f).await, names);
    let again = import::run(&f.ledger, tenant_id, started.id).await.unwrap();
    assert_eq!(again, done);
    assert_eq!(titles(&f).await.len(), rows);
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM entity_versions WHERE version = 1").await, rows as i64);
    assert_eq!(raw.number("SELECT COUNT(*) FROM entity_imports WHERE source <> ''").await, 0, "the file is kept");
    f.done().await;
}

async fn many_who_run_one_import_make_every_row_once(f: Fixture) {
    let of = company(&f).await;
    let (source, names) = numbered(IMPORT_CHUNK_ROWS * 4);
    let started = import::begin(&f.ledger, &f.member, of.id, file(source)).await.unwrap();
    let runs = (0..4).map(|_| import::run(&f.ledger, f.member.tenant_id, started.id));
    for ended in futures_util::future::join_all(runs).await {
        assert_eq!(ended.unwrap().status, ImportStatus::Completed);
    }
    assert_eq!(titles(&f).await, names);
    let made = entity::list(&f.ledger, &f.member, ListEntities { limit: 1, ..Default::default() }).await.unwrap();
    assert_eq!(made.items[0].created_by, f.member.caller.to_string(), "the importer is the author");
    f.done().await;
}

async fn wrong_rows_are_reported_by_number_and_field_and_the_others_are_made(f: Fixture) {
    let of = company(&f).await;
    let parent = acme(&f, &of, "Parent").await;
    let source = format!(
        "Name;Stage;Size;Parent\nGood;Lead;1.5.0\nFine;Won;12;{}\n;Lead;1\n\"Two\nlines\";Nope;x\nLost;;;{}\n",
        parent.id,
        uuid::Uuid::from_u128(7)
    );
    let started = import::begin(&f.ledger, &f.member, of.id, file(source)).await.unwrap();
    let done = import::run(&f.ledger, f.member.tenant_id, started.id).await.unwrap();
    assert_eq!((done.rows_total, done.created_count, done.failed_count), (5, 1, 4));
    let errors: Vec<_> = done.errors.iter().map(|e| (e.row, e.field.as_str())).collect();
    assert_eq!(errors, [(2, "size"), (4, "title"), (5, "stage"), (5, "size"), (5, "title"), (6, "parent")]);
    assert_eq!(titles(&f).await, ["Fine", "Parent"]);
    // The number of reported errors is limited.
    let bad = format!("Name,Stage\n{}", "x,Nope\n".repeat(IMPORT_ERRORS_MAX + 50));
    let started = import::begin(&f.ledger, &f.member, of.id, file(bad)).await.unwrap();
    let done = import::run(&f.ledger, f.member.tenant_id, started.id).await.unwrap();
    assert_eq!((done.errors.len(), done.failed_count), (IMPORT_ERRORS_MAX, IMPORT_ERRORS_MAX as u64 + 50));
    f.done().await;
}

async fn a_preview_says_what_would_happen_and_makes_nothing(f: Fixture) {
    let of = company(&f).await;
    let source = "Account,Stage,Note\nAcme,Lead,x\nBeta,Nope,y\n";
    let preview = import::preview(&f.ledger, &f.member, of.id, file(source)).await.unwrap();
    let guessed: Vec<_> = preview.columns.iter().map(|c| c.field.as_deref()).collect();
    assert_eq!(guessed, [Some("title"), Some("stage"), None]);
    assert_eq!((preview.rows_total, preview.failed_count), (2, 1));
    assert_eq!((preview.rows[0].row, preview.rows[0].title.as_str()), (2, "Acme"));
    assert_eq!(preview.rows[0].fields, values(json!({ "stage": "Lead" })));
    assert_eq!((preview.errors[0].row, preview.errors[0].field.as_str()), (3, "stage"));
    let named = |pairs: &[(&str, &str)]| import::NewImport {
        mapping: Some(pairs.iter().map(|(c, f)| ((*c).to_owned(), Some((*f).to_owned()))).collect::<BTreeMap<_, _>>()),
        ..file(source)
    };
    let by_note = import::preview(&f.ledger, &f.member, of.id, named(&[("Note", "title")])).await.unwrap();
    assert_eq!(by_note.rows.iter().map(|r| r.title.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    let wrong = import::preview(&f.ledger, &f.member, of.id, named(&[("Stage", "stage")])).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))), "{wrong:?}");
    assert!(titles(&f).await.is_empty());
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM entity_imports").await, 0);
    f.done().await;
}

async fn a_preview_says_how_many_rows_would_be_there_twice(f: Fixture) {
    let of = company(&f).await;
    let source = "Name,Stage\nAcme \"A\" Inc.,Lead\nÖbb,Lead\nÖbb,Lead\nWrong,Nope\n";
    let first = import::preview(&f.ledger, &f.member, of.id, file(source)).await.unwrap();
    assert_eq!((first.failed_count, first.repeated_count), (1, 1), "one title is in the file twice");
    let started = import::begin(&f.ledger, &f.member, of.id, file(source)).await.unwrap();
    import::run(&f.ledger, f.member.tenant_id, started.id).await.unwrap();
    let again = import::preview(&f.ledger, &f.member, of.id, file(source)).await.unwrap();
    assert_eq!((again.failed_count, again.repeated_count), (1, 3), "every row that can be made is there already");
    // Titles that differ in case are different, and so are titles of entities of another type.
    let other = import::preview(&f.ledger, &f.member, of.id, file("Name\nöbb\nÖbb\n")).await.unwrap();
    assert_eq!(other.repeated_count, 1);
    let note = crate::entity::note(&f).await;
    let elsewhere = import::preview(&f.ledger, &f.member, note.id, file("Name\nÖbb\n")).await.unwrap();
    assert_eq!(elsewhere.repeated_count, 0);
    f.done().await;
}

async fn a_file_that_is_no_table_is_refused_whole(f: Fixture) {
    let of = company(&f).await;
    for bad in ["", "Name\n", "\0"] {
        let refused = import::begin(&f.ledger, &f.member, of.id, file(bad)).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{bad:?}: {refused:?}");
    }
    f.done().await;
}

async fn an_import_begins_once_for_each_key_of_a_caller(f: Fixture) {
    let of = company(&f).await;
    let (l, source) = (&f.ledger, "Name\nAcme\n");
    let first = import::begin_once(l, &f.member, of.id, file(source), "k1").await.unwrap();
    let done = import::run(l, f.member.tenant_id, first.id).await.unwrap();
    let again = import::begin_once(l, &f.member, of.id, file(source), "k1").await.unwrap();
    assert_eq!(again, done);
    let other = import::begin_once(l, &f.member, of.id, file("Name\nBeta\n"), "k1").await;
    assert!(matches!(other, Err(Error::IdConflict { .. })), "{other:?}");
    let malformed = import::begin_once(l, &f.member, of.id, file(source), "").await;
    assert!(matches!(malformed, Err(Error::Invalid(_))), "{malformed:?}");
    assert_eq!(titles(&f).await, ["Acme"]);
    let theirs = import::begin_once(l, &f.other_member, of.id, file(source), "k1").await.unwrap();
    assert_ne!(theirs.id, first.id, "a key is of one caller");
    let at_once = (0..4).map(|_| import::begin_once(l, &f.member, of.id, file(source), "k2"));
    let begun = futures_util::future::join_all(at_once).await;
    let ids: Vec<_> = begun.into_iter().map(|import| import.unwrap().id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM entity_imports").await, 3);
    f.done().await;
}
