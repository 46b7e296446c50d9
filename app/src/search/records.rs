//! The records that a search found, above the events: tasks, entities, questions and memory documents.

use super::filter::Filter;
use crate::{
    memory::{View, document_href},
    text::shorten::one_line,
    ui::{
        empty::Empty,
        tabs::{Tab, Tabs},
        time::moment,
    },
};
use domain::search::Kind;
use leptos::prelude::*;
use wire::search::{FoundEvents, FoundRecord, SnippetPiece};

/// Longest name that is shown, characters.
const NAME_CHARS: usize = 160;

/// What a record of this kind is called.
const fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Task => "Task",
        Kind::Entity => "Entity",
        Kind::Question => "Question",
        Kind::Memory => "Memory",
        Kind::Event => "Event",
    }
}

/// What several records of this kind are called.
const fn plural_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Task => "Tasks",
        Kind::Entity => "Entities",
        Kind::Question => "Questions",
        Kind::Memory => "Memory",
        Kind::Event => "Events",
    }
}

/// Why there are no records of the kind that is searched for.
const fn nothing_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Task => "No task has these words.",
        Kind::Entity => "No entity has these words.",
        Kind::Question => "No question has these words.",
        Kind::Memory => "No memory has these words.",
        Kind::Event => "No event has these words.",
    }
}

/// Links to the search for everything, and for each kind.
pub(super) fn kind_tabs(filter: &Filter) -> impl IntoView + use<> {
    let tab = |kind: Option<Kind>| {
        let href = Filter { kind, ..filter.clone() }.href(None);
        Tab::new(kind.map_or("Everything", plural_of), href, filter.kind == kind)
    };
    let tabs = [None].into_iter().chain(Kind::ALL.map(Some)).map(tab).collect();
    view! { <Tabs label="Kinds" tabs=tabs/> }
}

/// The records, best first. Nothing for a search for everything that found none, and for one for events.
pub(super) fn records(filter: &Filter, found: &FoundEvents) -> Option<AnyView> {
    if found.records.is_empty() {
        let kind = filter.kind.filter(|kind| *kind != Kind::Event)?;
        let everything = Filter { kind: None, ..filter.clone() }.href(None);
        let sentence = nothing_of(kind);
        let empty = view! {
            <Empty sentence=sentence link=Some(("Search everything", everything))/>
            {older(found)}
        };
        return Some(empty.into_any());
    }
    let rows = found.records.iter().map(row).collect::<Vec<_>>();
    let more = found.has_more_records.then(|| {
        let text = match filter.kind {
            None => "There are more. Choose a kind above to see them.",
            Some(_) => "There are more. Add a word to see fewer.",
        };
        view! { <p class="meta">{text}</p> }
    });
    let older = older(found);
    let list = view! {
        <ol class="search-events search-records" aria-label="Records, best match first">{rows}</ol>
        {more}
        {older}
    };
    Some(list.into_any())
}

/// What was not compared, if there is something.
fn older(found: &FoundEvents) -> Option<impl IntoView + use<>> {
    found.has_older_records.then(|| {
        view! { <p class="meta">"Records older than the newest 5,000 of their kind are found by their names alone."</p> }
    })
}

fn row(found: &FoundRecord) -> impl IntoView + use<> {
    let name = one_line(&found.name, NAME_CHARS);
    let agent = found.agent_slug.clone().unwrap_or_default();
    view! {
        <li class="search-event">
            <span class="meta search-number">{name_of(found.kind)}</span>
            <a class="search-link" href=href(found) dir="auto"><strong>{name}</strong>" "{marked(&found.snippet)}</a>
            <span class="meta">{agent}</span>
            <span class="meta search-when">{moment(found.changed_at)}</span>
        </li>
    }
}

/// A text with its marks.
pub(super) fn marked(pieces: &[SnippetPiece]) -> Vec<AnyView> {
    let pieces = pieces.iter().map(|piece| {
        let text = piece.text.clone();
        if piece.is_marked { view! { <mark>{text}</mark> }.into_any() } else { text.into_any() }
    });
    pieces.collect()
}

