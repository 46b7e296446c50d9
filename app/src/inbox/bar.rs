//! The action bar of an item: what the viewer can do with it. Plain forms; keyboard shortcuts click their buttons.

use super::{
    answer_form::{ANSWER, AnswerForm},
    api::{Decide, SnoozeItems, UndoDecisions, item_field},
    snooze::snooze_fields,
    undo_offer::seconds_left,
};
use crate::{
    FormState,
    server_function::page_fields,
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, TextArea},
        popover::{Opens, Popover},
        time::clock,
    },
};
use domain::{
    Timestamp,
    gate::{GateKind, GateState, MEMORY_BASE, Verdict},
};
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::approval::{Approval, ApprovalDetail};

/// What the button of a decision that takes effect at once says after the first press.
const AT_ONCE: &str = "Press again: this cannot be undone";
/// Popovers of the bar close each other.
const GROUP: &str = "gate-more";

/// What the bar shows depends on.
pub struct BarContext<'a> {
    /// The server's clock (UTC).
    pub now: Timestamp,
    /// IANA name of the reader's time zone.
    pub timezone: &'a str,
    /// Whether the viewer decided it.
    pub by_viewer: bool,
    /// Whether its agent keeps working. Then it cannot be snoozed.
    pub goes_on: bool,
}

/// The action bar of an item. Undo is offered only to the person who decided.
pub fn bar(
    item: &ApprovalDetail,
    next: Option<&str>,
    context: &BarContext<'_>,
    form: &FormState,
) -> impl IntoView + use<> {
    let approval = &item.approval;
    let BarContext { now, timezone, by_viewer, goes_on } = *context;
    if approval.state == GateState::Held && by_viewer {
        return held(approval, now).into_any();
    }
    if approval.state != GateState::Open {
        return ().into_any();
    }
    let snooze = (!goes_on).then(|| snooze(approval, next, timezone, form)).into_any();
    if !approval.may_decide {
        return view! { {snooze} }.into_any();
    }
    let confirm = confirm(item);
    let approve = approval.kind.takes(Verdict::Approve).then(|| {
        view! {
            <Button attr:form="gate-form" name="decision" value="approve" look=Look::Primary attr:data-key="approve" attr:data-shortcut="a" attr:data-confirm=confirm.clone() title="Approve, with your changes (a or Ctrl Enter)">"Approve"</Button>
        }
    });
    let rows = super::values::rows(item);
    let first = rows.iter().find(|row| row.key != MEMORY_BASE).map(|row| format!("#gate-{}", row.name));
    let edit = first.filter(|_| approval.kind.takes(Verdict::Edit)).map(|href| {
        view! { <ButtonLink href=href attr:data-key="edit" attr:data-shortcut="e" title="Edit the values (e)">"Edit"</ButtonLink> }
    });
    let respond = approval.kind.takes(Verdict::Respond).then(|| respond(item, next, &form.of("respond")));
    let deny = deny(item, next, &form.of("deny"));
    view! { {approve}{edit}{respond}{deny}{snooze} }.into_any()
}

/// What a button says that needs a second press, because its decision cannot be undone.
pub fn confirm(item: &ApprovalDetail) -> Option<String> {
    (item.undo_seconds == 0).then(|| AT_ONCE.to_owned())
}

/// The hidden fields of a form that decides an item. `next` is the id of the item to open afterwards.
pub fn form_fields(approval: &Approval, next: Option<&str>) -> impl IntoView + use<> {
    view! {
        <input type="hidden" name="id" value=approval.id.to_string()/>
        <input type="hidden" name="digest" value=approval.digest.clone()/>
        {pages(approval, next, "decided")}
    }
}

/// The pages that a form leads to: the next item, or this one if the function is refused.
fn pages(approval: &Approval, next: Option<&str>, notice: &'static str) -> impl IntoView + use<> {
    let next = next.map_or_else(String::new, |next| format!("/{next}"));
    page_fields(format!("/inbox{next}?notice={notice}"), format!("/inbox/{}", approval.id))
}

/// Names an item in a form that can name several.
fn item(approval: &Approval) -> impl IntoView + use<> {
    view! { <input type="hidden" name=item_field(&approval.id.to_string()) value=approval.digest.clone()/> }
}

