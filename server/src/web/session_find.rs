//! `?find=` and `&match=` of a session's page: what is looked for in its log.

use super::shell::{PageRejection, Viewer};
use crate::{state::AppState, wire_map};
use app::session::{Find, Place, types_of_groups};
use domain::{
    id::SessionId,
    search::{BadPhrase, Phrase},
};
use ledger::event::{self, FoundInLog, Items};

/// What the address asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct FindQuery<'a> {
    /// `find`, without white space around it; empty without it.
    pub(super) typed: &'a str,
    /// `match`: the number of the event that the page is around, from 1.
    pub(super) number: Option<u64>,
    /// `kinds`: names of groups; empty for all.
    pub(super) kinds: &'a str,
    /// Whether the address names a part of the log.
    pub(super) is_placed: bool,
}

impl FindQuery<'_> {
    /// The number of the event that the page is around; the first one for a search that begins.
    fn wanted(self) -> Option<usize> {
        match self.number {
            Some(number) => Some(usize::try_from(number).unwrap_or(usize::MAX).max(1)),
            None => (!self.is_placed).then_some(1),
        }
    }

    /// A text that cannot be looked for, with the reason; nothing for an empty text. `None` for any other text.
    fn refused(self) -> Option<Find> {
        let bad = Phrase::parse(self.typed).err()?;
        let problem = (bad != BadPhrase::Empty).then(|| bad.to_string());
        Some(Find { typed: self.typed.to_owned(), problem, ..Find::default() })
    }
}

/// Looks for what the address asks for. A text that cannot be looked for comes back with the reason.
pub(super) async fn read(
    state: &AppState,
    viewer: &Viewer,
    id: SessionId,
    query: FindQuery<'_>,
) -> Result<Find, PageRejection> {
    if let Some(find) = query.refused() {
        return Ok(find);
    }
    let kinds = kinds(state, viewer, id, query.kinds).await?;
    let items = Items::Number(query.wanted().unwrap_or(0));
    let find = event::Find { text: query.typed.to_owned(), kinds, items };
    Ok(found(query, event::find(&state.ledger, &viewer.scope, id, find).await?))
}

/// The kinds of events of these groups; none for all.
async fn kinds(state: &AppState, viewer: &Viewer, id: SessionId, groups: &str) -> Result<Vec<String>, PageRejection> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let counted = event::kind_counts(&state.ledger, &viewer.scope, id).await?;
    Ok(types_of_groups(groups, &counted))
}

fn found(query: FindQuery<'_>, found: FoundInLog) -> Find {
    let count = found.places.len();
    let places = found.places.into_iter();
    let places = places.map(|place| Place { sequence: place.sequence, recorded_at: place.recorded_at }).collect();
    let snippet = found.items.into_iter().next().map(|item| wire_map::snippet(item.snippet)).unwrap_or_default();
    Find {
        typed: query.typed.to_owned(),
        problem: None,
        places,
        is_exact: found.is_exact,
        number: query.wanted().map(|number| number.min(count)).filter(|number| *number > 0),
        is_new: query.number.is_none() && !query.is_placed,
        snippet,
    }
}
