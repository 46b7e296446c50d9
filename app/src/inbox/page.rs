//! The pages /inbox and /inbox/{id}.

use super::{
    content::Content,
    decided::decided_form,
    detail::{Detail, detail_view},
    island::LiveInbox,
    list::{ItemFilter, List},
    list_content::content,
    selection::selection,
};
use crate::{
    document::render,
    render::{static_html, to_html},
    shell::{RailEntry, Shell, frame},
    ui::{
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
        let tabs = static_html(tabs(&list));
        let page = view! {
            <PageHead title="Inbox">{tabs}<a class="quiet" href="/rules">"Rules"</a></PageHead>
            {decided_form(&list)}
            <LiveInbox/>
        };
        frame(shell, RailEntry::Inbox, page)
    })
}

fn tabs(list: &List) -> impl IntoView + use<> {
    let (filter, everyone) = (list.filter, list.everyone);
    let tab = move |label: &'static str, to: ItemFilter, all: bool| {
        let all_of = if all { "&assignedTo=all" } else { "" };
        let is_on = (filter, everyone) == (to, all);
        let href = format!("/inbox?state={}{all_of}", to.as_str());
        Tab::new(label, href, is_on)
    };
    let tabs = vec![
        tab("Waiting for me", ItemFilter::Open, false),
        tab("Everyone’s", ItemFilter::Open, true),
        tab("Snoozed", ItemFilter::Snoozed, false),
        tab("Decided", ItemFilter::Settled, true),
    ];
    view! { <Tabs label="Which items" tabs=tabs/> }
}
