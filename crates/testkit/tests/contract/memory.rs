//! Memory documents: versions with their authors and origin, conflicts, limits, deletion, search and erasure.

use domain::{
    Scope,
    id::SessionId,
    limit::{MEMORY_DOCUMENT_BYTES_MAX, MEMORY_EVIDENCE_MAX},
    memory::{Evidence, LineChange, Operation, Source},
    role::Role,
};
use ledger::{
    Error, ListPage, MemoryAgentRecord, MemoryVersionRecord,
    memory::{self, Change, Listing, Write, Written},
    memory_forget,
    page::{self, memory::Selection},
    token,
};
use testkit::{Fixture, on_both_engines, text};

on_both_engines!(
    every_write_of_a_document_is_a_version_with_author_reason_and_origin,
    a_write_from_an_older_version_is_answered_with_both_sides,
    writers_of_one_version_make_one_new_version,
    documents_are_deleted_brought_back_renamed_and_reverted,
    paths_that_differ_in_case_are_one_document,
    a_new_name_can_be_that_of_a_file,
    texts_and_origins_that_cannot_be_kept_are_refused,
    secrets_do_not_reach_a_document,
    a_full_memory_refuses_more,
    another_workspace_finds_nothing,
    roles_and_worker_tokens_bound_who_writes,
    incognito_conversations_are_not_remembered,
    versions_stay_as_they_were_written,
    an_erased_document_leaves_no_text_and_keeps_its_digests,
    lines_are_traced_to_their_turns,
);

pub const AGENT: &str = "scout";

pub async fn put(f: &Fixture, by: &Scope, path: &str, base_version: u64, text: &str) -> Result<Written, Error> {
    let write = Write { base_version, text: text.into(), reason: "because".into(), ..Write::default() };
    memory::write(&f.ledger, by, AGENT, memory::path(path)?, write).await
}

async fn totals(f: &Fixture, by: &Scope) -> Vec<MemoryAgentRecord> {
    page::memory_home::read(&f.ledger, by, None).await.unwrap().agents
}

async fn read(f: &Fixture, path: &str) -> Result<String, Error> {
    Ok(memory::read(&f.ledger, &f.member, AGENT, memory::path(path)?).await?.text)
}

async fn versions(f: &Fixture, path: &str) -> Vec<MemoryVersionRecord> {
    let page = memory::versions(&f.ledger, &f.member, AGENT, memory::path(path).unwrap(), ListPage::default()).await;
    page.unwrap().items
}

pub fn change(base_version: u64) -> Change {
    Change { base_version, ..Change::default() }
}

/// A running session of the agent with three messages, and the sequences of those.
async fn session(f: &Fixture) -> (SessionId, Vec<u64>) {
    let session = f.running().await;
    let said = ["I moved to Lisbon", "I drink tea", "bye"].map(text).to_vec();
    let appended = f.append(session.id, session.attempt, said).await.unwrap();
    (session.id, appended.events.iter().map(|(_, sequence)| *sequence).collect())
}

