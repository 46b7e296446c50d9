//! Memory documents of agents: `memory_agents`, `memory_documents`, `memory_versions`, `memory_search`,
//! `memory_words`, `memory_channels` and `memory_cards`.

mod agent;
mod card;
mod channel;
mod document;
mod search;
mod version;

pub use agent::{MemoryAgentRecord, agents, find_agent, lock_agent, save_agent};
pub use card::{CardRecord, card, insert_card, original};
pub use channel::{add_channel, drop_channels, of_channel};
pub use document::{MemoryDocumentRecord, find, find_by_path, insert_document, list, save_document};
pub use search::{FoundDocument, SearchBounds, index, search, unindex};
pub use version::{
    MemoryVersionRecord, MemoryVersionText, audit, erase_versions, insert_version, latest_texts, text, versions,
};

use crate::engine::Texts;

pub(crate) const SQL: [Texts; 6] =
    [agent::SQL, card::SQL, channel::SQL, document::SQL, search::SQL, version::SQL];
pub(crate) const SQLITE_SQL: [Texts; 2] = [channel::SQLITE_SQL, search::SQLITE_SQL];
pub(crate) const POSTGRES_SQL: [Texts; 3] = [agent::POSTGRES_SQL, channel::POSTGRES_SQL, search::POSTGRES_SQL];
