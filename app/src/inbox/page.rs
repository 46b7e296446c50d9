//! The pages /inbox and /inbox/{id}.

use super::{
    content::Content,
    detail::{Detail, detail_view},
    island::LiveInbox,
    list::{List, Shown},
    list_content::content,
};
use crate::{
    document::render,
    render::{static_html, to_html},
    shell::{RailEntry, Shell, frame},
    text::escape,
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
            Some(detail) => to_html(detail_view(detail)),
            None => to_html(view! { <p class="inbox-nothing meta">"Select an item to see it here."</p> }),
        };
        provide_context(Content { query: query(&list), is_opened: opened, detail, ..content(&list) });
        let tabs = static_html(tabs(&list));
        let page = view! {
            <PageHead title="Inbox">{tabs}</PageHead>
            <LiveInbox/>
        };
        frame(shell, RailEntry::Inbox, page)
    })
}

/// The query with which the island reads the list.
fn query(list: &List) -> String {
    let everyone = if list.everyone { "&assignedTo=all" } else { "" };
    let cursor = list.cursor.as_deref().map(|cursor| format!("&cursor={}", escape::query(cursor)));
    format!("state={}{everyone}{}", list.shown.as_str(), cursor.unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_again_from_where_its_page_begins() {
        let first = List { everyone: true, ..List::default() };
        assert_eq!(query(&first), "state=open&assignedTo=all");
        let later = List { cursor: Some("a+b/c=".to_owned()), ..List::default() };
        assert_eq!(query(&later), "state=open&cursor=a%2Bb%2Fc%3D");
    }
}