async fn every_write_of_a_document_is_a_version_with_author_reason_and_origin(f: Fixture) {
    let (session, said) = session(&f).await;
    let path = "people/discord-188.md";
    let first = put(&f, &f.operator, path, 0, "---\ntags: [vip]\n---\n# Ines\n").await.unwrap();
    assert!(first.is_new && first.document.version == 1 && first.document.source == Source::Person);
    f.clock.advance(chrono::TimeDelta::seconds(5));
    let evidence = vec![Evidence { line: 6, session, sequence: said[0] }];
    let new_text = "---\ntags: [vip]\n---\n# Ines\n\nLives in Lisbon.\n";
    let write = Write { base_version: 1, text: new_text.into(), evidence: evidence.clone(), ..Write::default() };
    let second = memory::write(&f.ledger, &f.admin, AGENT, memory::path(path).unwrap(), write).await.unwrap();
    assert_eq!((second.document.version, read(&f, path).await.unwrap().as_str()), (2, new_text));
    let same = put(&f, &f.operator, path, 1, new_text).await.unwrap();
    assert!(!same.is_new && same.document.version == 2, "a text that was there already wrote a version");

    let listed = versions(&f, path).await;
    let shown: Vec<_> = listed.iter().map(|v| (v.version, v.operation, v.author.clone(), v.reason.as_str())).collect();
    let (ada, otto) = (f.admin.caller.to_string(), f.operator.caller.to_string());
    assert_eq!(shown, [(2, Operation::Modified, ada, ""), (1, Operation::Created, otto, "because")]);
    assert_eq!((listed[0].created_at - listed[1].created_at).num_seconds(), 5);
    let at = memory::path(path).unwrap();
    let whole = memory::read_version(&f.ledger, &f.member, AGENT, at.clone(), 2).await.unwrap();
    assert_eq!((whole.version.evidence, whole.document.front_matter.as_deref()), (evidence, Some("tags: [vip]\n")));
    let diff = memory::diff(&f.ledger, &f.member, AGENT, at.clone(), None, None).await.unwrap();
    assert_eq!((diff.added, diff.removed, diff.from.map(|v| v.version)), (2, 0, Some(1)));
    let all = memory::diff(&f.ledger, &f.member, AGENT, at, Some(0), Some(2)).await.unwrap();
    assert!(all.from.is_none() && all.added == 6 && all.lines.iter().all(|line| line.change == LineChange::Added));
    f.done().await;
}

async fn a_write_from_an_older_version_is_answered_with_both_sides(f: Fixture) {
    put(&f, &f.operator, "topics/garden.md", 0, "one\n").await.unwrap();
    put(&f, &f.operator, "topics/garden.md", 1, "two\n").await.unwrap();
    let Err(Error::MemoryConflict(sides)) = put(&f, &f.admin, "topics/garden.md", 1, "mine\n").await else {
        panic!("a stale write was taken")
    };
    assert_eq!((sides.given, sides.base.as_deref(), sides.wanted.as_str()), (1, Some("one\n"), "mine\n"));
    let current = sides.current.unwrap();
    assert_eq!((current.version, current.text.as_str(), current.is_deleted), (2, "two\n", false));
    for base in [0, 3] {
        let refused = put(&f, &f.admin, "topics/garden.md", base, "mine\n").await;
        assert!(matches!(refused, Err(Error::MemoryConflict(_))), "{base}: {refused:?}");
    }
    let refused = put(&f, &f.admin, "topics/absent.md", 1, "mine\n").await;
    assert!(matches!(&refused, Err(Error::MemoryConflict(sides)) if sides.current.is_none()), "{refused:?}");
    assert_eq!(read(&f, "topics/garden.md").await.unwrap(), "two\n");
    assert_eq!(versions(&f, "topics/garden.md").await.len(), 2);
    let at = memory::path("topics/garden.md").unwrap();
    let refused = memory::delete(&f.ledger, &f.admin, AGENT, at.clone(), change(1)).await;
    assert!(matches!(refused, Err(Error::MemoryConflict(_))), "{refused:?}");
    f.done().await;
}

async fn writers_of_one_version_make_one_new_version(f: Fixture) {
    let write = async |n: u32| put(&f, &f.operator, "topics/a.md", 0, &format!("by {n}\n")).await;
    let all = futures_util::future::join_all((0..8).map(write)).await;
    let (won, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|refused| matches!(refused, Err(Error::MemoryConflict(_)))), "{lost:?}");
    let paths: Vec<String> = (0..8).map(|n| format!("topics/n{n}.md")).collect();
    let each = async |path: &String| put(&f, &f.operator, path, 0, "x\n").await;
    let all = futures_util::future::join_all(paths.iter().map(each)).await;
    assert!(all.iter().all(Result::is_ok));
    let totals = totals(&f, &f.member).await;
    assert_eq!((totals[0].agent.as_str(), totals[0].documents, totals[0].bytes), (AGENT, 9, 5 + 8 * 2));
    f.done().await;
}

