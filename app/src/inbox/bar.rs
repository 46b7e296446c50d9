//! The action bar of an item: what the viewer can do with it. Plain forms; keyboard shortcuts click their buttons.

use super::{list::SNOOZES, question::ANSWER, undo_notice::seconds_left};
use crate::{
    FormState,
    ui::{
        field::{Field, textarea},
        time::clock,
    },
};
use domain::{
    Timestamp,
    gate::{GateKind, GateState, Verdict},
};
use leptos::prelude::*;
use wire::approval::{Approval, ApprovalDetail};

/// The action bar of an item. Undo is offered only to the person who decided.
pub fn bar(
    item: &ApprovalDetail,
    next: Option<&str>,
    (now, by_viewer): (Timestamp, bool),
    form: &FormState,
) -> impl IntoView + use<> {
    let approval = &item.approval;
    if approval.state == GateState::Held && by_viewer {
        return held(approval, now).into_any();
    }
    if approval.state != GateState::Open {
        return ().into_any();
    }
    let snooze = snooze(approval, next, form).into_any();
    if !approval.may_decide {
        return view! { {snooze} }.into_any();
    }
    let approve = approval.kind.takes(Verdict::Approve).then(|| {
        view! {
            <button class="button" type="submit" form="gate-form" name="decision" value="approve" data-look="primary" data-key="approve" title="Approve, with your changes (a or Ctrl Enter)">
                "Approve"
            </button>
        }
    });
    let first = super::values::rows(item).first().map(|row| format!("#gate-{}", row.name));
    let edit = first.filter(|_| approval.kind.takes(Verdict::Edit)).map(|href| {
        view! { <a class="button" href=href data-key="edit" title="Edit the values (e)">"Edit"</a> }
    });
    let respond = approval.kind.takes(Verdict::Respond).then(|| respond(item, next, &form.of("respond")));
    let deny = deny(approval, next, &form.of("deny"));
    view! { {approve}{edit}{respond}{deny}{snooze} }.into_any()
}

fn hidden_fields(approval: &Approval, next: Option<&str>) -> impl IntoView + use<> {
    let next = next.map(str::to_owned);
    view! {
        <input type="hidden" name="digest" value=approval.digest.clone()/>
        {next.map(|next| view! { <input type="hidden" name="next" value=next/> })}
    }
}

/// A button that opens a small form of its own.
fn sheet_button(
    action: String,
    key: &'static str,
    (label, title): (&'static str, &'static str),
    decides: bool,
    open: bool,
    inner: impl IntoView,
) -> impl IntoView {
    view! {
        <details class="gate-more" name="gate-more" open=open data-decides=decides.then_some("")>
            <summary class="button" data-key=key title=title>{label}</summary>
            <form class="gate-sheet" method="post" action=action>{inner}</form>
        </details>
    }
}

fn deny(approval: &Approval, next: Option<&str>, form: &FormState) -> impl IntoView + use<> {
    let is_output = matches!(approval.kind, GateKind::Output | GateKind::Fields);
    let hint = match approval.kind {
        GateKind::Output | GateKind::Fields => "The agent receives your reason and tries again.",
        GateKind::Tool => "The agent receives your reason instead of the tool's result. The tool does not run.",
        GateKind::Question => "The agent is told that you will not answer, and why.",
    };
    let field = Field { name: "note", label: "Reason", hint, required: is_output };
    let inner = view! {
        {hidden_fields(approval, next)}
        {textarea("deny", field, false, "", form)}
        <button class="button" type="submit" data-look="danger" name="decision" value="deny" title="Deny (Ctrl Enter)">"Deny"</button>
    };
    let title = ("Deny…", "Deny, with a reason (r)");
    sheet_button(format!("/inbox/{}/decision", approval.id), "deny", title, true, form.is_refused(), inner)
}

/// Answers a tool call instead of running the tool. A question's answer is part of the item itself, so the bar links
/// to it.
fn respond(item: &ApprovalDetail, next: Option<&str>, form: &FormState) -> AnyView {
    let approval = &item.approval;
    if approval.kind == GateKind::Question {
        return view! { <a class="button" data-look="primary" href="#gate-form" data-key="respond" title="Answer (i)">"Answer"</a> }
            .into_any();
    }
    let hint = "The agent receives your answer as the tool's result. The tool does not run.";
    let field = Field::new(ANSWER, "Answer").hint(hint).required();
    let inner = view! {
        {hidden_fields(approval, next)}
        {textarea("respond", field, false, "", form)}
        <button class="button" type="submit" data-look="primary" name="decision" value="respond" title="Answer (Ctrl Enter)">"Answer"</button>
    };
    let title = ("Answer…", "Answer instead of the tool (i)");
    sheet_button(format!("/inbox/{}/decision", approval.id), "respond", title, true, form.is_refused(), inner)
        .into_any()
}

fn snooze(approval: &Approval, next: Option<&str>, form: &FormState) -> impl IntoView + use<> {
    let action = format!("/inbox/{}/snooze", approval.id);
    if approval.snoozed_until.is_some() {
        return view! {
            <form method="post" action=action>
                <button class="button" type="submit" data-key="snooze" title="Move back to the list (h)">"Unsnooze"</button>
            </form>
        }
        .into_any();
    }
    let choices = SNOOZES.map(|(seconds, words)| {
        view! { <button class="button" type="submit" name="seconds" value=seconds.to_string()>{words}</button> }
    });
    let inner = view! { {hidden_fields(approval, next)}{choices} };
    sheet_button(action, "snooze", ("Snooze…", "Snooze (h)"), false, form.of("snooze").is_refused(), inner).into_any()
}

fn held(approval: &Approval, now: Timestamp) -> impl IntoView + use<> {
    let until = approval.held_until.map(|at| view! { <span data-count>" until "{clock(at)}" UTC"</span> });
    let left = approval.held_until.map(|at| seconds_left(at, now));
    view! {
        <form method="post" action="/inbox/undo" data-left=left>
            <input type="hidden" name=format!("item.{}", approval.id) value=approval.digest.clone()/>
            <button class="button" type="submit" data-key="undo" title="Undo (z)">"Undo"{until}</button>
        </form>
    }
}
