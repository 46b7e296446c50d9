//! The page /sessions.

use super::{
    LiveRows,
    bulk_bar::bulk_bar,
    chips::set,
    columns::{Columns, view_form},
    filter::{Filter, Offers, filter_form},
    row::{RowLook, list_table},
    saved::{CountedSearch, saved_links},
    view_model::SessionEntry,
};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{
        escape::query,
        number::{counted, grouped},
        people::People,
    },
    ui::{
        button::{ButtonLink, Look},
        chip::chips,
        empty::{Connect, ConnectAgent, Empty},
        notice::Refused,
        page_head::PageHead,
        pager::Pager,
    },
};
use domain::{
    limit::{SEARCH_LOOKED_MAX, SESSIONS_LOOKED_MAX},
    role::Permission,
    session::Sort,
};
use leptos::{prelude::*, tachys::html::InertElement};

/// Data of the page /sessions.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// The filter of the address.
    pub filter: Filter,
    /// IANA name of the time zone in which the reader sees times; `UTC` if it is not known.
    pub reader_zone: String,
    /// The columns that are shown.
    pub columns: Columns,
    /// Names of who created the sessions; empty unless that column is shown.
    pub people: People,
    /// Why the line or the order was refused, and the line as it was typed.
    pub form: FormState,
    /// Tasks to filter by, `(id, name)`.
    pub actions: Vec<(String, String)>,
    /// Slugs of agents that are suggested.
    pub agents: Vec<String>,
    /// The sessions of this page, in the order of the list.
    pub entries: Vec<SessionEntry>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Whether this is a page after the first.
    pub is_continued: bool,
    /// The first searches that the reader sees.
    pub saved: Vec<CountedSearch>,
    /// Number of all searches that the reader sees.
    pub saved_total: usize,
    /// How to connect an agent; present while the workspace has no session.
    pub connect: Option<Connect>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let now = shell.now;
    render(shell, "Sessions", || {
        let Props {
            filter,
            reader_zone,
            columns,
            people,
            form,
            actions,
            agents,
            entries,
            next_cursor,
            is_continued,
            saved,
            saved_total,
            connect: connecting,
        } = props;
        let task = actions.iter().find(|(id, _)| Some(id) == filter.action_id.as_ref()).map(|(_, name)| name.clone());
        let set = chips(set(&filter, task, &reader_zone), "Conditions").map(static_html);
        let offers = Offers { actions, agents: &agents, reader_zone: &reader_zone };
        let wrong = view! { <Refused messages=form.general(&["q"])/> };
        let line = static_html((wrong, filter_form(&filter, offers, &form), set, about_words(&filter)));
        let has_older = next_cursor.is_some();
        let pager = pages(&filter, next_cursor, is_continued);
        let says_what_is_new = filter.sort == Sort::Newest && !is_continued && !form.is_refused();
        let fresh = says_what_is_new.then(|| static_html(fresh(&filter, entries.first())));
        let (fresh, alone) = if entries.is_empty() { (None, fresh) } else { (fresh, None) };
        let list = if !entries.is_empty() {
            let is_selectable = shell.may(Permission::StartSession);
            let look = RowLook { columns: &columns, people: &people, is_selectable };
            let bar = is_selectable.then(|| static_html(bulk_bar(&filter)));
            let table = list_table(&entries, now, &filter, look);
            (view! { <LiveRows>{fresh}{table}{bar}</LiveRows> }, pager).into_any()
        } else if has_older {
            let none = view! {
                <Empty
                    sentence="None of the sessions that were looked at matches the filter."
                    link=Some(("Show all", "/sessions".to_owned()))
                />
            };
            (none, pager).into_any()
        } else if form.is_refused() {
            ().into_any()
        } else if !filter.is_open() || is_continued {
            view! { <Empty sentence="No session matches the filter." link=Some(("Show all", "/sessions".to_owned()))/> }
                .into_any()
        } else if let Some(connecting) = connecting {
            view! {
                <Empty sentence="There are no sessions yet.">
                    {static_html(view! { <ConnectAgent connect=connecting/> })}
                </Empty>
            }
            .into_any()
        } else {
            view! { <Empty sentence="There are no sessions yet. Run a task to start one." link=Some(("Go to tasks", "/actions".to_owned()))/> }
                .into_any()
        };
        let saved = saved_links(&saved, saved_total, &filter).map(static_html);
        let page = view! {
            <PageHead title="Sessions">{head(&filter, &columns)}</PageHead>
            {saved}
            {line}
            {alone.map(|fresh| view! { <LiveRows>{fresh}</LiveRows> })}
            {list}
            <p class="meta">"Documents that people and agents edit together are "<a href="/canvases">"canvases"</a>"."</p>
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// What can be done with the list. The visible words are short, so that the head has one line on a phone.
fn head(filter: &Filter, columns: &Columns) -> InertElement {
    let (word, rest) = if filter.line.is_empty() { ("Saved", " searches") } else { ("Save", " search") };
    static_html(view! {
        <ButtonLink look=Look::Quiet href=saved_href(filter)>{word}<span class="hidden-text">{rest}</span></ButtonLink>
        <ButtonLink look=Look::Quiet href="/search" title="Search all events"><span class="hidden-text">"Search: "</span>"Events"</ButtonLink>
        {view_form(filter, columns)}
    })
}

/// Links to the other pages of the list, and what a page looks at.
fn pages(filter: &Filter, next_cursor: Option<String>, is_continued: bool) -> InertElement {
    let newest = is_continued.then(|| filter.href(None));
    let older = next_cursor.map(|cursor| filter.href(Some(&cursor)));
    let looked = looked(filter, older.is_some());
    let is_sorted = filter.sort != Sort::Newest;
    static_html((looked, view! { <Pager newest=newest older=older is_sorted=is_sorted/> }))
}

/// The page of saved searches, with the form that saves the line of the list.
fn saved_href(filter: &Filter) -> String {
    let line = filter.line.to_string();
    if line.is_empty() { "/sessions/saved".to_owned() } else { format!("/sessions/saved?q={}#save", query(&line)) }
}

/// The link to sessions that were created after the page, hidden until there are some. `newest` is the first row.
fn fresh(filter: &Filter, newest: Option<&SessionEntry>) -> impl IntoView + use<> {
    let after = newest.map(|entry| entry.session.id.to_string()).unwrap_or_default();
    let from = filter.fresh_href(&after);
    view! {
        <p class="fresh" role="status">
            <a class="button" data-size="small" href=filter.href(None) data-after=after data-fresh=from hidden=true></a>
        </p>
    }
}

/// Says that a search continues with the next page, or that an order is one of the newest sessions. Nothing for a list
/// that is neither.
fn looked(filter: &Filter, has_older: bool) -> Option<impl IntoView + use<>> {
    let count = grouped(u64::from(SESSIONS_LOOKED_MAX));
    let older = if filter.sort == Sort::Oldest { "newer" } else { "older" };
    let sentence = if filter.sort.is_by_value() {
        format!("A list in this order has the newest {count} sessions at most.")
    } else {
        format!("A page looks at no more than {count} sessions. The next page looks at {older} ones.")
    };
    (filter.sort.is_by_value() || filter.is_search() && has_older).then(|| view! { <p class="meta">{sentence}</p> })
}

/// Says where words are looked for, and links to the search that shows the events. Nothing for a list without words.
fn about_words(filter: &Filter) -> Option<impl IntoView + use<>> {
    filter.line.query.as_ref()?;
    let events = counted(SEARCH_LOOKED_MAX as u64, "event");
    let sentence =
        format!("Found are sessions with the words in the title, or in one of the newest {events} that have them. ");
    let href = format!("/search?q={}", query(&filter.line.to_string()));
    Some(view! { <p class="meta">{sentence}<a href=href>"Show the events"</a></p> })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use domain::search::Line;

    fn asking(line: &str) -> Filter {
        Filter { line: Line::parse(line).unwrap(), ..Filter::default() }
    }

    #[test]
    fn a_search_that_has_not_ended_says_how_many_sessions_a_page_looks_at() {
        let filter = asking("zebra");
        let html = to_html(looked(&filter, true));
        assert!(html.contains("20,000"), "{html}");
        let without_a_line = [looked(&filter, false).is_none(), looked(&Filter::default(), true).is_none()];
        assert_eq!(without_a_line, [true, true], "the last page, and a list that is not searched");
        let sorted = to_html(looked(&Filter::default().sorted(Sort::Cost), false));
        assert!(sorted.contains("newest 20,000"), "{sorted}");
    }

    #[test]
    fn words_lead_to_the_events_that_have_them() {
        let html = to_html(about_words(&asking("zebra status:failed")));
        assert!(
            html.contains("newest 4,000 events") && html.contains("href=\"/search?q=status%3Afailed%20zebra\""),
            "{html}"
        );
        assert!(about_words(&asking("status:failed")).is_none());
    }
}