async fn documents_are_deleted_brought_back_renamed_and_reverted(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let (a, b) = (memory::path("topics/a.md").unwrap(), memory::path("topics/b.md").unwrap());
    put(&f, s, "topics/a.md", 0, "one\n").await.unwrap();
    put(&f, s, "topics/a.md", 1, "two\n").await.unwrap();
    memory::delete(l, s, AGENT, a.clone(), change(2)).await.unwrap();
    assert!(matches!(read(&f, "topics/a.md").await, Err(Error::NotFound(_))));
    assert!(matches!(memory::delete(l, s, AGENT, a.clone(), change(3)).await, Err(Error::NotFound(_))));
    assert!(memory::search(l, s, Some(AGENT), "two", 0).await.unwrap().is_empty());
    let reverted = memory::revert(l, s, AGENT, a.clone(), 1, change(3)).await.unwrap();
    assert_eq!((reverted.document.version, read(&f, "topics/a.md").await.unwrap().as_str()), (4, "one\n"));
    assert!(matches!(memory::revert(l, s, AGENT, a.clone(), 3, change(4)).await, Err(Error::NotFound(_))));
    assert!(matches!(memory::revert(l, s, AGENT, a.clone(), 2, change(1)).await, Err(Error::MemoryConflict(_))));

    let renamed = memory::rename(l, s, AGENT, a.clone(), b.clone(), change(4)).await.unwrap();
    assert_eq!((renamed.path.as_str(), renamed.version), ("topics/b.md", 5));
    assert!(matches!(read(&f, "topics/a.md").await, Err(Error::NotFound(_))));
    put(&f, s, "topics/a.md", 0, "another\n").await.unwrap();
    let taken = memory::rename(l, s, AGENT, a.clone(), b.clone(), change(1)).await;
    assert!(matches!(taken, Err(Error::NameTaken("path"))), "{taken:?}");
    let operations: Vec<_> = versions(&f, "topics/b.md").await.iter().map(|v| v.operation.as_str()).collect();
    assert_eq!(operations, ["renamed", "created", "deleted", "modified", "created"]);
    // A deleted document does not keep its path from others.
    memory::delete(l, s, AGENT, a.clone(), change(1)).await.unwrap();
    memory::rename(l, s, AGENT, b, a, change(5)).await.unwrap();
    assert_eq!(read(&f, "topics/a.md").await.unwrap(), "one\n");
    let totals = totals(&f, s).await;
    assert_eq!((totals[0].documents, totals[0].bytes), (1, 4));
    f.done().await;
}

async fn paths_that_differ_in_case_are_one_document(f: Fixture) {
    put(&f, &f.operator, "topics/Straße.md", 0, "one\n").await.unwrap();
    let refused = put(&f, &f.operator, "topics/STRASSE.md", 0, "two\n").await;
    assert!(matches!(refused, Err(Error::MemoryConflict(_))), "{refused:?}");
    let written = put(&f, &f.operator, "topics/strasse.md", 1, "two\n").await.unwrap();
    assert_eq!(written.document.path, "topics/Straße.md");
    let (from, to) = (memory::path("topics/strasse.md").unwrap(), memory::path("topics/STRASSE.md").unwrap());
    let renamed = memory::rename(&f.ledger, &f.operator, AGENT, from, to, change(2)).await.unwrap();
    assert_eq!(renamed.path, "topics/STRASSE.md");
    assert_eq!(
        read(&f, "topics/cafe\u{301}.md").await.err().map(|e| e.to_string()),
        Some("memory document not found".into())
    );
    put(&f, &f.operator, "topics/cafe\u{301}.md", 0, "x\n").await.unwrap();
    assert_eq!(read(&f, "topics/café.md").await.unwrap(), "x\n");
    f.done().await;
}

