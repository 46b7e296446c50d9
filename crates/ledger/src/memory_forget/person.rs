//! Who said a turn, and what a person is called.

use crate::{Error, Result};
use domain::{
    id::{SessionId, TenantId, UserId},
    limit::{MEMORY_FORGET_NAMES_MAX, NAME_CHARS_MAX},
    memory::{Document, MemoryPath, aliases, fold, sections},
    memory_write::turn::{self, OWN_PLATFORM},
    thread::cut,
};
use std::collections::{BTreeSet, HashMap};
use store::Conn;

/// Reads the person from `PLATFORM-ID` or from the path of their document.
///
/// # Errors
/// [`Error::Invalid`] for the field `person`.
pub(super) fn parse(text: &str) -> Result<MemoryPath> {
    let text = text.trim();
    let name = text.strip_prefix("people/").unwrap_or(text);
    let name = name.strip_suffix(".md").unwrap_or(name);
    let path = MemoryPath::parse(&format!("people/{name}.md"));
    let path = path.ok().filter(|path| path.person().is_some());
    path.ok_or_else(|| Error::invalid("person", "the platform and the id of a person, such as discord-1234"))
}

/// The member of this workspace whose document this is.
pub(super) fn member_of(path: &MemoryPath) -> Option<UserId> {
    let (platform, id) = path.person()?;
    (platform == OWN_PLATFORM).then(|| id.parse().ok()).flatten()
}

/// Finds out which turns are a person's.
pub(super) struct Turns {
    tenant_id: TenantId,
    path: String,
    owned: HashMap<SessionId, bool>,
    known: HashMap<(SessionId, u64), bool>,
    /// Conversations with a turn of the person.
    pub(super) sessions: BTreeSet<SessionId>,
    /// Names under which they wrote.
    pub(super) names: BTreeSet<String>,
    /// Number of turns whose texts are erased, so that nobody can tell who wrote them.
    pub(super) unknown: u64,
}

impl Turns {
    pub(super) fn new(tenant_id: TenantId, path: &MemoryPath) -> Self {
        Self {
            tenant_id,
            path: path.folded(),
            owned: HashMap::new(),
            known: HashMap::new(),
            sessions: BTreeSet::new(),
            names: BTreeSet::new(),
            unknown: 0,
        }
    }

    /// Whether the event is the person's turn, or an answer to them: in their own session every turn is.
    pub(super) async fn is_theirs(&mut self, conn: &mut Conn<'_>, id: SessionId, sequence: u64) -> Result<bool> {
        if let Some(known) = self.known.get(&(id, sequence)) {
            return Ok(*known);
        }
        let is_owned = self.is_owned(conn, id).await?;
        let range = (sequence.saturating_sub(1), sequence);
        let event = store::event::after(conn, self.tenant_id, id, range, &[], 1).await?.items.pop();
        let is_erased = event.as_ref().is_some_and(|event| event.content == "[]" && event.metadata == "{}");
        let said = event.and_then(|event| turn::read(&event.kind, &event.content, &event.metadata, None));
        let is_theirs = match said.and_then(|said| said.speaker) {
            Some(speaker) => {
                let is_theirs = fold(&speaker.path) == self.path;
                if is_theirs {
                    self.names.insert(speaker.name);
                }
                is_theirs
            }
            None => is_owned,
        };
        self.unknown += u64::from(is_erased && !is_owned);
        if is_theirs {
            self.sessions.insert(id);
        }
        self.known.insert((id, sequence), is_theirs);
        Ok(is_theirs)
    }

    async fn is_owned(&mut self, conn: &mut Conn<'_>, id: SessionId) -> Result<bool> {
        if let Some(owned) = self.owned.get(&id) {
            return Ok(*owned);
        }
        let session = store::session::find(conn, self.tenant_id, id).await?;
        let owner = session.and_then(|session| session.user_id);
        let owned = owner.is_some_and(|owner| fold(&turn::own_path(owner)) == self.path);
        self.owned.insert(id, owned);
        Ok(owned)
    }
}

/// Collects what a version of the person's own document calls them: its title and its aliases.
pub(super) fn names_of(document: &Document, names: &mut BTreeSet<String>) {
    let title = sections(&document.body).into_iter().find(|section| section.level == 1);
    let found = aliases(&document.body).into_iter().chain(title.and_then(|title| title.path.last().cloned()));
    for name in found.map(|name| cut(name.trim(), NAME_CHARS_MAX)).filter(|name| !name.is_empty()) {
        if names.len() < MEMORY_FORGET_NAMES_MAX {
            names.insert(name);
        }
    }
}
