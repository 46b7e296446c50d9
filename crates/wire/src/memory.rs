//! Memory documents of agents.

use domain::{
    Timestamp,
    id::{MemoryDocumentId, SessionId},
    memory::{CardFormat, LineChange, Operation, Source},
};
use serde::{Deserialize, Serialize};

/// Both sides of a write that was refused: the `recorded` of the problem `stale_version`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryConflict {
    /// Path of the document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// The version on which the request was based.
    pub base_version: u64,
    /// The text of that version, if it is known.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::MemoryText>))]
    pub base: Option<String>,
    /// The newest version; absent if there is no document.
    pub current: Option<MemorySide>,
    /// The text that the request would have written, without secrets.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub wanted: String,
}

/// The newest version of a document.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemorySide {
    /// Its number.
    pub version: u64,
    /// SHA-256 of its text, 64 hexadecimal digits.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub sha256: String,
    /// The whole document at that version.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub text: String,
    /// Whether it deleted the document.
    pub is_deleted: bool,
    /// What wrote it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemorySource))]
    pub source: Source,
    /// Who wrote it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub author: String,
    /// When it was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// The character card of an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CharacterCard {
    /// Name of the character.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// `image/png` or `application/json`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::CardMediaType))]
    pub media_type: CardFormat,
    /// SHA-256 of the bytes that were uploaded.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub sha256: String,
    /// Who uploaded it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub author: String,
    /// When it was uploaded.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
}

/// A card that was uploaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UploadedCard {
    /// The card in use.
    pub card: CharacterCard,
    /// Whether it is another one than before.
    pub is_new: bool,
    /// Paths of the documents that have new versions.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::MemoryPath>))]
    pub changed: Vec<String>,
}

/// A memory document at its newest version, without its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryDocument {
    /// UUID of the document. It stays when the path changes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: MemoryDocumentId,
    /// Slug of the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub agent: String,
    /// Its path; `erased/` and the id after an erasure.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// Newest version, from 1.
    pub version: u64,
    /// SHA-256 of its text.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub sha256: String,
    /// Size of its text.
    pub bytes: u64,
    /// Whether it is deleted or erased.
    pub is_deleted: bool,
    /// What wrote the newest version.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemorySource))]
    pub source: Source,
    /// Who wrote the newest version.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub author: String,
    /// When the first version was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When the newest version was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// A memory document with the text of one version.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryDocumentText {
    /// Where it is now.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// Which of its versions this is.
    pub version: u64,
    /// SHA-256 of the text.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub sha256: String,
    /// The whole text with front matter; empty if it was deleted or erased.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub text: String,
    /// Whether the text was erased.
    pub is_erased: bool,
}

/// A version of a memory document.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryVersion {
    /// UUID of the document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub document_id: MemoryDocumentId,
    /// Number of the version, from 1.
    pub version: u64,
    /// Path of the document at this version.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// What the version did.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryOperation))]
    pub operation: Operation,
    /// SHA-256 of its text; it stays when the text is erased.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub sha256: String,
    /// What wrote it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemorySource))]
    pub source: Source,
    /// Who wrote it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub author: String,
    /// Name of the person, token or agent who wrote it, in lists of versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 320))]
    pub author_name: Option<String>,
    /// Shown in the history.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryReason))]
    pub reason: String,
    /// When it was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When its text was erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub erased_at: Option<Timestamp>,
}

/// The event that a line comes from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoryEvidence {
    /// Number of the line in the whole text, from 1.
    pub line: u32,
    /// UUID of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session: SessionId,
    /// Sequence of the event.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 9007199254740991_u64))]
    pub sequence: u64,
}

/// `PUT /api/agents/{slug}/memory/document`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteMemory {
    /// The version that was read; 0 to make a document. Another one is refused with `stale_version`.
    #[cfg_attr(feature = "openapi", schema(maximum = 9007199254740991_u64))]
    pub base_version: u64,
    /// The whole text with front matter. Secrets in it are replaced.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub text: String,
    /// Shown in the history.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryReason, required = false))]
    pub reason: String,
    /// Where its changed lines come from.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false, max_items = 2000))]
    pub evidence: Vec<MemoryEvidence>,
    /// The session that the agent works on. Required from a worker token.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<SessionId>,
    /// Whether the text comes from a folder that is imported.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub is_import: bool,
}

