//! A session as a table row. The same row is rendered as a fragment after a change.

use super::{
    bulk_bar::{FORM, tick},
    filter::type_word,
    view_model::{SessionEntry, cost_words, input_words, is_live, last_words, task},
};
use crate::{
    render::{static_html, to_html},
    session::{duration_ms, row_title},
    shell::Shell,
    text::{duration, number},
    ui::{
        badge::StatusBadge,
        table::{Column, Table},
        time::moment,
    },
};
use domain::Timestamp;
use leptos::{prelude::*, tachys::html::InertElement};

/// Rows as `<tr>` elements, in any order; the browser replaces them by id. Those of a list in which sessions are
/// selected have a check box.
pub fn rows_fragment(shell: &Shell, entries: &[SessionEntry], is_selectable: bool) -> String {
    entries.iter().map(|entry| to_html(row(entry, shell.now, is_selectable))).collect()
}

/// A table with one row for each session, in the order of `entries`.
pub fn session_table(entries: &[SessionEntry], now: Timestamp, caption: &'static str) -> impl IntoView + use<> {
    table(entries, now, caption, false)
}

/// The same with a check box in each row.
pub fn selectable_table(entries: &[SessionEntry], now: Timestamp, caption: &'static str) -> impl IntoView + use<> {
    table(entries, now, caption, true)
}

fn table(
    entries: &[SessionEntry],
    now: Timestamp,
    caption: &'static str,
    is_selectable: bool,
) -> impl IntoView + use<> {
    let rows: String = entries.iter().map(|entry| to_html(row(entry, now, is_selectable))).collect();
    let mut columns = if is_selectable { vec![Column::hidden("Select")] } else { Vec::new() };
    columns.extend([
        Column::text("Status"),
        Column::text("Title"),
        Column::text("Agent"),
        Column::text("Type"),
        Column::text("Created"),
        Column::number("Duration"),
        Column::number("Events"),
        Column::number("Cost"),
    ]);
    static_html(view! {
        <Table caption=caption columns=columns>{InertElement::new(rows)}</Table>
    })
}

fn row(entry: &SessionEntry, now: Timestamp, is_selectable: bool) -> impl IntoView + use<> {
    let session = &entry.session;
    let lasted = duration_ms(session, now).map(duration::words).unwrap_or_default();
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
    view! {
        <tr data-session-id=session.id.to_string() data-live=live>
            {select}
            <td><StatusBadge status=session.status/></td>
            <td class="table-main">
                <a class="quiet" href=format!("/sessions/{}", session.id) dir="auto">{title}</a>
                <div class="row-sub table-words" data-status=session.status.as_str()>
                    {task.map(|task| view! { <span class="row-input" dir="auto">{task}</span> })}
                    {first}
                    {second}
                </div>
            </td>
            <td class="meta table-text">{session.agent_slug.clone()}</td>
            <td class="meta">{type_word(session.session_type)}</td>
            <td class="meta">{moment(session.created_at)}</td>
            <td class="meta table-number">{lasted}</td>
            <td class="meta table-number">{number::grouped(session.head_sequence)}<span class="unit">" events"</span></td>
            <td class="meta table-number">{cost_words(session)}</td>
        </tr>
    }
}
