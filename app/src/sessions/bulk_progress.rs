//! The page between two parts of a change of many sessions: how far it is, and the form that sends the next part.

use super::bulk::PATH;
use crate::{
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::{counted, grouped},
    ui::{
        button::{Button, ButtonLink},
        page_head::PageHead,
    },
};
use leptos::{prelude::*, tachys::html::InertElement};

/// Data of the page.
#[derive(Debug, Clone)]
pub struct BulkProgressProps {
    /// Fields of the form that sends the next part.
    pub fields: Vec<(String, String)>,
    /// Number of sessions so far.
    pub done: u64,
    /// Number of all sessions of the change.
    pub total: u64,
    /// Address of the page that shows what happened so far.
    pub stop: String,
    /// Address of the script that sends the form; empty if the site was not built.
    pub script: String,
}

/// Renders the page.
pub fn bulk_progress_page(shell: &Shell, props: &BulkProgressProps) -> String {
    render(shell, "Sessions are being changed", || {
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned())];
        let script = (!props.script.is_empty()).then(|| {
            view! { <script type="module" nonce=shell.nonce.clone() src=props.script.clone()></script> }
        });
        let page = view! { <PageHead title="Sessions are being changed" crumbs=crumbs/>{content(props)}{script} };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn content(props: &BulkProgressProps) -> InertElement {
    let words = format!("{} of {}.", grouped(props.done), counted(props.total, "session"));
    let fields = props.fields.iter().cloned();
    let fields = fields.map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
    let fields = fields.collect::<Vec<_>>();
    static_html(view! {
        <p role="status">
            <progress max=props.total.to_string() value=props.done.to_string() aria-label="Sessions"></progress>
            " "
            {words}
        </p>
        <p class="meta">"If you leave this page, the remaining sessions are not changed."</p>
        <form method="post" action=PATH data-continue="">
            {fields}
            <div class="form-actions">
                <Button>"Continue"</Button>
                <ButtonLink href=props.stop.clone()>"Stop here"</ButtonLink>
            </div>
        </form>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn the_page_says_how_far_it_is_and_sends_what_is_left() {
        let fields = (0..3).map(|number| ("session".to_owned(), number.to_string())).collect();
        let (stop, script) = ("/sessions/bulk?verb=cancel".to_owned(), String::new());
        let html = to_html(content(&BulkProgressProps { fields, done: 50, total: 1_200, stop, script }));
        for part in ["50 of 1,200 sessions.", "data-continue", "Continue", "Stop here", "max=\"1200\" value=\"50\""] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches("name=\"session\"").count(), 3, "{html}");
    }
}
