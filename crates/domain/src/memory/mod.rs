//! Memory documents of agents: paths, documents with front matter, sections, words that search compares, and the
//! commands of Anthropic's memory tool as functions from text to text.

mod card;
mod document;
mod forms;
mod fuse;
mod path;
mod rank;
mod search_word;
mod section;
mod terms;
mod tool;
mod version;

pub use card::{BadCard, Card, CardFormat, Packed, read_card};
pub use document::{BadDocument, Document, check_text, digest};
pub use forms::{Forms, Prefixed};
pub use fuse::{fuse, rank_worth};
pub use path::{BadPath, Folder, MemoryPath, fold};
pub use rank::{Ranked, query_words, rank, rarest, unheld};
pub use search_word::{FORM_WORTH, SearchWord, SearchWords};
pub use section::{Section, SectionError, aliases, append, find, replace, sections};
pub use terms::terms;
pub use tool::{
    Edited, ToolCommand, ToolError, document_path, existing_path, insert, inside, size, snippet, str_replace,
    text_or_nothing, tool_path, view,
};
pub use version::{Evidence, LineChange, Operation, Source};
