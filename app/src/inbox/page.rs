//! The pages /inbox and /inbox/{id}.

use super::{
    detail::{Detail, detail_view},
    island::LiveInbox,
    list::{List, Shown, list_view},
};
use crate::{
    document::render,
    render::static_html,
    shell::{Place, Shell, frame},
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
        let detail = match &detail {
            Some(detail) => detail_view(detail).into_any(),
            None => view! { <p class="inbox-nothing meta">"Select an item to see it here."</p> }.into_any(),
        };
        let tabs = static_html(tabs(&list));
        let page = view! {
            <PageHead title="Inbox">{tabs}</PageHead>
            <LiveInbox query=query(&list)/>
            <div class="inbox" id="inbox" data-keys="inbox" data-opened=opened.then_some("")>
                {static_html(list_view(&list))}
                <section class="inbox-detail" id="inbox-detail" aria-label="Item">{static_html(detail)}</section>
            </div>
        };
        frame(shell, Place::Inbox, page)
    })
}

/// The query with which the island reads the list.
fn query(list: &List) -> String {
    format!("state={}{}", list.shown.as_str(), if list.everyone { "&assignedTo=all" } else { "" })
}

fn tabs(list: &List) -> impl IntoView + use<> {
    let (shown, everyone) = (list.shown, list.everyone);
    let tab = move |label: &'static str, to: Shown, all: bool| {
        let all_of = if all { "&assignedTo=all" } else { "" };
        let is_on = (shown, everyone) == (to, all);
        let href = format!("/inbox?state={}{all_of}", to.as_str());
        Tab::new(label, href, is_on)
    };
    let tabs = vec![
        tab("Waiting for me", Shown::Open, false),
        tab("Waiting for anyone", Shown::Open, true),
        tab("Snoozed", Shown::Snoozed, false),
        tab("Decided", Shown::Settled, true),
    ];
    view! { <Tabs label="Which items" tabs=tabs/> }
}
