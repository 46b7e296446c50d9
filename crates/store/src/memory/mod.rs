//! Memory documents of agents: `memory_agents`, `memory_documents`, `memory_versions`, `memory_search`,
//! `memory_search_rows`, `memory_search_scopes`, `memory_search_terms`, `memory_words`, `memory_channels`,
//! `memory_origins`, `memory_vectors`, `memory_cards` and `memory_card_drafts`.

mod agent;
mod card;
mod card_draft;
mod channel;
mod document;
mod origin;
mod search;
mod vector;
mod version;
mod vocabulary;

pub use agent::{MemoryAgentRecord, agents, find_agent, lock_agent, save_agent};
pub use card::{CardRecord, card, insert_card, original};
pub use card_draft::{
    CardDraft, card_draft, drop_card_draft, expire_all_card_drafts, expire_card_drafts, save_card_draft,
};
pub use channel::{add_channel, drop_channels};
pub use document::{
    DocumentFilter, MemoryDocumentRecord, count_erased, find, find_by_path, insert_document, list, of_all_agents,
    save_document, with_path,
};
pub use origin::{of_session, save_reverted};
pub use search::{Around, Found, FoundDocument, SearchBounds, holders, index, search, search_beside, unindex};
pub(crate) use search::{hexadecimal, scoped};
pub use vector::{
    AgentMemory, DocumentVectors, VectorCount, WithoutVectors, agents_after, empty_vectors, found_by_id,
    note_vector_failure, save_vectors, vector_counts, vectors_after, without_vectors,
};
pub use version::{
    MemoryVersionRecord, MemoryVersionText, audit, erase_versions, insert_version, latest_texts, text, texts_after,
    texts_up_to, versions,
};
pub use vocabulary::{VocabularyBounds, vocabulary};

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[
    agent::SQL,
    card::SQL,
    card_draft::SQL,
    channel::SQL,
    document::SQL,
    origin::SQL,
    search::SQL,
    vector::SQL,
    version::SQL,
    vocabulary::SQL,
];
