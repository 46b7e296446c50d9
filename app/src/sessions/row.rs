//! A session as a table row. The same row is rendered as a fragment after a change.

use super::{
    bulk_bar::{FORM, tick},
    columns::{Columns, ListColumn},
    filter::{Filter, type_word},
    view_model::{SessionEntry, cost_words, input_words, is_live, last_words, task, token_words},
};
use crate::{
    label::tag_links,
    render::{static_html, to_html},
    session::{duration_ms, row_title},
    shell::Shell,
    text::{duration, number, people::People},
    ui::{
        badge::StatusBadge,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{Timestamp, session::Sort};
use leptos::{prelude::*, tachys::html::InertElement};

/// How the rows of a list are rendered.
#[derive(Debug, Clone, Copy)]
pub struct RowLook<'a> {
    /// The columns that are shown.
    pub columns: &'a Columns,
    /// Names of the people whom columns name; empty unless one of those columns is shown.
    pub people: &'a People,
    /// Whether each row has a check box, by which it is selected.
    pub is_selectable: bool,
}

/// Rows as `<tr>` elements, in any order; the browser replaces them by id.
pub fn rows_fragment(shell: &Shell, entries: &[SessionEntry], look: RowLook<'_>) -> String {
    entries.iter().map(|entry| to_html(row(entry, shell.now, look))).collect()
}

/// A table with one row for each session, in the order of `entries`.
pub fn session_table(entries: &[SessionEntry], now: Timestamp, caption: &'static str) -> impl IntoView + use<> {
    let (columns, people) = (Columns::default(), People::default());
    table(entries, now, caption, RowLook { columns: &columns, people: &people, is_selectable: false }, head)
}

/// The table of the list of sessions: with the columns that the person chose, and headings that sort it. A browser that
/// renews rows asks for the same columns.
pub(super) fn list_table(entries: &[SessionEntry], now: Timestamp, filter: &Filter, look: RowLook<'_>) -> InertElement {
    let heading = |column: ListColumn| match column.sorts(filter.sort) {
        Some((sort, order)) => head(column).leads_to(filter.sorted(sort).href(None), order),
        None => head(column),
    };
    let density = if look.columns.is_compact() { "compact" } else { "comfortable" };
    let select = if look.is_selectable { "&select=on" } else { "" };
    let rows = format!("/sessions/rows?columns={}{select}&ids=", look.columns.text());
    static_html(view! {
        <div class="session-list" data-density=density data-rows=rows>
            {table(entries, now, caption(filter.sort), look, heading)}
        </div>
    })
}

/// What the list shows in this order.
const fn caption(sort: Sort) -> &'static str {
    match sort {
        Sort::Newest => "Sessions, newest first",
        Sort::Oldest => "Sessions, oldest first",
        Sort::Duration => "Sessions, longest first",
        Sort::Cost => "Sessions, highest cost first",
        Sort::Activity => "Sessions, latest activity first",
    }
}

/// The heading of a column.
fn head(column: ListColumn) -> Column {
    if column.is_number() { Column::number(column.heading()) } else { Column::text(column.heading()) }
}

fn table(
    entries: &[SessionEntry],
    now: Timestamp,
    caption: &'static str,
    look: RowLook<'_>,
    heading: impl Fn(ListColumn) -> Column,
) -> InertElement {
    let rows: String = entries.iter().map(|entry| to_html(row(entry, now, look))).collect();
    let select = look.is_selectable.then(|| Column::hidden("Select"));
    let status = look.columns.has(ListColumn::Status).then(|| heading(ListColumn::Status));
    let others = look.columns.after_title().map(heading);
    let columns: Vec<_> = select.into_iter().chain(status).chain([Column::text("Title")]).chain(others).collect();
    static_html(view! {
        <Table caption=caption columns=columns>{InertElement::new(rows)}</Table>
    })
}

fn row(entry: &SessionEntry, now: Timestamp, look: RowLook<'_>) -> impl IntoView + use<> {
    let RowLook { columns, people, is_selectable } = look;
    let session = &entry.session;
    let live = is_live(session.status).then_some("");
    let title = row_title(session);
    let task = task(entry).filter(|task| *task != title);
    let input =
        input_words(session).map(|input| view! { <span class="row-input" dir="auto">{input}</span> }.into_any());
    let last = last_words(entry).map(|last| view! { <span class="row-last" dir="auto">{last}</span> }.into_any());
    let select = is_selectable.then(|| {
        let tick = tick((FORM, "session"), session.id.to_string(), &title, false);
        view! { <td class="table-tick">{tick}</td> }
    });
    // Why a session failed says more than what it was given.
    let (first, second) = if session.error.is_some() { (last, input) } else { (input, last) };
    let status = columns.has(ListColumn::Status).then(|| cell(ListColumn::Status, entry, now, people));
    let others = columns.after_title().map(|column| cell(column, entry, now, people)).collect::<Vec<_>>();
    view! {
        <tr data-session-id=session.id.to_string() data-live=live>
            {select}
            {status}
            <td class="table-main">
                <a class="quiet" href=format!("/sessions/{}", session.id) dir="auto">{title}</a>
                <div class="row-sub table-words" data-status=session.status.as_str()>
                    {task.map(|task| view! { <span class="row-input" dir="auto">{task}</span> })}
                    {first}
                    {second}
                </div>
            </td>
            {others}
        </tr>
    }
}

