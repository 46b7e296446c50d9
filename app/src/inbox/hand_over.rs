//! Handing an item over: the page with the form, and what an item shows of it.

use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    ui::{
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, GroupedSelect, TextArea},
        notice::Refused,
        page_head::PageHead,
        time::moment,
    },
};
use domain::{gate::GateState, limit::REASON_CHARS_MAX};
use leptos::prelude::*;
use wire::approval::{Approval, ApprovalDetail};

/// What happens to the list of the person who hands an item over.
const LEAVES: &str = "The item leaves your list for a week, or until an hour before it expires. You and the other \
     reviewers may still decide it.";

/// Data of the page /inbox/{id}/hand-over.
#[derive(Debug, Clone)]
pub struct HandOverProps {
    /// The approval that is handed over.
    pub item: Approval,
    /// People who can be asked: `user:…` and name.
    pub people: Vec<(String, String)>,
    /// Groups that can be asked: `group:…` and name.
    pub groups: Vec<(String, String)>,
    /// State of the form.
    pub form: FormState,
}

/// Renders the page.
pub fn hand_over_page(shell: &Shell, props: &HandOverProps) -> String {
    render(shell, "Hand over", || {
        let href = format!("/inbox/{}", props.item.id);
        let crumbs = vec![("Inbox".to_owned(), "/inbox".to_owned()), (props.item.title.clone(), href)];
        let page = view! {
            <PageHead title="Hand over" crumbs=crumbs/>
            {static_html(content(props))}
        };
        frame(shell, RailEntry::Inbox, page)
    })
}

fn content(props: &HandOverProps) -> impl IntoView + use<> {
    let back = format!("/inbox/{}", props.item.id);
    if props.people.is_empty() && props.groups.is_empty() {
        let sentence = "No one else may see and decide this item.";
        return view! { <Empty sentence=sentence link=Some(("Back to the item", back))/> }.into_any();
    }
    let form = &props.form;
    let to = Field::new("to", "To").hint("They may decide the item from now on, and get a message.").required();
    let action = format!("{back}/hand-over");
    let note = Field::new("note", "Note").hint("They see it at the item. It is in the log of the session.");
    let groups = vec![("People", props.people.clone()), ("Groups", props.groups.clone())];
    view! {
        <p>{LEAVES}</p>
        <form class="form" method="post" action=action>
            <Refused messages=form.general(&["to", "note"])/>
            <GroupedSelect scope="hand-over" field=to groups=groups form=form/>
            <TextArea scope="hand-over" field=note chars_max=REASON_CHARS_MAX form=form/>
            <div class="form-actions">
                <Button look=Look::Primary>"Hand over"</Button>
                <ButtonLink look=Look::Quiet href=back>"Cancel"</ButtonLink>
            </div>
        </form>
    }
    .into_any()
}

/// How an item was handed over, and a link to hand it over if the viewer may.
pub fn handovers(item: &ApprovalDetail, goes_on: bool) -> impl IntoView + use<> {
    let approval = &item.approval;
    let may = approval.may_decide && approval.state == GateState::Open && !goes_on;
    let link = may.then(|| {
        let href = format!("/inbox/{}/hand-over", approval.id);
        // In a sentence, because the bar below can cover a part of a button here.
        view! { <p class="meta">"Someone else knows better? "<a href=href data-key="hand-over" title="Hand over (m)">"Hand over…"</a></p> }
    });
    let lines = item.handovers.iter().map(|handover| {
        let note = handover.note.clone().map(|note| view! { <span dir="auto">{note}</span> });
        let who = format!("{} to {}, ", handover.by, handover.to);
        view! { <li>{note}<span class="meta">{who}{moment(handover.at)}</span></li> }
    });
    let lines = lines.collect::<Vec<_>>();
    let list = (!lines.is_empty()).then(|| view! { <h3>"Handed over"</h3><ol class="gate-history">{lines}</ol> });
    (list, link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        inbox::fixture::{detail, tool},
        render::to_html,
    };
    use serde_json::json;
    use wire::approval::Handover;

    #[test]
    fn an_item_says_who_handed_it_to_whom_and_offers_it_only_to_those_who_may_decide() {
        let mut item = detail(tool(1, json!({"to": "x"})));
        let offers =
            |item: &ApprovalDetail, goes_on: bool| to_html(handovers(item, goes_on)).contains("data-key=\"hand-over\"");
        assert!(offers(&item, false) && !offers(&item, true));
        item.approval.may_decide = false;
        item.handovers.push(Handover {
            by: "ann@acme.test".into(),
            to: "Legal".into(),
            note: Some("Is <this> right?".into()),
            at: item.approval.opened_at,
        });
        let html = to_html(handovers(&item, false));
        assert!(!offers(&item, false) && html.contains("ann@acme.test to Legal, "), "{html}");
        assert!(html.contains("Is &lt;this&gt; right?"), "{html}");
    }
}