async fn a_new_name_can_be_that_of_a_file(f: Fixture) {
    let (l, s) = (&f.ledger, &f.operator);
    let (fits, long) = (format!("topics/{}.md", "日".repeat(84)), format!("topics/{}.md", "日".repeat(85)));
    let refused = put(&f, s, &long, 0, "one\n").await;
    assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "path"), "{refused:?}");
    put(&f, s, &fits, 0, "one\n").await.unwrap();
    let (short, other) = (memory::path(&fits).unwrap(), memory::path(&long).unwrap());
    let refused = memory::rename(l, s, AGENT, short.clone(), other.clone(), change(1)).await;
    assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "newPath"), "{refused:?}");
    // A document of an earlier version can be read, written and renamed.
    let mut raw = f.engine.raw().await;
    raw.execute(&format!("UPDATE memory_documents SET path = '{long}', path_folded = '{long}'")).await.unwrap();
    assert_eq!(read(&f, &long).await.unwrap(), "one\n");
    put(&f, s, &long, 1, "two\n").await.unwrap();
    let renamed = memory::rename(l, s, AGENT, other, short, change(2)).await.unwrap();
    assert_eq!((renamed.path, renamed.version), (fits, 3));
    f.done().await;
}

async fn texts_and_origins_that_cannot_be_kept_are_refused(f: Fixture) {
    let (session, said) = session(&f).await;
    for bad in ["a\0b", "a\u{202e}b", "a\u{e0041}", &"x".repeat(MEMORY_DOCUMENT_BYTES_MAX + 1)] {
        let refused = put(&f, &f.operator, "topics/a.md", 0, bad).await;
        assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "text"), "{refused:?}");
    }
    let nowhere = SessionId(uuid::Uuid::from_u128(7));
    let one = |line, session, sequence| vec![Evidence { line, session, sequence }];
    for bad in [
        one(0, session, said[0]),
        one(2, session, said[0]),
        one(1, session, 0),
        one(1, session, said[2] + 1_000),
        one(1, nowhere, 1),
        vec![Evidence { line: 1, session, sequence: 1 }; MEMORY_EVIDENCE_MAX + 1],
    ] {
        let write = Write { text: "x\n".into(), evidence: bad, ..Write::default() };
        let refused = memory::write(&f.ledger, &f.operator, AGENT, memory::path("topics/a.md").unwrap(), write).await;
        assert!(matches!(&refused, Err(Error::Invalid(issues)) if issues[0].field == "evidence"), "{refused:?}");
    }
    for bad in ["../a.md", "topics/a.txt", "topics/../../a.md", "TOPICS/a.md"] {
        assert!(matches!(memory::path(bad), Err(Error::Invalid(_))), "{bad}");
    }
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM memory_documents").await, 0);
    f.done().await;
}

async fn secrets_do_not_reach_a_document(f: Fixture) {
    let (session, said) = session(&f).await;
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAzSecretSecretSecretSecretSecretSecret1234567890ab\n\
         Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4\n-----END RSA PRIVATE KEY-----\n";
    let secret = format!("# Notes\n{key}uses sbk_0123456789abcdefghijkl\nlast\n");
    let line = u32::try_from(secret.lines().count()).unwrap();
    let evidence = vec![Evidence { line, session, sequence: said[0] }];
    let write = Write { text: secret, evidence, ..Write::default() };
    let at = memory::path("topics/a.md").unwrap();
    memory::write(&f.ledger, &f.operator, AGENT, at.clone(), write).await.unwrap();
    let kept = memory::read_version(&f.ledger, &f.operator, AGENT, at, 1).await.unwrap();
    let text = kept.document.to_text();
    assert!(text.contains("uses [REDACTED:shiftbook_token]") && !text.contains("MIIEow"), "{text}");
    let last = u32::try_from(text.lines().count()).unwrap();
    assert_eq!(kept.version.evidence, [Evidence { line: last, session, sequence: said[0] }], "{text}");
    // What is stored is written back unchanged.
    assert!(!put(&f, &f.operator, "topics/a.md", 1, &text).await.unwrap().is_new);
    f.done().await;
}

