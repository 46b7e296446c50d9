//! What the viewer decided a moment ago, and taking it back.

use super::words::{subject, verdict_word};
use crate::{text::number, ui::time::clock};
use domain::Timestamp;
use leptos::prelude::*;
use wire::approval::Approval;

/// Decisions closer together than this were one: a batch, decided by one press, milliseconds.
const ONE_PRESS_MS: i64 = 200;

/// The items that the last press decided: what Undo takes back.
fn last_press(held: &[Approval]) -> Vec<&Approval> {
    let mut decided: Vec<(Timestamp, &Approval)> =
        held.iter().filter_map(|item| Some((item.decision.as_ref()?.at, item))).collect();
    decided.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut last = Vec::new();
    let mut before: Option<Timestamp> = None;
    for (at, item) in decided {
        if before.is_some_and(|before| (before - at).num_milliseconds() > ONE_PRESS_MS) {
            break;
        }
        before = Some(at);
        last.push(item);
    }
    last
}

/// Whole seconds until the decision takes effect.
pub fn seconds_left(until: Timestamp, now: Timestamp) -> String {
    (until - now).num_seconds().max(0).to_string()
}

/// The bar; nothing where nothing can be undone. The browser counts `data-left` down, which needs no agreement of clocks.
pub fn held_view(held: &[Approval], now: Timestamp) -> Option<impl IntoView + use<>> {
    let last = last_press(held);
    let first = last.first()?;
    let until = last.iter().filter_map(|item| item.held_until).min()?;
    let word = first.decision.as_ref()?.decision.map_or("decided", verdict_word);
    let mut word = word.to_owned();
    if let Some(letter) = word.get_mut(..1) {
        letter.make_ascii_uppercase();
    }
    let what = match last.as_slice() {
        [one] => format!("{word}: {}", subject(one)),
        all => format!("{word}: {}", number::counted(all.len() as u64, "item")),
    };
    let fields: Vec<_> = last
        .iter()
        .map(|item| view! { <input type="hidden" name=format!("item.{}", item.id) value=item.digest.clone()/> })
        .collect();
    Some(view! {
        <form class="notice" data-tone="good" method="post" action="/inbox/undo" data-left=seconds_left(until, now)>
            {fields}
            <div class="notice-body"><p dir="auto">{what}</p></div>
            <button class="button" type="submit" data-size="small" data-key="undo" title="Undo (z)">
                "Undo"<span data-count>" until "{clock(until)}" UTC"</span>
            </button>
        </form>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{document::plain, inbox::fixture::output};
    use domain::gate::{GateState, Verdict};
    use serde_json::json;
    use wire::approval::Decision;

    fn held(n: u32, millis: i64) -> Approval {
        let at = "2026-11-21T07:00:00Z".parse::<Timestamp>().unwrap() + chrono::TimeDelta::milliseconds(millis);
        let decision = Decision {
            number: 1,
            decision: Some(Verdict::Approve),
            undoes: None,
            user_id: "u".into(),
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
    fn undo_takes_back_one_press_whether_it_decided_one_item_or_many() {
        let ids = |held: &[Approval]| last_press(held).iter().map(|item| item.id.clone()).collect::<Vec<_>>();
        let single = [held(1, 0), held(2, 900)];
        assert_eq!(ids(&single), [single[1].id.clone()]);
        let batch = [held(1, 0), held(2, 5_000), held(3, 5_090), held(4, 5_180)];
        assert_eq!(ids(&batch).len(), 3);
        assert!(last_press(&[]).is_empty());
    }

    #[test]
    fn the_bar_says_what_and_until_when() {
        let now = "2026-11-21T07:00:02Z".parse().unwrap();
        let html = plain(held_view(&[held(1, 0)], now).unwrap());
        assert!(html.contains("Approved: Acme Corp 1") && html.contains("data-left=\"3\""), "{html}");
        assert!(html.contains("until <!>07:00:05") || html.contains("until 07:00:05"), "{html}");
        let two = plain(held_view(&[held(1, 0), held(2, 10)], now).unwrap());
        assert!(two.contains("Approved: 2 items") && two.matches("name=\"item.").count() == 2);
    }
}
