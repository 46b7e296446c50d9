//! Sessions that wait for the viewer in a terminal: a coding agent asks there, and this page cannot answer.

use crate::{
    session::{one_line, row_title},
    sessions::SessionEntry,
    ui::time::since,
};
use leptos::prelude::*;

/// Longest text of the agent's last event, characters.
const LAST_EVENT_CHARS_MAX: usize = 140;

/// The section with these sessions; `None` if there are none.
pub fn terminal_sessions(entries: &[SessionEntry]) -> Option<impl IntoView + use<>> {
    let rows = entries.iter().map(row).collect::<Vec<_>>();
    (!rows.is_empty()).then(|| {
        view! {
            <section class="inbox-terminal" aria-labelledby="inbox-terminal-title">
                <h2 id="inbox-terminal-title">"Answer in your terminal"</h2>
                <p class="meta">"These agents ask in the terminal where they run, and can be answered only there."</p>
                <ul class="inbox-rows">{rows}</ul>
            </section>
        }
    })
}

fn row(entry: &SessionEntry) -> impl IntoView + use<> {
    let session = &entry.session;
    let last = entry.last_event.as_ref().map(|event| one_line(event, LAST_EVENT_CHARS_MAX));
    view! {
        <li class="inbox-row" data-row data-terminal>
            <span class="inbox-check"></span>
            <div class="inbox-row-body">
                <a class="row-title" href=format!("/sessions/{}", session.id) dir="auto">{row_title(session)}</a>
                <div class="inbox-about">
                    {last.map(|last| view! { <p class="inbox-summary" dir="auto">{last}</p> })}
                    {session.agent_slug.clone().map(|agent| view! { <span class="inbox-agent">{agent}</span> })}
                </div>
                <div class="row-sub"><span>{since(session.updated_at)}</span></div>
            </div>
        </li>
    }
}