async fn a_full_memory_refuses_more(f: Fixture) {
    put(&f, &f.operator, "topics/a.md", 0, "x\n").await.unwrap();
    let mut raw = f.engine.raw().await;
    raw.execute("UPDATE memory_agents SET documents = 100000").await.unwrap();
    let refused = put(&f, &f.operator, "topics/b.md", 0, "x\n").await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    put(&f, &f.operator, "topics/a.md", 1, "y\n").await.unwrap();
    raw.execute("UPDATE memory_agents SET bytes = 268435456").await.unwrap();
    let refused = put(&f, &f.operator, "topics/a.md", 2, "longer\n").await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    put(&f, &f.operator, "topics/a.md", 2, "z").await.unwrap();
    f.done().await;
}

async fn another_workspace_finds_nothing(f: Fixture) {
    put(&f, &f.operator, "topics/a.md", 0, "zucchini\n").await.unwrap();
    let (l, s) = (&f.ledger, &f.stranger);
    let at = memory::path("topics/a.md").unwrap();
    let missing = |what: &str, refused: Option<Error>| {
        assert!(matches!(refused, Some(Error::NotFound(_))), "{what}: {refused:?}");
    };
    missing("read", memory::read(l, s, AGENT, at.clone()).await.err());
    missing("version", memory::read_version(l, s, AGENT, at.clone(), 1).await.err());
    missing("versions", memory::versions(l, s, AGENT, at.clone(), ListPage::default()).await.err());
    missing("diff", memory::diff(l, s, AGENT, at.clone(), None, None).await.err());
    missing("blame", memory::blame(l, s, AGENT, at.clone()).await.err());
    missing("delete", memory::delete(l, s, AGENT, at.clone(), change(1)).await.err());
    missing("revert", memory::revert(l, s, AGENT, at.clone(), 1, change(1)).await.err());
    missing("erase", memory_forget::erase(l, s, AGENT, at.clone()).await.err());
    assert!(memory::list(l, s, AGENT, Listing::default()).await.unwrap().items.is_empty());
    assert!(memory::audit(l, s, AGENT, ListPage::default()).await.unwrap().items.is_empty());
    for agent in [None, Some(AGENT)] {
        assert!(memory::search(l, s, agent, "zucchini", 0).await.unwrap().is_empty());
        assert_eq!(memory::search(l, &f.member, agent, "zucchini", 0).await.unwrap().len(), 1);
    }
    assert!(totals(&f, s).await.is_empty());
    // Their own document at the same path is another one.
    put(&f, s, "topics/a.md", 0, "theirs\n").await.unwrap();
    assert_eq!(read(&f, "topics/a.md").await.unwrap(), "zucchini\n");
    f.done().await;
}

async fn roles_and_worker_tokens_bound_who_writes(f: Fixture) {
    let refused = put(&f, &f.member, "topics/a.md", 0, "x\n").await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = put(&f, &f.worker, "topics/a.md", 0, "x\n").await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "a worker without a session wrote: {refused:?}");
    let (session, _) = session(&f).await;
    let write = |agent: &'static str, path: &'static str| {
        let write = Write { text: "x\n".into(), session_id: Some(session), ..Write::default() };
        memory::write(&f.ledger, &f.worker, agent, memory::path(path).unwrap(), write)
    };
    let written = write(AGENT, "topics/a.md").await.unwrap();
    assert_eq!(written.document.source, Source::Agent);
    assert!(matches!(write("other", "topics/a.md").await, Err(Error::Forbidden(_))));
    assert!(matches!(write(AGENT, "self/description.md").await, Err(Error::Forbidden(_))));
    let (_, secret) =
        token::create(&f.ledger, &f.admin, "second", Role::Operator, Some(domain::role::TokenScope::Worker))
            .await
            .unwrap();
    let second = ledger::auth::by_token(&f.ledger, &secret).await.unwrap().unwrap().scope;
    let other = Write { text: "y\n".into(), session_id: Some(session), ..Write::default() };
    let refused = memory::write(&f.ledger, &second, AGENT, memory::path("topics/b.md").unwrap(), other).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "a worker used another's session: {refused:?}");
    let erased = memory_forget::erase(&f.ledger, &f.operator, AGENT, memory::path("topics/a.md").unwrap()).await;
    assert!(matches!(erased, Err(Error::Forbidden(_))), "{erased:?}");
    let full = token::create(&f.ledger, &f.admin, "full", Role::Operator, None).await.unwrap().1;
    let full = ledger::auth::by_token(&f.ledger, &full).await.unwrap().unwrap().scope;
    assert_eq!(put(&f, &full, "topics/c.md", 0, "x\n").await.unwrap().document.source, Source::Agent);
    f.done().await;
}

