//! The bytes of events as they are stored: those of earlier versions are read, and written again without a difference.

use domain::{
    chain::body_digest,
    event::{Body, EventRole, Known, kind::Writer},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// One event of each shape that the product wrote when kinds got types, as it was stored.
const GOLDEN: &str = include_str!("golden/events.jsonl");

struct Stored {
    kind: String,
    role: EventRole,
    content: String,
    metadata: String,
    body: String,
}

fn stored() -> Vec<Stored> {
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let role = EventRole::parse(&text("role")).unwrap();
        Stored { kind: text("kind"), role, content: text("content"), metadata: text("metadata"), body: text("body") }
    };
    GOLDEN.lines().map(read).collect()
}

#[test]
fn stored_events_are_read_and_written_byte_for_byte() {
    for Stored { kind, role, content, metadata, body } in stored() {
        let known = Known::parse(&kind).unwrap();
        assert_eq!(known.role(), role, "{kind}");
        assert_eq!(body_digest(&content, &metadata).to_string(), body, "{kind} {metadata}");
        let read = Body::read(&kind, &content, &metadata);
        let (wrote, wrote_content, wrote_metadata) = read.write().expect("a golden event can be read");
        assert_eq!((wrote, &wrote_content), (known, &content), "{metadata}");
        // Events that are made from the hooks of coding agents hold what the agent sent.
        let is_of_hook = metadata.contains("\"hook\":");
        // Browsers chose the order of members.
        if known.writer() == Writer::Owner {
            let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(parsed(&wrote_metadata), parsed(&metadata), "{kind}");
        } else if !is_of_hook {
            assert_eq!(wrote_metadata, metadata, "{kind}");
        }
    }
}

#[test]
fn every_known_kind_is_among_the_stored_events() {
    let found: BTreeSet<Known> = stored().iter().filter_map(|event| Known::parse(&event.kind)).collect();
    assert_eq!(found, BTreeSet::from(Known::ALL));
}

#[test]
fn a_kind_of_a_newer_version_and_an_erased_event_are_read_as_such() {
    for metadata in ["{}", r#"{"a":1}"#, "[]", "null", "no JSON"] {
        assert_eq!(Body::read("session.archived", "[]", metadata), Body::Other);
        for kind in Known::ALL {
            // Whatever is stored, reading never fails.
            let read = Body::read(kind.as_str(), "{}", metadata);
            assert!(read != Body::Other, "{}", kind.as_str());
            let _ = (read.sentence(), read.write());
        }
    }
    assert_eq!(Body::read("session.claimed", "[]", "{}"), Body::Unreadable(Known::SessionClaimed));
}
