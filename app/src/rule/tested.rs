//! The result of a back-test.

use crate::{
    session::verdict_word,
    text::{number::grouped, shorten::one_line},
    ui::{
        section::Section,
        table::{Column, Table},
        time::stamp,
    },
};
use domain::rule::{Outcome, Why};
use leptos::prelude::*;
use wire::rule::{BackTest, BackTestedApproval};

/// Longest title in a row, characters.
const TITLE_CHARS_MAX: usize = 120;

/// Why a rule would have asked.
const fn why_words(why: Why) -> &'static str {
    match why {
        Why::OtherSubject => "other kind of item",
        Why::Outside => "a condition does not hold",
        Why::Private => "private values",
        Why::Flagged => "flagged by a safety rule",
        Why::SeveralApprovals => "needs several approvals",
        Why::OwnRequest => "your own request",
        Why::Expired => "expired",
        Why::Canary => "in the share that still asks",
        Why::DayCount => "number of the day reached",
        Why::DayAmount => "amount of the day reached",
    }
}

fn outcome_words(of: &BackTestedApproval) -> String {
    match (of.outcome, of.asks_why) {
        (Outcome::Differed, _) => "Would have differed: approved".to_owned(),
        (Outcome::Agreed, _) => "Agreed: approved".to_owned(),
        (Outcome::Undecided, _) => "Would have approved".to_owned(),
        (Outcome::Asked, why) => format!("Would have asked: {}", why.map(why_words).unwrap_or_default()),
    }
}

/// What the rule would have decided in the last 90 days, with a link to each session.
pub(super) fn tested_section(test: &BackTest) -> impl IntoView + use<> {
    let rows = test
        .approvals
        .iter()
        .map(|of| {
            let decided = of.verdict.map_or("No one decided", verdict_word);
            let title = one_line(&of.title, TITLE_CHARS_MAX);
            view! {
                <tr>
                    <td>{outcome_words(of)}</td>
                    <td class="meta">{decided}</td>
                    <td class="table-main"><a class="quiet" dir="auto" href=format!("/sessions/{}", of.session_id)>{title}</a></td>
                    <td class="meta">{stamp(of.opened_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let is_empty = rows.is_empty();
    let columns =
        vec![Column::text("The rule"), Column::text("The person"), Column::text("Session"), Column::text("Asked")];
    let table =
        (!is_empty).then(|| view! { <Table caption="Items of the last 90 days" columns=columns>{rows}</Table> });
    let count = |number: u64| view! { <dd>{grouped(number)}</dd> };
    let listed = test.approvals.len() as u64;
    let all = test.differed + test.agreed + test.undecided + test.asked;
    let cut = (listed < all)
        .then(|| view! { <p class="meta">{format!("{} of {} are listed.", grouped(listed), grouped(all))}</p> });
    let older = test.is_cut.then(|| view! { <p class="meta">"Only the newest 1,000 items are compared."</p> });
    view! {
        <Section name="tested" id="tested" title="What it would have decided in the last 90 days">
            <dl class="facts">
                <div><dt>"Agreed"</dt>{count(test.agreed)}</div>
                <div><dt>"Would have differed"</dt>{count(test.differed)}</div>
                <div><dt>"No person decided"</dt>{count(test.undecided)}</div>
                <div><dt>"Would have asked"</dt>{count(test.asked)}</div>
            </dl>
            {is_empty.then(|| view! { <p class="meta">"There were no such items."</p> })}
            {cut}
            {older}
            {table}
        </Section>
    }
}
