//! Memory documents of agents. Every change is a new version with its author, reason and origin. [`write_on`] and the
//! functions that delete, rename and erase are the only ways to make one.

mod blame;
mod card;
mod card_png;
mod card_preview;
mod card_unpack;
mod change;
mod conflict;
mod diff;
mod erase;
mod forget;
mod forgotten;
mod identified;
mod line;
mod origin;
mod read;
mod revert_session;
mod search;
mod tool;
mod write;

pub use blame::{BlamedLine, blame};
pub(crate) use blame::{attribute, times_of_body, written_at};
pub use card::{UploadedCard, card, original_card, overwrite_card, upload_card};
pub(crate) use card_preview::expire_previews;
pub use card_preview::{AppliedCard, CardChange, CardChangeKind, CardPreview, apply_card, preview_card};
pub use change::{Change, delete, rename, revert};
pub use conflict::{Conflict, Side};
pub use diff::{DiffLine, Part, compare};
pub(crate) use erase::find_erased_on;
pub use erase::{Erased, erase_on};
pub(crate) use forget::{Cleaned, clean_on};
pub(crate) use forgotten::{Marks, mark};
pub(crate) use identified::identified;
pub(crate) use line::{MemorySearch, find_on};
pub(crate) use read::diff_on;
pub use read::{Listing, MemoryText, VersionDiff, audit, diff, list, read, read_on, read_version, versions};
pub use revert_session::{RevertSession, RevertedDocument, RevertedSession, preview_revert_session, revert_session};
pub use search::{FoundMemory, search};
pub(crate) use search::{near_beside, search_on, search_part, telling_words_and_forms_of, words_of};
pub use tool::{ToolAnswer, tool};
pub use write::{NewVersion, Stamp, Write, Written, write, write_on};

use crate::{Error, Result};
use domain::{memory::MemoryPath, slug::is_slug};

/// Refuses a text that is not the slug of an agent.
pub(crate) fn check_agent(agent: &str) -> Result<()> {
    if is_slug(agent) { Ok(()) } else { Err(Error::NotFound("agent")) }
}

/// Parses the path of a document.
///
/// # Errors
/// [`Error::Invalid`] for the field `path`.
pub fn path(text: &str) -> Result<MemoryPath> {
    MemoryPath::parse(text).map_err(|why| Error::invalid("path", why.to_string()))
}