async fn incognito_conversations_are_not_remembered(f: Fixture) {
    let new = ledger::thread::NewThread {
        agent: AGENT.into(),
        title: None,
        message: Some("hello".into()),
        incognito: true,
        ..Default::default()
    };
    let private = ledger::thread::start(&f.ledger, &f.member, new).await.unwrap();
    let claimed = f.claim(1, 60).await;
    assert_eq!(claimed[0].id, private.session.id);
    let write = Write { text: "x\n".into(), session_id: Some(claimed[0].id), ..Write::default() };
    let refused = memory::write(&f.ledger, &f.worker, AGENT, memory::path("topics/a.md").unwrap(), write).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let evidence = vec![Evidence { line: 1, session: claimed[0].id, sequence: 1 }];
    let write = Write { text: "x\n".into(), evidence, ..Write::default() };
    let refused = memory::write(&f.ledger, &f.operator, AGENT, memory::path("topics/a.md").unwrap(), write).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    f.done().await;
}

async fn versions_stay_as_they_were_written(f: Fixture) {
    put(&f, &f.operator, "topics/a.md", 0, "x\n").await.unwrap();
    let mut raw = f.engine.raw().await;
    for forged in [
        "UPDATE memory_versions SET body = 'forged'",
        "UPDATE memory_versions SET body = '', reason = '', evidence = '[]', front_matter = NULL",
        "UPDATE memory_versions SET body = 'forged', reason = '', evidence = '[]', front_matter = NULL, erased_at = 1",
        "UPDATE memory_versions SET body = '', reason = '', evidence = '[]', author = 'user:me', erased_at = 1",
        "DELETE FROM memory_versions",
    ] {
        assert!(raw.execute(forged).await.is_err(), "{forged}");
    }
    assert_eq!(read(&f, "topics/a.md").await.unwrap(), "x\n");
    f.done().await;
}