/// The cell of a column. Words of the class `unit` are shown on a phone, where cells have no headings.
fn cell(column: ListColumn, entry: &SessionEntry, now: Timestamp, people: &People) -> InertElement {
    let session = &entry.session;
    match column {
        ListColumn::Status => static_html(view! { <td><StatusBadge status=session.status/></td> }),
        ListColumn::Agent => static_html(view! { <td class="meta table-text">{session.agent_slug.clone()}</td> }),
        ListColumn::Type => static_html(view! { <td class="meta">{type_word(session.session_type)}</td> }),
        ListColumn::Creator => {
            let name = people.word(&session.created_by);
            static_html(view! { <td class="meta table-text"><span class="unit">"by "</span><bdi>{name}</bdi></td> })
        }
        ListColumn::Created => static_html(view! { <td class="meta">{moment(session.created_at)}</td> }),
        ListColumn::Duration => {
            let lasted = duration_ms(session, now).map(duration::words).unwrap_or_default();
            static_html(view! { <td class="meta table-number">{lasted}</td> })
        }
        ListColumn::Activity => {
            let at = moment(session.updated_at);
            static_html(view! { <td class="meta"><span class="unit">"active "</span>{at}</td> })
        }
        ListColumn::Events => {
            let events = number::grouped(session.head_sequence);
            static_html(view! { <td class="meta table-number">{events}<span class="unit">" events"</span></td> })
        }
        ListColumn::Tokens => static_html(view! { <td class="meta table-number">{token_words(session)}</td> }),
        ListColumn::Cost => static_html(view! { <td class="meta table-number">{cost_words(session)}</td> }),
        ListColumn::Tags => static_html(view! { <td class="meta table-text">{tag_links(&session.tags)}</td> }),
        ListColumn::Assignee => {
            let name = session.assignee_id.map(|id| people.word(&format!("user:{id}")));
            let name = name.map(|name| view! { <span class="unit">"for "</span><bdi>{name}</bdi> });
            static_html(view! { <td class="meta table-text">{name}</td> })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture;

    fn table_of(columns: &str, sort: Sort) -> String {
        let filter = Filter { sort, ..Filter::default() };
        let people = People([("user:u".to_owned(), "<b>Ada</b>".to_owned())].into());
        let entries = [SessionEntry::new(fixture::session())];
        let now = entries[0].session.created_at;
        let columns = Columns::parse(Some(columns));
        to_html(list_table(
            &entries,
            now,
            &filter,
            RowLook { columns: &columns, people: &people, is_selectable: false },
        ))
    }

    #[test]
    fn the_table_has_the_chosen_columns_and_its_rows_are_renewed_with_them() {
        let html = table_of("title.compact.creator.cost", Sort::Newest);
        assert_eq!((html.matches("<th ").count(), html.matches("<td ").count()), (3, 3), "{html}");
        for part in [
            "data-density=\"compact\" data-rows=\"/sessions/rows?columns=title.compact.creator.cost&amp;ids=\"",
            "<bdi>&lt;b&gt;Ada&lt;/b&gt;</bdi>",
            "href=\"/sessions?sort=cost\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("aria-sort"), "the column that it is sorted by is not shown");
    }

    #[test]
    fn tags_lead_to_their_sessions_and_the_assignee_is_named() {
        let mut session = fixture::session();
        session.tags = vec!["acme".into(), "billing".into()];
        session.assignee_id = Some("0193b0a0-0000-7000-8000-000000000001".parse().unwrap());
        let people = People([("user:0193b0a0-0000-7000-8000-000000000001".to_owned(), "<b>Ada</b>".to_owned())].into());
        let columns = Columns::parse(Some("tags.assignee"));
        let look = RowLook { columns: &columns, people: &people, is_selectable: false };
        let now = session.created_at;
        let html = to_html(row(&SessionEntry::new(session), now, look));
        for part in ["href=\"/sessions?q=tag%3Aacme\">acme<", ">billing<", "<bdi>&lt;b&gt;Ada&lt;/b&gt;</bdi>"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let without = to_html(row(&SessionEntry::new(fixture::session()), now, look));
        assert!(!without.contains("<bdi>") && !without.contains("tag%3A"), "{without}");
    }

    #[test]
    fn the_heading_of_the_order_says_so_and_leads_back() {
        let html = table_of("title.created.duration", Sort::Duration);
        assert_eq!(html.matches("aria-sort=\"descending\"").count(), 1, "{html}");
        let heading = "aria-sort=\"descending\" class=\"table-number\"><a href=\"/sessions\" class=\"quiet\">Duration<";
        assert!(html.contains(heading), "{html}");
        assert!(table_of("title.created", Sort::Oldest).contains("aria-sort=\"ascending\""));
    }
}
