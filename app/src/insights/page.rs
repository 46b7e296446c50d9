//! /insights

use super::{
    chart::{Ink, Series},
    section::{Section, section},
    table::parts,
};
use crate::{
    document::render,
    shell::{Place, Shell, frame},
    text::{
        duration,
        number::{counted, dollars, grouped},
    },
    ui::{empty::empty, notice, page_head::page_head},
};
use domain::role::Permission;
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::insight::{Figures, Insights, RatingsMissing};

/// The windows that are offered, days; the first is the usual one.
pub const WINDOWS: [u32; 3] = [30, 7, 90];

/// What /insights shows.
#[derive(Debug, Clone)]
pub struct Props {
    /// Days of the window.
    pub days: u32,
    /// The figures.
    pub insights: Insights,
    /// Where the sessions of an action are, by its slug.
    pub action_links: BTreeMap<String, String>,
}

/// The whole page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Insights", || {
        let Props { days, insights, action_links } = props;
        let cut = insights.is_cut.then(|| {
            notice::caution(
                "There is more in this window than is counted: the figures are of the newest sessions and decisions.",
            )
        });
        let total = &insights.total;
        let missed = (insights.capture_failures > 0).then(|| {
            notice::caution(format!(
                "{} not be captured as training data since this server started. They are tried again; the server's log says why.",
                match insights.capture_failures {
                    1 => "One turn could".to_owned(),
                    many => format!("{} turns could", grouped(many)),
                }
            ))
        });
        let unread = insights.ratings_missing.map(|why| notice::caution(unread(why)));
        let answers = total.accepted + total.rejected + total.neutral + total.unknown;
        let gates = total.approved + total.edited + total.denied + total.answered + total.expired;
        let nothing = total.sessions + gates + answers == 0;
        let body = if nothing {
            let sentence =
                "No agent session ended in these days. Figures appear as sessions end and people decide and rate.";
            empty(sentence, Some(("Go to Actions", "/actions".to_owned()))).into_any()
        } else {
            figures(&insights, &action_links).into_any()
        };
        let export = shell.may(Permission::ManageSessions).then(|| {
            view! { <a class="button" data-size="small" href="/export">"Training data"</a> }
        });
        let head = page_head("Insights".to_owned(), Vec::new(), view! { {windows(days)} {export} });
        frame(shell, Place::Insights, view! { {head} {cut} {missed} {unread} {body} })
    })
}

/// What the page says about ratings that could not be read.
fn unread(why: RatingsMissing) -> &'static str {
    match why {
        RatingsMissing::Unavailable => {
            "Ratings are missing from these figures: their database is locked or cannot be reached. Load the page again later."
        }
        RatingsMissing::Unreadable => {
            "Ratings are missing from these figures: their database is damaged or cannot be opened. The server's log says why."
        }
    }
}

fn windows(shown: u32) -> impl IntoView {
    let mut offered = WINDOWS;
    offered.sort_unstable();
    let link = |days: u32| {
        view! {
            <a class="chip" href=format!("/insights?days={days}") aria-current=(days == shown).then_some("true")>{format!("{days} days")}</a>
        }
    };
    view! { <nav class="chips" aria-label="Window">{offered.map(link).to_vec()}</nav> }
}

fn figures(insights: &Insights, actions: &BTreeMap<String, String>) -> impl IntoView + use<> {
    let days: Vec<_> = insights
        .days
        .iter()
        .map(|day| (day.day.format("%a %Y-%m-%d").to_string(), day.day.format("%b %-d").to_string()))
        .collect();
    let sections = [helpfulness(insights), outcomes(insights), decisions(insights), waiting(insights), cost(insights)]
        .map(|of| section(&days, of))
        .into_iter()
        .collect::<Vec<_>>();
    view! {
        {sections}
        {parts("agents", "By agent", "Agent", &insights.agents, &BTreeMap::new())}
        {parts("actions", "By action", "Action", &insights.actions, actions)}
    }
}

fn series(insights: &Insights, name: &'static str, ink: Ink, value: fn(&Figures) -> f64) -> Series {
    Series { name, ink, values: values(insights, value), says: None }
}

fn values(insights: &Insights, value: fn(&Figures) -> f64) -> Vec<f64> {
    insights.days.iter().map(|day| value(&day.figures)).collect()
}

fn helpfulness(insights: &Insights) -> Section {
    let Figures { sessions, unrated, positive, negative, skipped, helpful, .. } = insights.total;
    let answers = counted(positive + negative, "answer");
    let unknown = if sessions > 0 { percent(unrated as f64 / sessions as f64) } else { "0 %".to_owned() };
    let nothing_read = unrated + positive + negative + skipped == 0;
    let answer = match helpful {
        _ if insights.ratings_missing.is_some() && nothing_read => "The ratings cannot be read.".to_owned(),
        Some(share) => format!(
            "{} of {answers} say it helped. Nobody rated {unknown} of {}.",
            percent(share),
            counted(sessions, "session")
        ),
        None => format!("Nobody has said yet whether it helped, of {}.", counted(sessions, "session")),
    };
    Section {
        name: "helpful",
        title: "Did it help?",
        answer,
        series: vec![
            series(insights, "Helped", Ink::Positive, |f| f.positive as f64),
            series(insights, "Did not", Ink::Negative, |f| f.negative as f64),
            series(insights, "Skipped", Ink::Caution, |f| f.skipped as f64),
            series(insights, "Not rated", Ink::Quiet, |f| f.unrated as f64),
        ],
        word: whole,
    }
}

