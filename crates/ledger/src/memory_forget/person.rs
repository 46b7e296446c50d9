//! The author of a turn, and the names of a person.

use crate::{Error, Result};
use domain::{
    id::{SessionId, TenantId, UserId},
    limit::{MEMORY_FORGET_NAMES_MAX, NAME_CHARS_MAX},
    memory::{Document, MemoryPath, aliases, fold, sections},
    memory_writer::{
        slot::{earlier_person_path, named_path, person_path, typed_person_path},
        turn::{self, Content, OWN_PLATFORM},
    },
    slug::is_slug,
    thread::cut,
};
use std::collections::{BTreeSet, HashMap};
use store::Conn;

/// Whom to forget.
pub(super) struct Person {
    /// Path of the person's document.
    pub(super) path: MemoryPath,
    /// Other paths that their documents can have, folded: that of earlier versions, and that of a document that was
    /// named by hand.
    others: BTreeSet<String>,
}

impl Person {
    /// Whether a document with this path is the person's.
    pub(super) fn owns(&self, path: &str) -> bool {
        fold(path) == self.path.folded() || self.has_earlier(path)
    }

    /// The other paths that their documents can have, folded. People with different ids can share them.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(String::as_str)
    }

    /// Whether a document with this path is the person's and has a path that others can share.
    pub(super) fn has_earlier(&self, path: &str) -> bool {
        self.others.contains(&fold(path))
    }
}

/// Reads the person from `PLATFORM-ID`, from `PLATFORM/ID` if the name of the platform has a hyphen, or from the path
/// of their document.
///
/// # Errors
/// [`Error::Invalid`] for the field `person`.
pub(super) fn parse(text: &str) -> Result<Person> {
    let text = text.trim();
    let inner = text.strip_prefix("people/");
    let name = inner.unwrap_or(text);
    let name = name.strip_suffix(".md").unwrap_or(name);
    let refused = || Error::invalid("person", "the platform and the id of a person, such as discord-1234");
    let is_hyphened = |platform: &str| inner.is_none() && platform.contains('-') && is_slug(platform);
    let hyphened = name.split_once('/').filter(|(platform, _)| is_hyphened(platform));
    let (platform, id) = hyphened.or_else(|| name.split_once('-')).ok_or_else(refused)?;
    let platform = platform.to_ascii_lowercase();
    let is_id = !id.trim().is_empty() && id.chars().count() <= NAME_CHARS_MAX && !id.contains(char::is_control);
    // A platform may have ids with a slash; a path has one folder.
    if !is_slug(&platform) || !is_id || (inner.is_some() && id.contains('/')) {
        return Err(refused());
    }
    let path = if hyphened.is_some() { person_path(&platform, id) } else { named_path(&platform, id) };
    let path = MemoryPath::parse(&path).map_err(|_| refused())?;
    let by_hand = typed_person_path(&platform, id).map(|path| path.folded());
    let earlier = fold(&earlier_person_path(&platform, id));
    let others = by_hand.into_iter().chain([earlier]).filter(|other| *other != path.folded()).collect();
    Ok(Person { path, others })
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
    /// Number of turns whose texts are erased, so that no one can tell who wrote them.
    pub(super) unknown: u64,
    /// Paths of other people whom earlier versions gave this path too.
    pub(super) alike: BTreeSet<String>,
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
            alike: BTreeSet::new(),
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
        let said = event.and_then(|event| turn::read(&event.kind, &event.actor, &event.content, &event.metadata, None));
        let is_theirs = match said {
            Some(Content { speaker: Some(speaker), earlier_paths, .. }) => {
                let is_theirs = fold(&speaker.path) == self.path;
                if is_theirs {
                    self.names.insert(speaker.name);
                } else if earlier_paths.iter().any(|earlier| fold(earlier) == self.path) {
                    self.alike.insert(speaker.path);
                }
                is_theirs
            }
            _ => is_owned,
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
