//! Memory documents, their versions, character cards, and runs of memory writers.

use super::pool::{Pool, pool, received};
use crate::wire_map;
use domain::{
    chain::Digest,
    id::{CardId, MemoryDocumentId, MemoryVersionId, SessionId},
    memory::{CardFormat, Evidence, Operation, Source},
    memory_writer::run::{RunCause, RunState},
};
use ledger::{CardRecord, MemoryDocumentRecord, MemoryVersionRecord, memory_writer::RunRecord};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{
    memory::{CharacterCard, MemoryDocument, MemoryVersion},
    memory_writer::MemoryRun,
};

fn version_record(pool: &mut Pool) -> MemoryVersionRecord {
    MemoryVersionRecord {
        document_id: MemoryDocumentId(pool.id()),
        version: pool.number(),
        id: MemoryVersionId(pool.id()),
        agent: pool.text(),
        path: pool.text(),
        operation: pool.one_of(&Operation::ALL),
        digest: pool.digest(),
        source: pool.one_of(&Source::ALL),
        author: pool.text(),
        reason: pool.text(),
        evidence: pool.two(|pool| Evidence {
            line: pool.small(),
            session: SessionId(pool.id()),
            sequence: pool.number(),
        }),
        created_at: pool.time(),
        erased_at: pool.maybe(Pool::time),
    }
}

fn run_record(pool: &mut Pool) -> RunRecord {
    let ranges = pool.two(|pool| json!({ "session": pool.id(), "after": pool.number(), "upto": pool.number() }));
    RunRecord {
        id: pool.id(),
        agent: pool.text(),
        cause: pool.one_of(&RunCause::ALL),
        state: pool.one_of(&RunState::ALL),
        window: Value::from(ranges).to_string(),
        window_key: pool.digest(),
        turns: pool.small(),
        proposals: pool.small(),
        written: pool.small(),
        error: pool.maybe(Pool::text),
        model: pool.text(),
        input_tokens: pool.maybe(Pool::number),
        output_tokens: pool.maybe(Pool::number),
        cost_usd: pool.maybe(Pool::fraction),
        started_at: pool.time(),
        ended_at: pool.time(),
    }
}

proptest! {
    #[test]
    fn a_memory_document_says_what_its_record_holds(mut pool in pool()) {
        let record = MemoryDocumentRecord {
            id: MemoryDocumentId(pool.id()),
            agent: pool.text(),
            path: pool.text(),
            version: pool.number(),
            digest: pool.digest(),
            bytes: pool.number(),
            is_deleted: pool.flag(),
            source: pool.one_of(&Source::ALL),
            author: pool.text(),
            created_at: pool.time(),
            updated_at: pool.time(),
        };
        let MemoryDocument {
            id, agent, path, version, sha256, bytes, is_deleted, source, author, created_at, updated_at,
        } = received(&wire_map::memory_document(record.clone()));
        let digest = Digest::parse(&sha256).unwrap();
        let read = MemoryDocumentRecord {
            id, agent, path, version, digest, bytes, is_deleted, source, author, created_at, updated_at,
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_version_of_a_memory_document_says_what_its_record_holds(mut pool in pool()) {
        let record = version_record(&mut pool);
        let MemoryVersion {
            document_id, version, path, operation, sha256, source, author, author_name, reason, created_at, erased_at,
        } = received(&wire_map::memory_version(record.clone()));
        prop_assert_eq!(author_name, None);
        let digest = Digest::parse(&sha256).unwrap();
        let read = MemoryVersionRecord {
            document_id, version, path, operation, digest, source, author, reason, created_at, erased_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }

    #[test]
    fn a_character_card_says_what_its_record_holds(mut pool in pool()) {
        let record = CardRecord {
            id: CardId(pool.id()),
            format: pool.one_of(&CardFormat::ALL),
            digest: pool.digest(),
            name: pool.text(),
            author: pool.text(),
            created_at: pool.time(),
        };
        let CharacterCard { name, media_type: format, sha256, author, created_at } =
            received(&wire_map::character_card(record.clone()));
        let digest = Digest::parse(&sha256).unwrap();
        prop_assert_eq!(CardRecord { id: record.id, format, digest, name, author, created_at }, record);
    }

    #[test]
    fn a_run_of_a_memory_writer_says_what_its_record_holds(mut pool in pool()) {
        let record = run_record(&mut pool);
        let MemoryRun {
            id, cause, state, window, turns, proposals, written, error, model, input_tokens, output_tokens, cost_usd,
            started_at, ended_at,
        } = received(&wire_map::memory_run(record.clone()));
        let covered: Value = serde_json::from_str(&record.window).unwrap();
        prop_assert_eq!(serde_json::to_value(window).unwrap(), covered);
        let read = RunRecord {
            id, cause, state, turns, proposals, written, error, model, input_tokens, output_tokens, cost_usd,
            started_at, ended_at,
            ..record.clone()
        };
        prop_assert_eq!(read, record);
    }
}