fn deny(item: &ApprovalDetail, next: Option<&str>, form: &FormState) -> impl IntoView + use<> {
    let (approval, confirm) = (&item.approval, confirm(item));
    let is_question = approval.kind == GateKind::Question;
    let is_output = matches!(approval.kind, GateKind::Output | GateKind::Fields | GateKind::Memory);
    let hint = match approval.kind {
        GateKind::Output | GateKind::Fields => "The agent receives your reason and tries again.",
        GateKind::Tool => "The agent receives your reason instead of the tool's result. The tool does not run.",
        GateKind::Memory => "The lines are not written, and the memory writer does not propose them again.",
        GateKind::Question => "The agent is told that you will not answer, and why.",
    };
    let field = Field { name: "note", label: "Reason", hint, required: is_output };
    let close = is_question.then(|| {
        view! {
            <Button name="decision" value="cancel" attr:data-confirm=AT_ONCE title="The agent goes on without an answer, at once">
                "Close without an answer"
            </Button>
        }
    });
    view! {
        <Popover label=if is_question { "Refuse to answer…" } else { "Deny…" } title="Deny, with a reason (r)" shortcut="deny" group=GROUP opens=Opens::AboveBar decides=true open=form.is_refused() action=Decide::PATH>
            {form_fields(approval, next)}
            <TextArea scope="deny" field=field form=form/>
            <Button look=Look::Danger name="decision" value="deny" attr:data-confirm=confirm title="Deny (Ctrl Enter)">
                {if is_question { "Refuse to answer" } else { "Deny" }}
            </Button>
            {close}
        </Popover>
    }
}

/// Answers a tool call instead of running the tool. The answer to a question is a form of the item itself, which has
/// the primary button, so the bar has only a link to its first field, for the key.
fn respond(item: &ApprovalDetail, next: Option<&str>, form: &FormState) -> AnyView {
    let approval = &item.approval;
    if approval.kind == GateKind::Question {
        let first = AnswerForm::of(approval).first_control();
        return view! { <a class="hidden-text" tabindex="-1" href=format!("#{first}") data-key="respond">"Go to the answer"</a> }
            .into_any();
    }
    let hint = "The agent receives your answer as the tool's result. The tool does not run.";
    let field = Field::new(ANSWER, "Answer").hint(hint).required();
    view! {
        <Popover label="Answer…" title="Answer instead of the tool (i)" shortcut="respond" group=GROUP opens=Opens::AboveBar decides=true open=form.is_refused() action=Decide::PATH>
            {form_fields(approval, next)}
            <TextArea scope="respond" field=field form=form/>
            <Button look=Look::Primary name="decision" value="respond" attr:data-confirm=confirm(item) title="Answer (Ctrl Enter)">"Answer"</Button>
        </Popover>
    }
    .into_any()
}

fn snooze(approval: &Approval, next: Option<&str>, timezone: &str, form: &FormState) -> impl IntoView + use<> {
    if approval.snoozed_until.is_some() {
        return view! {
            <form method="post" action=SnoozeItems::PATH>
                {item(approval)}
                {pages(approval, None, "unsnoozed")}
                <Button attr:data-key="snooze" attr:data-shortcut="h" title="Move back to the list (h)">"Unsnooze"</Button>
            </form>
        }
        .into_any();
    }
    let form = form.of("snooze");
    let fields = snooze_fields(timezone, approval.due_at.is_some(), &form, None);
    view! {
        <Popover label="Snooze…" title="Snooze (h)" shortcut="snooze" group=GROUP opens=Opens::AboveBar open=form.is_refused() action=SnoozeItems::PATH>
            // Enter presses the first button of a form, and in the field it means the time that is typed there.
            <input type="submit" name="until" value="at" hidden=true/>
            {item(approval)}
            {pages(approval, next, "snoozed")}
            {fields}
        </Popover>
    }
    .into_any()
}

fn held(approval: &Approval, now: Timestamp) -> impl IntoView + use<> {
    let until = approval.held_until.map(|at| view! { <span data-count>" until "{clock(at)}" UTC"</span> });
    let left = approval.held_until.map(|at| seconds_left(at, now).to_string());
    view! {
        <form method="post" action=UndoDecisions::PATH data-left=left>
            {item(approval)}
            <input type="hidden" name="next" value="/inbox?notice=decision_undone"/>
            <Button attr:data-key="undo" attr:data-shortcut="z" title="Undo (z)">"Undo"{until}</Button>
        </form>
    }
}