async fn an_erased_document_leaves_no_text_and_keeps_its_digests(f: Fixture) {
    let path = "people/discord-777001.md";
    put(&f, &f.operator, path, 0, "zanzibarmarker one\n").await.unwrap();
    put(&f, &f.operator, path, 1, "zanzibarmarker two\n").await.unwrap();
    put(&f, &f.operator, "topics/b.md", 0, "other\n").await.unwrap();
    let before = versions(&f, path).await;
    let erased = memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path(path).unwrap()).await.unwrap();
    assert_eq!(erased.versions, 2);
    assert!(matches!(read(&f, path).await, Err(Error::NotFound(_))));
    assert!(memory::search(&f.ledger, &f.admin, None, "zanzibarmarker", 0).await.unwrap().is_empty());
    let audit = memory::audit(&f.ledger, &f.admin, AGENT, ListPage::default()).await.unwrap().items;
    let kept: Vec<_> = audit.iter().filter(|v| v.document_id == before[0].document_id).collect();
    assert!(kept.iter().any(|v| v.operation == Operation::Erased && v.source == Source::Erasure));
    assert!(kept.iter().all(|v| v.path.starts_with("erased/") && v.reason.is_empty()), "{kept:?}");
    for old in &before {
        let now = kept.iter().find(|v| v.version == old.version).unwrap();
        assert_eq!((now.digest, now.author.as_str()), (old.digest, old.author.as_str()));
        assert!(now.erased_at.is_some());
    }
    let left = async |agent, id| page::memory::memory(&f.ledger, &f.member, agent, Selection::Erased(id)).await;
    let shown = left(AGENT, before[0].document_id).await.unwrap().document.unwrap();
    assert_eq!((shown.document.author, shown.versions.len()), (f.admin.caller.to_string(), 3));
    assert_eq!((shown.versions[0].version, shown.versions[0].operation), (3, Operation::Erased));
    let there = versions(&f, "topics/b.md").await[0].document_id;
    for (agent, id) in [("other", before[0].document_id), (AGENT, there)] {
        let missing = left(agent, id).await;
        assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    }
    let totals = totals(&f, &f.admin).await;
    assert_eq!(totals[0].documents, 1);
    // The path is free again, and an erasure cannot be repeated.
    assert!(matches!(
        memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path(path).unwrap()).await,
        Err(Error::NotFound(_))
    ));
    if let Some(file) = f.engine.file() {
        f.ledger.close().await;
        let bytes = std::fs::read(&file).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!holds("zanzibarmarker") && !holds("777001"), "the file still has the erased text");
        f.engine.discard().await;
        return;
    }
    f.done().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_succeeds_while_the_file_is_read_and_the_log_is_emptied_later() {
    let f = Fixture::sqlite().await;
    for path in ["topics/a.md", "topics/b.md"] {
        put(&f, &f.operator, path, 0, "zanzibarmarker\n").await.unwrap();
    }
    let file = f.engine.file().unwrap();
    let log = file.with_extension("sqlite3-wal");
    let mut reader = f.engine.raw().await;
    reader.execute("BEGIN").await.unwrap();
    reader.number("SELECT COUNT(*) FROM sessions").await;
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path("topics/a.md").unwrap()).await.unwrap();
    assert!(std::fs::metadata(&log).unwrap().len() > 0, "the reader still needs the log");
    put(&f, &f.operator, "topics/c.md", 0, "other\n").await.unwrap();
    reader.execute("ROLLBACK").await.unwrap();
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path("topics/b.md").unwrap()).await.unwrap();
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    let bytes = std::fs::read(&file).unwrap();
    let marker = b"zanzibarmarker";
    assert!(!bytes.windows(marker.len()).any(|window| window == marker), "the file still has the erased text");
    f.done().await;
}

async fn lines_are_traced_to_their_turns(f: Fixture) {
    let (session, said) = session(&f).await;
    let at = memory::path("people/discord-1.md").unwrap();
    let write = async |base_version, text: &str, evidence| {
        let write = Write { base_version, text: text.into(), evidence, ..Write::default() };
        memory::write(&f.ledger, &f.operator, AGENT, at.clone(), write).await.unwrap();
    };
    let from = |line, sequence| vec![Evidence { line, session, sequence }];
    write(0, "# Ines\n- Lisbon\n", from(2, said[0])).await;
    write(1, "# Ines\n- tea\n- Lisbon\n", from(2, said[1])).await;
    write(2, "# Ines K.\n- tea\n- Lisbon\n", Vec::new()).await;
    let lines = memory::blame(&f.ledger, &f.member, AGENT, at.clone()).await.unwrap();
    let shown: Vec<_> = lines
        .iter()
        .map(|line| (line.text.as_str(), line.version.version, line.evidence.first().map(|one| one.sequence)))
        .collect();
    assert_eq!(shown, [("# Ines K.", 3, None), ("- tea", 2, Some(said[1])), ("- Lisbon", 1, Some(said[0]))]);
    assert!(lines.iter().all(|line| !line.is_oldest));
    f.done().await;
}
