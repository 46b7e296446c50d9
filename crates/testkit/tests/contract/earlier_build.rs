//! A database that an earlier build wrote is upgraded, its log is read, and its sessions go on.
//!
//! The databases were made on 29 November 2026 over the HTTP API. They have one workspace, `fixture`, with at least one
//! event of each kind that was known then, and one of a kind that only programs know.

use domain::{
    event::{Body, Known},
    session::Status,
};
use flate2::read::GzDecoder;
use ledger::{
    event::{self, Read},
    session::{self, ListSessions},
};
use std::{collections::BTreeSet, io::Read as _};
use testkit::{Engine, Fixture};

const SQLITE: &[u8] = include_bytes!("golden/log-2026-11-29.sqlite3.gz");
const POSTGRES: &[u8] = include_bytes!("golden/log-2026-11-29.sql.gz");

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_an_earlier_build_is_read_and_goes_on_sqlite() {
    read_and_go_on(Fixture::on_earlier(Engine::sqlite_of(&unpacked(SQLITE))).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_an_earlier_build_is_read_and_goes_on_postgresql() {
    let sql = String::from_utf8(unpacked(POSTGRES)).unwrap();
    read_and_go_on(Fixture::on_earlier(Engine::postgres_of(&sql).await).await).await;
}

async fn read_and_go_on(f: Fixture) {
    f.assert_verified().await;
    let admin = f.workspace("fixture").await;
    let listed =
        session::list(&f.ledger, &admin, ListSessions { limit: 100, ..ListSessions::default() }).await.unwrap();
    assert!(listed.items.len() >= 12, "{}", listed.items.len());

    let (mut kinds, mut others) = (BTreeSet::new(), BTreeSet::new());
    for session in &listed.items {
        let query = Read { limit: 1_000, ..Read::default() };
        let events = event::read(&f.ledger, &admin, session.id, query).await.unwrap().events;
        assert_eq!(events.last().map(|event| event.sequence), Some(session.head_sequence), "{}", session.title);
        for event in events {
            match event.body() {
                Body::Other => drop(others.insert(event.kind)),
                Body::Unreadable(kind) => panic!("{} {} {}", kind.as_str(), event.content, event.metadata),
                _ => drop(kinds.insert(event.known().unwrap())),
            }
        }
    }
    let since = [Known::SessionTagsChange, Known::SessionAssigneeChange];
    assert_eq!(kinds, Known::ALL.into_iter().filter(|kind| !since.contains(kind)).collect());
    assert_eq!(others, BTreeSet::from(["external.weather".to_owned()]));

    let waiting = listed.items.iter().find(|session| session.status() == Status::Pending).unwrap();
    let ended = session::cancel(&f.ledger, &admin, waiting.id, None).await.unwrap();
    assert_eq!(ended.status(), Status::Abandoned);
    f.assert_verified().await;
    f.done().await;
}