/// The page of a record.
fn href(found: &FoundRecord) -> String {
    let id = found.id;
    match found.kind {
        Kind::Task => format!("/actions/{id}"),
        Kind::Entity => format!("/entities/{id}"),
        Kind::Question => format!("/inbox/{id}"),
        Kind::Memory => document_href(found.agent_slug.as_deref().unwrap_or_default(), &found.name, View::Text),
        // Events have pages of their own: see `page`.
        Kind::Event => "/search".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use domain::search::Line;

    fn asking(kind: Option<Kind>) -> Filter {
        Filter { line: Line::parse("refund").unwrap(), kind }
    }

    fn record(kind: Kind, name: &str) -> FoundRecord {
        FoundRecord {
            kind,
            id: "0193b0a0-0000-7000-8000-000000000001".parse().unwrap(),
            name: name.into(),
            agent_slug: (kind == Kind::Memory).then(|| "scout".into()),
            snippet: vec![SnippetPiece { text: "refund".into(), is_marked: true }],
            changed_at: "2026-11-29T10:00:00Z".parse().unwrap(),
        }
    }

    fn found(records: Vec<FoundRecord>, has_more_records: bool) -> FoundEvents {
        FoundEvents {
            records,
            has_more_records,
            has_older_records: false,
            items: Vec::new(),
            next_cursor: None,
            indexed_until: None,
        }
    }

    fn html_of(filter: &Filter, found: &FoundEvents) -> String {
        records(filter, found).map(to_html).unwrap_or_default()
    }

    #[test]
    fn each_record_is_text_and_leads_to_its_page() {
        for (kind, href) in [
            (Kind::Task, "/actions/0193b0a0-0000-7000-8000-000000000001"),
            (Kind::Entity, "/entities/0193b0a0-0000-7000-8000-000000000001"),
            (Kind::Question, "/inbox/0193b0a0-0000-7000-8000-000000000001"),
            (Kind::Memory, "/agents/scout/memory?path="),
        ] {
            let html = html_of(&asking(None), &found(vec![record(kind, "<b>Refunds")], false));
            assert!(html.contains(&format!("href=\"{href}")), "{html}");
            assert!(html.contains("&lt;b&gt;Refunds") && html.contains("<mark>refund</mark>"), "{html}");
            assert!(!html.contains("There are more"), "{html}");
        }
    }

    #[test]
    fn more_and_none_say_what_to_do() {
        let more = found(vec![record(Kind::Task, "a"), record(Kind::Task, "b")], true);
        assert!(html_of(&asking(None), &more).contains("Choose a kind above"));
        assert!(html_of(&asking(Some(Kind::Task)), &more).contains("Add a word"));
        assert_eq!(html_of(&asking(None), &found(Vec::new(), false)), "");
        assert_eq!(html_of(&asking(Some(Kind::Event)), &found(Vec::new(), false)), "");
        let none = html_of(&asking(Some(Kind::Memory)), &found(Vec::new(), false));
        assert!(none.contains("No memory has these words.") && none.contains("href=\"/search?q=refund\""), "{none}");
    }

    #[test]
    fn a_bound_that_was_met_is_said_beside_records_and_without_any() {
        for (records, kind) in [(vec![record(Kind::Task, "a")], None), (Vec::new(), Some(Kind::Task))] {
            let whole = found(records, false);
            assert!(!html_of(&asking(kind), &whole).contains("newest 5,000"));
            let bounded = FoundEvents { has_older_records: true, ..whole };
            assert!(html_of(&asking(kind), &bounded).contains("newest 5,000 of their kind are found by their names"));
        }
    }

    #[test]
    fn the_kind_that_is_searched_for_is_marked() {
        let html = to_html(kind_tabs(&asking(Some(Kind::Entity))));
        assert!(html.contains("href=\"/search?q=refund&amp;kind=entity\" aria-current=\"true\""), "{html}");
        assert!(html.contains("href=\"/search?q=refund\"") && html.matches("aria-current").count() == 1, "{html}");
    }
}
