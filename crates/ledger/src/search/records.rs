//! Searching records that have a name and a text: tasks, entities, questions and memory documents.
//!
//! They have one order: where a record has the words (see [`Rank`]), then the newest change. Events have no name and
//! are listed after all records.

use crate::{Error, Result, memory};
use domain::{
    Timestamp,
    gate::Task,
    id::TenantId,
    limit::{MEMORY_FOUND_MAX, SEARCH_RECORDS_MAX, SEARCH_RECORDS_OF_KIND_MAX},
    search::{Kind, Piece, Query, Rank, snippet, value_text},
};
use std::{cmp::Reverse, collections::HashSet};
use store::{Conn, search::Candidate};
use uuid::Uuid;

/// A record that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRecord {
    /// What it is; never [`Kind::Event`].
    pub kind: Kind,
    /// Id of the task, entity, memory document, or approval. The id of the request, for a question that no session
    /// waits for.
    pub id: Uuid,
    /// Name of a task, title of an entity, text of a question, path of a document.
    pub name: String,
    /// Slug of the agent of a task, a question or a document.
    pub agent_slug: Option<String>,
    /// Its text around the first place that was found, or its beginning; empty without a text.
    pub snippet: Vec<Piece>,
    /// Time of the last change; of a question, when it was asked (UTC).
    pub changed_at: Timestamp,
}

/// The records of a search, best first.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) items: Vec<FoundRecord>,
    /// Whether there are others.
    pub(super) has_more: bool,
    /// Whether there are older records, which were looked for by their names alone.
    pub(super) has_older: bool,
}

/// Which records a search looks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selected {
    kinds: &'static [Kind],
    most: usize,
}

impl Selected {
    /// The records of a search for a kind, or for everything. Conditions and times are about sessions and events, so a
    /// narrowed search for everything finds no records. A page after the first has events alone.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a narrowed search for a kind of record.
    pub(super) fn of(kind: Option<Kind>, is_narrowed: bool, is_continued: bool) -> Result<Self> {
        let none = Self { kinds: &[], most: 0 };
        match kind {
            Some(Kind::Event) => Ok(none),
            None if is_narrowed || is_continued => Ok(none),
            None => Ok(Self { kinds: &Kind::RECORDS, most: SEARCH_RECORDS_MAX }),
            Some(_) if is_narrowed => {
                Err(Error::invalid("kind", "conditions are about sessions: leave them out, or search for events"))
            }
            Some(_) if is_continued => Err(Error::InvalidCursor),
            Some(kind) => Ok(Self { kinds: only(kind), most: SEARCH_RECORDS_OF_KIND_MAX }),
        }
    }
}

/// A list of one kind.
const fn only(kind: Kind) -> &'static [Kind] {
    match kind {
        Kind::Task => &[Kind::Task],
        Kind::Entity => &[Kind::Entity],
        Kind::Question => &[Kind::Question],
        Kind::Memory => &[Kind::Memory],
        Kind::Event => &[Kind::Event],
    }
}

/// Records of a kind for a text that is still being typed: its last word only has to begin like this. A text that is no
/// search finds none. Memory documents are found by whole words.
pub(crate) async fn records_while_typing(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    text: &str,
    kind: Kind,
    most: usize,
) -> Result<Vec<FoundRecord>> {
    let is_in_a_word = text.ends_with(char::is_alphanumeric);
    let text = if is_in_a_word { format!("{text}*") } else { text.to_owned() };
    let Ok(query) = Query::parse(&text) else { return Ok(Vec::new()) };
    Ok(records_on(conn, tenant_id, &query, Selected { kinds: only(kind), most }).await?.items)
}

/// A record that may have the words.
struct Searched {
    id: Uuid,
    name: String,
    text: String,
    agent_slug: Option<String>,
    changed_at: Timestamp,
}

/// The records that have the words, best first.
pub(super) async fn records_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    query: &Query,
    selected: Selected,
) -> Result<Records> {
    let (mut ranked, mut has_older): (Vec<(Rank, Kind, Searched)>, bool) = (Vec::new(), false);
    for kind in selected.kinds {
        let searched = match kind {
            Kind::Memory => documents(conn, tenant_id, query).await?,
            kind => {
                let mut candidates = store::search::candidates(conn, tenant_id, *kind, query).await?;
                if store::search::has_older(conn, tenant_id, *kind).await? {
                    has_older = true;
                }
                // The newest may have too many with a word, so names are looked for also without older records.
                let known: HashSet<Uuid> = candidates.iter().map(|candidate| candidate.id).collect();
                let named = store::search::named(conn, tenant_id, *kind, query).await?;
                candidates.extend(named.into_iter().filter(|candidate| !known.contains(&candidate.id)));
                candidates.into_iter().map(|candidate| searched(*kind, candidate)).collect()
            }
        };
        ranked.extend(searched.into_iter().filter_map(|of| Some((query.rank(&of.name, &of.text)?, *kind, of))));
    }
    ranked.sort_unstable_by_key(|(rank, kind, of)| (*rank, Reverse(of.changed_at), *kind, of.id));
    let has_more = ranked.len() > selected.most;
    let items = ranked.into_iter().take(selected.most).map(|(_, kind, of)| found(kind, of, query));
    Ok(Records { items: items.collect(), has_more, has_older })
}

fn searched(kind: Kind, candidate: Candidate) -> Searched {
    let Candidate { id, name, body, agent, changed_at } = candidate;
    let text = match kind {
        Kind::Entity => value_text(&body),
        // The name of a question is its text, up to the length of a title.
        Kind::Question => match Task::parse(&body) {
            Ok(Task::Question(question)) if question.message != name => question.message,
            _ => String::new(),
        },
        Kind::Task | Kind::Memory | Kind::Event => body,
    };
    Searched { id, name, text, agent_slug: agent, changed_at }
}

/// Documents that have one of the words or another form of it.
async fn documents(conn: &mut Conn<'_>, tenant_id: TenantId, query: &Query) -> Result<Vec<Searched>> {
    let wanted = query.units.iter().filter(|unit| !unit.is_excluded);
    let words: Vec<&str> = wanted.flat_map(|unit| unit.terms.iter().map(String::as_str)).collect();
    let found = memory::search_on(conn, tenant_id, None, (&words.join(" "), None), MEMORY_FOUND_MAX).await?;
    let searched = found.into_iter().map(|found| Searched {
        id: found.document.id.0,
        name: found.document.path,
        text: found.text,
        agent_slug: Some(found.document.agent),
        changed_at: found.document.updated_at,
    });
    Ok(searched.collect())
}

fn found(kind: Kind, of: Searched, query: &Query) -> FoundRecord {
    let Searched { id, name, text, agent_slug, changed_at } = of;
    FoundRecord { kind, id, name, agent_slug, snippet: snippet(&text, query), changed_at }
}
