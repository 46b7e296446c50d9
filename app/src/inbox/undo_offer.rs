//! What the viewer decided last and can still undo.

use super::{api::UndoOffer, item_text::subject};
use crate::{session::verdict_word, text::number, ui::time::clock};
use domain::Timestamp;
use wire::approval::Approval;

/// Decisions at most this far apart belong to one batch, milliseconds.
const BATCH_GAP_MS_MAX: i64 = 200;

/// Items of the latest batch: what Undo reverts.
fn last_batch(held: &[Approval]) -> Vec<&Approval> {
    let mut decided: Vec<(Timestamp, &Approval)> =
        held.iter().filter_map(|item| Some((item.decision.as_ref()?.at, item))).collect();
    decided.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut last = Vec::new();
    let mut before: Option<Timestamp> = None;
    for (at, item) in decided {
        if before.is_some_and(|before| (before - at).num_milliseconds() > BATCH_GAP_MS_MAX) {
            break;
        }
        before = Some(at);
        last.push(item);
    }
    last
}

/// Whole seconds until the decision takes effect, at least 0.
pub fn seconds_left(until: Timestamp, now: Timestamp) -> u32 {
    u32::try_from((until - now).num_seconds()).unwrap_or_default()
}

/// What Undo reverts; `None` if nothing can be undone. It holds the seconds that are left, so the browser's clock may
/// differ from the server's.
pub fn undo_offer(held: &[Approval], now: Timestamp) -> Option<UndoOffer> {
    let last = last_batch(held);
    let first = last.first()?;
    let until = last.iter().filter_map(|item| item.held_until).min()?;
    let word = first.decision.as_ref()?.decision.map_or("decided", verdict_word);
    let mut word = word.to_owned();
    if let Some(letter) = word.get_mut(..1) {
        letter.make_ascii_uppercase();
    }
    let title = match last.as_slice() {
        [one] => format!("{word}: {}", subject(one)),
        all => format!("{word}: {}", number::counted(all.len() as u64, "item")),
    };
    let items = last.iter().map(|item| item.id.to_string()).collect();
    Some(UndoOffer { title, items, seconds_left: seconds_left(until, now), until: clock(until) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        inbox::{
            content::Content,
            fixture::{output, person},
            store::Store,
            undo_notice::UndoNotice,
        },
        render::to_html,
    };
    use domain::gate::{GateState, Verdict};
    use leptos::prelude::*;
    use serde_json::json;
    use wire::approval::Decision;

    fn held(n: u32, millis: i64) -> Approval {
        let at = "2026-11-21T07:00:00Z".parse::<Timestamp>().unwrap() + chrono::TimeDelta::milliseconds(millis);
        let decision = Decision {
            number: 1,
            decision: Some(Verdict::Approve),
            undoes: None,
            user_id: Some(person(1)),
            email: "ada@acme.test".into(),
            value: None,
            note: None,
            at,
        };
        Approval {
            state: GateState::Held,
            held_until: Some(at + chrono::TimeDelta::seconds(5)),
            decision: Some(decision),
            ..output(n, json!({"stage": "Won"}))
        }
    }

    #[test]
    fn undo_reverts_one_decision_or_one_batch() {
        let ids = |held: &[Approval]| last_batch(held).iter().map(|item| item.id).collect::<Vec<_>>();
        let single = [held(1, 0), held(2, 900)];
        assert_eq!(ids(&single), [single[1].id]);
        let batch = [held(1, 0), held(2, 5_000), held(3, 5_090), held(4, 5_180)];
        assert_eq!(ids(&batch).len(), 3);
        assert!(last_batch(&[]).is_empty());
    }

    #[test]
    fn the_undo_notice_says_what_was_decided_and_until_when() {
        let now = "2026-11-21T07:00:02Z".parse().unwrap();
        let one = undo_offer(&[held(1, 0)], now).unwrap();
        assert_eq!(
            (one.title.as_str(), one.seconds_left, one.until.as_str()),
            ("Approved: Acme Corp 1", 3, "07:00:05")
        );
        let two = undo_offer(&[held(1, 0), held(2, 10)], now).unwrap();
        assert_eq!((two.title.as_str(), two.items.len()), ("Approved: 2 items", 2));
        let html = Owner::new().with(|| {
            let content = Content { offer: Some(two), ..Content::default() };
            to_html(view! { <UndoNotice store=Store::new(&content)/> })
        });
        assert!(html.contains("Approved: 2 items") && html.contains(" until 07:00:05 UTC"), "{html}");
        assert_eq!(html.matches("name=\"items[").count(), 2);
        let past = undo_offer(&[held(1, 0)], "2026-11-21T08:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(past.seconds_left, 0);
    }
}
