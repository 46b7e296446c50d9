//! The page /sessions/{id}/memories: the memories that the agent was given in a session, with their ratings and the
//! forms that rate them.

use crate::{
    document::render,
    render::static_html,
    session::row_title,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number::counted, shorten::one_line},
    ui::{
        button::{Button, Look},
        empty::Empty,
        notice::Refused,
        page_head::PageHead,
        pager::Pager,
        table::{Column, Table},
        time::moment,
    },
};
use leptos::prelude::*;
use wire::{relevance::SessionMemory, session::Session};

/// Longest text of a memory in a row, characters.
const TEXT_CHARS_MAX: usize = 300;

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// The session whose agent was given them.
    pub session: Session,
    /// The memories that the agent was given, each with its text if it is still known: the newest prompt first.
    pub memories: Vec<(SessionMemory, Option<String>)>,
    /// Whether the viewer may rate them.
    pub may_rate: bool,
    /// Whether these are those of the newest prompts.
    pub is_newest: bool,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Why a rating was refused.
    pub refusals: Vec<String>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Memories of a session", || {
        let Props { session, memories, may_rate, is_newest, next_cursor, refusals } = props;
        let href = format!("/sessions/{}", session.id);
        let path = format!("{href}/memories");
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned()), (row_title(&session), href)];
        let list = match memories.is_empty() {
            true => view! { <Empty sentence="The agent was given no memories."/> }.into_any(),
            false => table(&memories, may_rate.then_some(path.as_str())).into_any(),
        };
        let newest = (!is_newest).then(|| path.clone());
        let older = next_cursor.map(|cursor| format!("{path}?cursor={}", query(&cursor)));
        let page = view! {
            <PageHead title="Memories" crumbs=crumbs/>
            <p class="meta">"What the agent was given from its memory, and how useful it was: from -1 (harmful) to 1 (used)."</p>
            <Refused messages=refusals/>
            {static_html(list)}
            <Pager newest=newest older=older/>
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// The table of memories, with a form for each if they can be rated. The forms post `memory` and `value` to `action`.
fn table(memories: &[(SessionMemory, Option<String>)], action: Option<&str>) -> impl IntoView + use<> {
    let rows = memories.iter().map(|(memory, text)| row(memory, text.as_deref(), action)).collect::<Vec<_>>();
    let columns = vec![
        Column::text("Memory"),
        Column::text("Prompt"),
        Column::text("Used"),
        Column::text("Rating"),
        Column::hidden("Rate"),
    ];
    view! { <Table caption="Memories, those of the newest prompt first" columns=columns focusable=true>{rows}</Table> }
}

fn row(memory: &SessionMemory, text: Option<&str>, action: Option<&str>) -> impl IntoView + use<> {
    let shown = text.map_or_else(|| memory.id.clone(), |text| one_line(text, TEXT_CHARS_MAX));
    let used = if memory.use_hits == 0 { "not used".to_owned() } else { counted(memory.use_hits.into(), "time") };
    let rating = match memory.agent_relevance_score {
        Some(mean) => format!("{mean:.2}, {}", counted(memory.agent_feedback_count.into(), "rating")),
        None => "not rated".to_owned(),
    };
    let about = format!("memory {}", memory.id);
    let id = memory.id.clone();
    let rate = action.map(|action| {
        view! {
            <form method="post" action=action.to_owned()>
                <input type="hidden" name="memory" value=id/>
                <Button small=true name="value" value="1" look=Look::Quiet about=about.clone()>"Useful"</Button>
                <Button small=true name="value" value="-1" look=Look::Quiet about=about>"Harmful"</Button>
            </form>
        }
    });
    view! {
        <tr>
            <td class="table-main"><span dir="auto">{shown}</span></td>
            <td class="meta" data-label="Prompt">{moment(memory.at)}</td>
            <td class="meta" data-label="Used">{used}</td>
            <td class="meta" data-label="Rating">{rating}</td>
            <td class="table-number">{rate}</td>
        </tr>
    }
}