fn outcomes(insights: &Insights) -> Section {
    let Figures { accepted, rejected, neutral, unknown, .. } = insights.total;
    let all = accepted + rejected + neutral + unknown;
    let share = |n: u64| percent(n as f64 / all as f64);
    let answer = if all > 0 {
        format!(
            "Of {}, what was said next shows that {} helped and {} did not; {} got neither, and after {} nothing was said.",
            counted(all, "answer"),
            share(accepted),
            share(rejected),
            share(neutral),
            share(unknown)
        )
    } else {
        "No agent has answered anything.".to_owned()
    };
    Section {
        name: "outcomes",
        title: "What became of the answers?",
        answer,
        series: vec![
            series(insights, "Accepted", Ink::Positive, |f| f.accepted as f64),
            series(insights, "Rejected", Ink::Negative, |f| f.rejected as f64),
            series(insights, "Neutral", Ink::Caution, |f| f.neutral as f64),
            series(insights, "Unknown", Ink::Quiet, |f| f.unknown as f64),
        ],
        word: whole,
    }
}

fn decisions(insights: &Insights) -> Section {
    let Figures { approved, edited, denied, answered, expired, .. } = insights.total;
    let judged = approved + edited + denied;
    let share = |n: u64| percent(n as f64 / judged as f64);
    let mut answer = if judged > 0 {
        format!(
            "Of {}, {} were approved as proposed, {} with changes, {} denied.",
            counted(judged, "proposal"),
            share(approved),
            share(edited),
            share(denied)
        )
    } else {
        "Nothing was approved or denied.".to_owned()
    };
    if answered > 0 {
        answer.push_str(&format!(" {} answered.", counted(answered, "question")));
    }
    if expired > 0 {
        answer.push_str(&format!(" {} ran out of time.", grouped(expired)));
    }
    Section {
        name: "decisions",
        title: "What did people decide?",
        answer,
        series: vec![
            series(insights, "Approved", Ink::Positive, |f| f.approved as f64),
            series(insights, "Edited", Ink::Caution, |f| f.edited as f64),
            series(insights, "Denied", Ink::Negative, |f| f.denied as f64),
            series(insights, "Answered", Ink::Accent, |f| f.answered as f64),
            series(insights, "Ran out of time", Ink::Quiet, |f| f.expired as f64),
        ],
        word: whole,
    }
}

fn waiting(insights: &Insights) -> Section {
    let Figures { wait_median_seconds, wait_p90_seconds, wait_total_seconds, .. } = insights.total;
    let answer = match (wait_median_seconds, wait_p90_seconds) {
        (Some(median), Some(p90)) => format!(
            "Half of the decisions came within {}, nine of ten within {}; {} of waiting in all.",
            seconds(median as f64),
            seconds(p90 as f64),
            seconds(wait_total_seconds as f64)
        ),
        _ => "No agent waited for a person.".to_owned(),
    };
    Section {
        name: "waiting",
        title: "How long did agents wait for people?",
        answer,
        series: vec![
            series(insights, "Median", Ink::Accent, |f| f.wait_median_seconds.unwrap_or_default() as f64),
            Series {
                says: Some(values(insights, |f| f.wait_p90_seconds.unwrap_or_default() as f64)),
                ..series(insights, "Nine of ten", Ink::AccentSoft, |f| {
                    f.wait_p90_seconds.unwrap_or_default().saturating_sub(f.wait_median_seconds.unwrap_or_default())
                        as f64
                })
            },
        ],
        word: seconds,
    }
}

fn cost(insights: &Insights) -> Section {
    let Figures { cost_usd, priced, sessions, input_tokens, output_tokens, .. } = insights.total;
    let tokens = format!("{} tokens read and {} written", grouped(input_tokens), grouped(output_tokens));
    let answer = match cost_usd {
        Some(cost) => {
            format!(
                "{} over {} of {} that reported a cost; {tokens}.",
                dollars(cost),
                grouped(priced),
                counted(sessions, "session")
            )
        }
        None => format!("No session reported a cost; {tokens}."),
    };
    Section {
        name: "cost",
        title: "What did it cost?",
        answer,
        series: vec![series(insights, "Cost", Ink::Accent, |f| f.cost_usd.unwrap_or_default())],
        word: dollars,
    }
}

/// A count; nothing for a tick between two.
fn whole(value: f64) -> String {
    if value.fract() == 0.0 { grouped(value as u64) } else { String::new() }
}

/// Seconds in words.
pub(super) fn seconds(value: f64) -> String {
    if value == 0.0 { "0 s".to_owned() } else { duration::words((value * 1_000.0) as u64) }
}

/// A share in words: no decimals, because these are counts of people's answers.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
