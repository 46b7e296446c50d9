//! Why an item cannot be decided, or what was decided.

use super::item_text::decision_word;
use crate::ui::{
    icon::{Icon, icon},
    notice::{Notice, Tone},
    time::stamp,
};
use domain::gate::{GateKind, GateState, Verdict};
use leptos::prelude::*;
use wire::approval::{Approval, Decision};

/// Why the item cannot be decided, or what was decided.
pub fn state(approval: &Approval) -> impl IntoView + use<> {
    let decided = |word: &'static str, decision: &Decision| {
        let note = decision.note.clone().map(|note| view! { <p class="gate-note" dir="auto">{note}</p> });
        view! { <p>{format!("{word} by {}, ", decision.email)}{stamp(decision.at)}</p>{note} }
    };
    let line = |tone: Tone, body: AnyView| view! { <Notice tone=tone>{body}</Notice> }.into_any();
    let sentence = |text: &str| view! { <p>{text.to_owned()}</p> }.into_any();
    match (approval.state, &approval.decision) {
        (GateState::Held | GateState::Settled, Some(decision)) if decision.decision == Some(Verdict::Deny) => {
            Some(denied(decided(capital(decision_word(decision)), decision).into_any()).into_any())
        }
        (GateState::Held | GateState::Settled, Some(decision)) => {
            Some(line(Tone::Good, decided(capital(decision_word(decision)), decision).into_any()))
        }
        (GateState::Held | GateState::Settled, None) if approval.kind == GateKind::Question => {
            Some(line(Tone::Good, sentence("This question has an answer.")))
        }
        (GateState::Held | GateState::Settled, None) => Some(line(Tone::Good, sentence("Decision recorded."))),
        (GateState::Expired, _) => Some(line(Tone::Wait, sentence("No one decided in time, so this item expired."))),
        (GateState::Withdrawn, _) => Some(line(Tone::Wait, sentence("The session ended before anyone decided."))),
        (GateState::Open, _) if !approval.may_decide => {
            let why = approval.may_not_decide_because.as_deref().unwrap_or("Only other people can decide this.");
            Some(line(Tone::Wait, sentence(why)))
        }
        (GateState::Open, _) if approval.approved_by_caller => {
            Some(line(Tone::Wait, sentence("You approved this. It takes effect when others have approved it too.")))
        }
        (GateState::Open, _) => approval
            .snoozed_until
            .map(|at| line(Tone::Wait, view! { <p>"Snoozed until "{stamp(at)}"."</p> }.into_any())),
    }
}

/// A decision against the proposal. Nothing failed, so screen readers are not interrupted.
fn denied(body: AnyView) -> impl IntoView {
    view! {
        <div class="notice" data-tone=Tone::Bad.as_str() role="status">
            {icon(Icon::Close)}
            <div class="notice-body">{body}</div>
        </div>
    }
}

fn capital(word: &'static str) -> &'static str {
    match word {
        "approved" => "Approved",
        "approved with changes" => "Approved with changes",
        "denied" => "Denied",
        "answered" => "Answered",
        other => other,
    }
}