/// `POST /api/agents/{slug}/memory/rename`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RenameMemory {
    /// The document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// Where no document may be.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub new_path: String,
    /// The version that was read.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 9007199254740991_u64))]
    pub base_version: u64,
    /// Shown in the history.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryReason, required = false))]
    pub reason: String,
    /// The session that the agent works on. Required from a worker token.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<SessionId>,
}

/// `POST /api/agents/{slug}/memory/revert`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevertMemory {
    /// The document.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
    /// The version whose text is written again.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 9007199254740991_u64))]
    pub to_version: u64,
    /// The newest version that was read.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 9007199254740991_u64))]
    pub base_version: u64,
    /// Shown in the history.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryReason, required = false))]
    pub reason: String,
    /// The session that the agent works on. Required from a worker token.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<SessionId>,
}

/// `POST /api/agents/{slug}/memory/erase`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EraseMemory {
    /// The document; it may be deleted.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryPath))]
    pub path: String,
}

/// What an erasure removed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ErasedMemory {
    /// Number of versions whose text is gone.
    pub versions: u64,
}

/// Two versions of a document, compared.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryDiff {
    /// The older version; absent for the empty text before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<MemoryVersion>,
    /// The newer version.
    pub to: MemoryVersion,
    /// Whether the text of one of them was erased. Then there are no lines, and nothing is counted.
    #[serde(default)]
    pub is_erased: bool,
    /// Number of added lines.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
    /// All lines of both, in order.
    pub lines: Vec<MemoryDiffLine>,
}

/// A line of a comparison.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryDiffLine {
    /// What became of it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryLineChange))]
    pub change: LineChange,
    /// Number in the older text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<u64>,
    /// Number in the newer text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<u64>,
    /// Its pieces, without the end of the line.
    pub parts: Vec<MemoryDiffPart>,
}

/// A piece of a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryDiffPart {
    /// Some words of the line.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub text: String,
    /// Whether the words differ from those on the other side.
    pub is_changed: bool,
}

/// The lines of a document with their origin.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryBlame {
    /// The lines, in order.
    pub lines: Vec<MemoryBlamedLine>,
}

/// A line and the version that wrote it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryBlamedLine {
    /// What the line says.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub text: String,
    /// Which version wrote it.
    pub version: MemoryVersion,
    /// Whether an even older version may have written it.
    pub is_oldest: bool,
    /// The events that the version names for it.
    pub evidence: Vec<MemoryEvidence>,
}

/// A document that a search found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundMemory {
    /// At its newest version.
    pub document: MemoryDocument,
    /// To be compared within one search.
    pub score: f64,
    /// Number of the line with most of the words, from 1.
    pub line: u64,
    /// That line, shortened.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
    pub excerpt: String,
}

/// What a search found, the best first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FoundMemories {
    /// At most 50.
    pub items: Vec<FoundMemory>,
}

/// The result of a command of the memory tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryToolAnswer {
    /// The text for the model.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolText))]
    pub content: String,
    /// Whether the command was refused; `content` says why.
    pub is_error: bool,
    /// The version that the command wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// A command of Anthropic's memory tool (`memory_20250818`), as its client sends it. Paths begin with `/memories`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum MemoryToolCommand {
    /// Show a folder, or a document with numbered lines.
    View {
        /// `/memories`, a folder below it, or a document.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolPath))]
        path: String,
        /// First and last line, from 1; -1 as the last means the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(min_items = 2, max_items = 2))]
        view_range: Option<[i64; 2]>,
    },
    /// Make a document.
    Create {
        /// The document.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolPath))]
        path: String,
        /// Its whole text.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
        file_text: String,
    },
    /// Replace a text that occurs once.
    StrReplace {
        /// The document.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolPath))]
        path: String,
        /// The text to find.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
        old_str: String,
        /// The text to put in its place; nothing if left out or null.
        #[serde(default, deserialize_with = "domain::memory::text_or_nothing")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::MemoryText>, required = false))]
        new_str: String,
    },
    /// Insert lines.
    Insert {
        /// The document.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolPath))]
        path: String,
        /// The line after which the text is inserted; 0 for the start.
        insert_line: i64,
        /// New lines.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryText))]
        insert_text: String,
    },
    /// Delete a document.
    Delete {
        /// The document.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolPath))]
        path: String,
    },
    /// Give a document another path.
    Rename {
        /// The document.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolPath))]
        old_path: String,
        /// Where no document may be.
        #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryToolPath))]
        new_path: String,
    },
}
