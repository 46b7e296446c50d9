//! The page /rules/new without an item from which the rule would be made.

use super::list_page::{Suggested, suggestions};
use crate::{
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    ui::{empty::Empty, page_head::PageHead},
};
use leptos::prelude::*;

/// Renders the page: what a rule is made from, and what could be made now.
pub fn new_page(shell: &Shell, suggested: &[Suggested]) -> String {
    render(shell, "New rule", || {
        let crumbs = vec![("Rules".to_owned(), "/rules".to_owned())];
        let page = view! {
            <PageHead title="New rule" crumbs=crumbs/>
            {suggestions(suggested)}
            {static_html(made_from(suggested.is_empty()))}
        };
        frame(shell, RailEntry::Elsewhere, page)
    })
}

/// What a rule is made from.
fn made_from(is_nothing_suggested: bool) -> impl IntoView + use<> {
    if is_nothing_suggested {
        let sentence = "A rule is made from items that people have approved. It is offered here and in the inbox after 20 \
                        like approvals in 90 days without another decision. There are no such items now.";
        return view! { <Empty sentence=sentence link=Some(("Inbox", "/inbox".to_owned()))/> }.into_any();
    }
    let sentence = "A rule is made from items that people have approved. Choose what it approves. You see and change \
                    its conditions before it is created.";
    view! { <p class="meta">{sentence}</p> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn without_a_suggestion_the_page_says_when_there_is_one_and_leads_to_the_inbox() {
        let html = to_html(made_from(true));
        assert!(html.contains("after 20 like approvals") && html.contains("href=\"/inbox\""), "{html}");
        assert!(!to_html(made_from(false)).contains("no such items"));
    }
}
