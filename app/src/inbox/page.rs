//! The pages /inbox and /inbox/{id}.

use super::{
    content::Content,
    decided::decided_form,
    detail::{Detail, detail_view},
    island::LiveInbox,
    list::{ItemFilter, List},
    list_content::content,
    search::{chips_of, search_form},
    selection::selection,
};
use crate::{
    document::render,
    render::{static_html, to_html},
    shell::{RailEntry, Shell, frame},
    text::number::grouped,
    ui::{
        button::{ButtonLink, Look},
        page_head::PageHead,
        tabs::{Tab, Tabs},
    },
};
use leptos::prelude::*;

/// Data of the inbox page.
#[derive(Debug, Clone)]
pub struct Props {
    /// The list of items.
    pub list: List,
    /// The item shown beside the list; absent if the list is empty.
    pub detail: Option<Detail>,
    /// Whether the address is /inbox/{id}. A narrow screen then shows the item, else the list.
    pub opened: bool,
}

/// The tab that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    /// A list of items, of all reviewers or only of the viewer.
    Items(ItemFilter, bool),
    /// The suggestions for canvases.
    Patches,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Inbox", || {
        let Props { list, detail, opened } = props;
        let detail = match (selection(&list), &detail) {
            (Some(selection), _) => selection,
            (None, Some(detail)) => to_html(detail_view(detail)),
            (None, None) if list.items.is_empty() && list.questions.is_empty() => String::new(),
            (None, None) => to_html(view! { <p class="inbox-nothing meta">"Select an item to see it here."</p> }),
        };
        provide_context(Content { query: list.query(), is_opened: opened, detail, ..content(&list) });
        let tabs = static_html(tabs(Here::Items(list.filter, list.everyone), list.patches));
        let page = view! {
            <PageHead title="Inbox">{tabs}<ButtonLink href="/rules" look=Look::Quiet small=true>"Rules"</ButtonLink></PageHead>
            {search_form(&list)}
            {decided_form(&list)}
            {chips_of(&list)}
            <LiveInbox/>
        };
        frame(shell, RailEntry::Inbox, page)
    })
}

/// The views of the inbox. `patches` is the number of suggestions for canvases that wait for the viewer.
pub(super) fn tabs(here: Here, patches: u64) -> impl IntoView + use<> {
    let tab = move |label: &'static str, to: ItemFilter, all: bool| {
        let all_of = if all { "&assignedTo=all" } else { "" };
        let href = format!("/inbox?state={}{all_of}", to.as_str());
        Tab::new(label, href, here == Here::Items(to, all))
    };
    let suggested = match patches {
        0 => "Suggested changes".to_owned(),
        some => format!("Suggested changes ({})", grouped(some)),
    };
    let tabs = vec![
        tab("Waiting for me", ItemFilter::Open, false),
        tab("Everyone’s", ItemFilter::Open, true),
        tab("Snoozed", ItemFilter::Snoozed, false),
        tab("Decided", ItemFilter::Settled, true),
        Tab::new(suggested, "/inbox/patches", here == Here::Patches),
    ];
    view! { <Tabs label="Which items" tabs=tabs/> }
}
