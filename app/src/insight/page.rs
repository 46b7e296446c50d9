//! The page /insights.

use super::{
    chart::{Series, SeriesColor},
    figure_text::{seconds, whole},
    section::{Day, Section, section},
    table::{parts, tools, writers},
};
use crate::{
    document::render,
    memory::{StalledWriter, stalled},
    render::static_html,
    sessions::{Filter, UTC},
    shell::{RailEntry, Shell, frame},
    text::number::{counted, dollars, grouped, percent},
    ui::{
        button::ButtonLink,
        empty::Empty,
        notice::{Notice, Tone},
        page_head::PageHead,
        tabs::{Tab, Tabs},
    },
};
use chrono::NaiveDate;
use domain::{role::Permission, search::Test, session::Type};
use leptos::{prelude::*, tachys::html::InertElement};
use std::collections::BTreeMap;
use wire::insight::{DayFigures, Figures, Insights, RatingsMissing};

/// The offered periods in days; the first is the default.
pub const WINDOWS: [u32; 3] = [30, 7, 90];

/// Shown in place of the ratings if none could be read.
pub(crate) const RATINGS_UNREAD: &str = "The ratings could not be read.";

/// A task as a row of the figures leads to it.
#[derive(Debug, Clone)]
pub struct Task {
    /// UUID by which the list of sessions is filtered.
    pub id: String,
    /// What people call it, at most 200 characters.
    pub name: String,
}

/// Data of the page /insights.
#[derive(Debug, Clone)]
pub struct Props {
    /// Length of the period, days.
    pub days: u32,
    /// The figures of the period.
    pub insights: Insights,
    /// Tasks by their slugs.
    pub tasks: BTreeMap<String, Task>,
    /// Names of tools by their slugs.
    pub tool_names: BTreeMap<String, String>,
    /// Memory writers that wait after failures.
    pub stalled: Vec<StalledWriter>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Insights", || {
        let Props { days, insights, tasks, tool_names, stalled: writers } = props;
        let cut = cut_notice(insights.is_cut);
        let total = &insights.total;
        let missed = (insights.capture_failures > 0).then(|| {
            view! { <Notice tone=Tone::Wait><p>{format!(
                "{} could not be captured as training data since this server started. The server tries again. Its log says why.",
                counted(insights.capture_failures, "turn")
            )}</p></Notice> }
        });
        let unread = unread_notice(insights.ratings_missing);
        let answers = total.accepted + total.rejected + total.neutral + total.unknown;
        let gates = total.approved + total.edited + total.denied + total.answered + total.expired;
        let others = insights.memory_writers.is_empty() && insights.tools.is_empty();
        let nothing = total.sessions + gates + answers == 0 && others;
        let body = if nothing {
            let sentence =
                "No agent session ended in this period. Figures appear when sessions end and people decide and rate.";
            view! { <Empty sentence=sentence link=Some(("Go to Tasks", "/actions".to_owned()))/> }.into_any()
        } else {
            figures(&insights, &tasks, &tool_names).into_any()
        };
        let export = shell.may(Permission::ManageSessions).then(|| {
            view! { <ButtonLink small=true href="/export">"Training data"</ButtonLink> }
        });
        let waiting = static_html(stalled(shell, &writers));
        let memories = view! { <ButtonLink small=true href="/insights/memories">"Memories"</ButtonLink> };
        let head = view! { <PageHead title="Insights">{view! { {windows(days)} {memories} {export} }}</PageHead> };
        frame(shell, RailEntry::Insights, view! { {head} {cut} {missed} {unread} {waiting} {body} })
    })
}

/// Says that the figures are not of the whole period. `None` if they are.
pub(crate) fn cut_notice(is_cut: bool) -> Option<InertElement> {
    let words = "This period has more data than can be counted. The figures cover only the newest sessions and \
                 decisions.";
    is_cut.then(|| static_html(view! { <Notice tone=Tone::Wait><p>{words}</p></Notice> }))
}

/// Says that ratings are missing, and why. `None` if they are not.
pub(crate) fn unread_notice(why: Option<RatingsMissing>) -> Option<InertElement> {
    why.map(|why| static_html(view! { <Notice tone=Tone::Wait><p>{unread(why)}</p></Notice> }))
}

/// Why there are no ratings.
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
    let tab = |days: u32| Tab::new(format!("{days} days"), format!("/insights?days={days}"), days == shown);
    view! { <Tabs label="Period" tabs=offered.map(tab).to_vec()/> }
}

fn figures(
    insights: &Insights,
    tasks: &BTreeMap<String, Task>,
    tool_names: &BTreeMap<String, String>,
) -> impl IntoView + use<> {
    let days: Vec<_> = insights
        .days
        .iter()
        .map(|DayFigures { day, .. }| Day {
            date: *day,
            long: day.format("%a %-d %b %Y").to_string(),
            short: day.format("%-d %b").to_string(),
        })
        .collect();
    let sections = [helpfulness(insights), outcomes(insights), decisions(insights), waiting(insights), cost(insights)]
        .map(|of| section(&days, of))
        .into_iter()
        .collect::<Vec<_>>();
    let of_period = Filter { ended_since: Some(insights.first.to_string()), ..of_utc_days() };
    let of_agent = |slug: &str| Some(of_period.clone().and(Test::Agent(vec![slug.to_owned()])));
    let of_task = |slug: &str| Some(Filter { action_id: Some(tasks.get(slug)?.id.clone()), ..of_period.clone() });
    let agent_name = |slug: Option<&str>| slug.unwrap_or("No agent").to_owned();
    // Tasks beyond those that were read have their slug.
    let task_name = |slug: Option<&str>| {
        let task = slug.and_then(|slug| tasks.get(slug));
        task.map(|task| task.name.clone()).or(slug.map(str::to_owned)).unwrap_or_else(|| "No task".to_owned())
    };
    view! {
        {sections}
        {parts("agents", "By agent", "Agent", &insights.agents, &agent_name, &of_agent)}
        {parts("actions", "By task", "Task", &insights.actions, &task_name, &of_task)}
        {tools(&insights.tools, tool_names)}
        {writers(&insights.memory_writers)}
    }
}

/// A filter by days as insights count them.
fn of_utc_days() -> Filter {
    Filter { zone: Some(UTC.to_owned()), ..Filter::default() }
}

/// The agent sessions that ended on a day.
fn ended_on(day: NaiveDate) -> Filter {
    Filter { ended: Some(day.to_string()), ..of_utc_days() }.and(Test::Type(vec![Type::Agent]))
}

/// The sessions with an answer that was complete on a day.
fn answered_on(day: NaiveDate) -> Filter {
    Filter { answered: Some(day.to_string()), ..of_utc_days() }
}

/// The sessions with an item that was decided or expired on a day.
fn decided_on(day: NaiveDate) -> Filter {
    Filter { decided: Some(day.to_string()), ..of_utc_days() }
}

fn series(insights: &Insights, name: &'static str, color: SeriesColor, value: fn(&Figures) -> f64) -> Series {
    Series { name, color, values: values(insights, value), says: None }
}

fn values(insights: &Insights, value: fn(&Figures) -> f64) -> Vec<f64> {
    insights.days.iter().map(|day| value(&day.figures)).collect()
}

fn helpfulness(insights: &Insights) -> Section {
    let Figures { sessions, unrated, positive, negative, skipped, helpful, .. } = insights.total;
    let ratings = counted(positive + negative, "rating");
    let unknown = if sessions > 0 { percent(unrated as f64 / sessions as f64) } else { percent(0.0) };
    let nothing_read = unrated + positive + negative + skipped == 0;
    let answer = match helpful {
        _ if insights.ratings_missing.is_some() && nothing_read => RATINGS_UNREAD.to_owned(),
        Some(share) => format!(
            "In {} of {ratings}, people said that the session helped. {unknown} of {} are not rated.",
            percent(share),
            counted(sessions, "session")
        ),
        None => format!("No ratings yet for {}.", counted(sessions, "session")),
    };
    Section {
        name: "helpful",
        title: "Did it help?",
        answer,
        series: vec![
            series(insights, "Helped", SeriesColor::Positive, |f| f.positive as f64),
            series(insights, "Did not help", SeriesColor::Negative, |f| f.negative as f64),
            series(insights, "Skipped", SeriesColor::Caution, |f| f.skipped as f64),
            series(insights, "Not rated", SeriesColor::Quiet, |f| f.unrated as f64),
        ],
        word: whole,
        sessions_of: ended_on,
    }
}

fn outcomes(insights: &Insights) -> Section {
    let Figures { accepted, rejected, neutral, unknown, .. } = insights.total;
    let all = accepted + rejected + neutral + unknown;
    let share = |n: u64| percent(n as f64 / all as f64);
    let answer = if all > 0 && unknown == all {
        format!("{}, not yet followed by a message.", counted(all, "answer"))
    } else if all > 0 {
        format!(
            "Of {}, the next message accepted {} and rejected {}. It was neutral after {}, and {} had no next message.",
            counted(all, "answer"),
            share(accepted),
            share(rejected),
            share(neutral),
            share(unknown)
        )
    } else {
        "No agent has given an answer.".to_owned()
    };
    Section {
        name: "outcomes",
        title: "How were the answers received?",
        answer,
        series: vec![
            series(insights, "Accepted", SeriesColor::Positive, |f| f.accepted as f64),
            series(insights, "Rejected", SeriesColor::Negative, |f| f.rejected as f64),
            series(insights, "Neutral", SeriesColor::Caution, |f| f.neutral as f64),
            series(insights, "No follow-up yet", SeriesColor::Quiet, |f| f.unknown as f64),
        ],
        word: whole,
        sessions_of: answered_on,
    }
}

fn decisions(insights: &Insights) -> Section {
    let Figures { approved, edited, denied, answered, expired, .. } = insights.total;
    let judged = approved + edited + denied;
    let share = |n: u64| percent(n as f64 / judged as f64);
    let mut answer = if judged > 0 {
        format!(
            "Of {}, {} were approved as proposed, {} were approved with changes, and {} were denied.",
            counted(judged, "proposal"),
            share(approved),
            share(edited),
            share(denied)
        )
    } else {
        "No proposal was approved or denied.".to_owned()
    };
    if answered > 0 {
        answer.push_str(&format!(" People answered {}.", counted(answered, "question")));
    }
    if expired > 0 {
        answer.push_str(&format!(" {} expired without a decision.", counted(expired, "item")));
    }
    Section {
        name: "decisions",
        title: "What did people decide?",
        answer,
        series: vec![
            series(insights, "Approved", SeriesColor::Positive, |f| f.approved as f64),
            series(insights, "Edited", SeriesColor::Caution, |f| f.edited as f64),
            series(insights, "Denied", SeriesColor::Negative, |f| f.denied as f64),
            series(insights, "Answered", SeriesColor::Accent, |f| f.answered as f64),
            series(insights, "Expired", SeriesColor::Quiet, |f| f.expired as f64),
        ],
        word: whole,
        sessions_of: decided_on,
    }
}

fn waiting(insights: &Insights) -> Section {
    let Figures { wait_median_seconds, wait_p90_seconds, wait_total_seconds, .. } = insights.total;
    let answer = match (wait_median_seconds, wait_p90_seconds) {
        (Some(median), Some(p90)) => format!(
            "Half of the decisions were made within {}, and nine out of ten within {}. Agents waited {} in total.",
            seconds(median as f64),
            seconds(p90 as f64),
            seconds(wait_total_seconds as f64)
        ),
        _ => "Nothing was decided, so how long agents waited is not known yet.".to_owned(),
    };
    Section {
        name: "waiting",
        title: "How long did agents wait for people?",
        answer,
        series: vec![
            series(insights, "Median", SeriesColor::Accent, |f| f.wait_median_seconds.unwrap_or_default() as f64),
            Series {
                says: Some(values(insights, |f| f.wait_p90_seconds.unwrap_or_default() as f64)),
                ..series(insights, "Nine out of ten", SeriesColor::AccentSoft, |f| {
                    f.wait_p90_seconds.unwrap_or_default().saturating_sub(f.wait_median_seconds.unwrap_or_default())
                        as f64
                })
            },
        ],
        word: seconds,
        sessions_of: decided_on,
    }
}

/// What sessions cost, and how many of them reported it.
pub(crate) fn cost_sentence(cost_usd: Option<f64>, priced: u64, sessions: u64) -> String {
    match cost_usd {
        Some(cost) => {
            format!("{}, reported by {} of {}.", dollars(cost), grouped(priced), counted(sessions, "session"))
        }
        None => "No session reported a cost.".to_owned(),
    }
}

/// How many tokens sessions used (input, output), and how many of them reported it.
pub(crate) fn tokens_sentence((input, output): (u64, u64), metered: u64, sessions: u64) -> String {
    if metered == 0 {
        return "No session reported tokens.".to_owned();
    }
    let tokens = [counted(input, "input token"), counted(output, "output token")].join(" and ");
    format!("{tokens}, reported by {} of {}.", grouped(metered), counted(sessions, "session"))
}

fn cost(insights: &Insights) -> Section {
    let Figures { cost_usd, priced, sessions, input_tokens, output_tokens, metered, .. } = insights.total;
    let tokens = tokens_sentence((input_tokens, output_tokens), metered, sessions);
    Section {
        name: "cost",
        title: "What did it cost?",
        answer: format!("{} {tokens}", cost_sentence(cost_usd, priced, sessions)),
        series: vec![series(insights, "Cost", SeriesColor::Accent, |f| f.cost_usd.unwrap_or_default())],
        word: dollars,
        sessions_of: ended_on,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use serde_json::{Value, json};
    use wire::insight::PartFigures;

    /// Insights of an empty period with these figures; all others are 0.
    fn insights(given: Value) -> Insights {
        let mut total = json!({});
        for name in [
            "sessions",
            "completed",
            "failed",
            "positive",
            "negative",
            "skipped",
            "unrated",
            "accepted",
            "rejected",
            "neutral",
            "unknown",
            "approved",
            "edited",
            "denied",
            "answered",
            "expired",
            "waitTotalSeconds",
            "inputTokens",
            "outputTokens",
            "metered",
            "priced",
        ] {
            total[name] = given.get(name).cloned().unwrap_or(json!(0));
        }
        for name in ["helpful", "costUsd"] {
            total[name] = given.get(name).cloned().unwrap_or_default();
        }
        serde_json::from_value(json!({
            "first": "2026-11-01", "last": "2026-11-07", "isCut": false, "captureFailures": 0, "ratingsMissing": null,
            "total": total, "days": [], "agents": [], "actions": [],
        }))
        .unwrap()
    }

    #[test]
    fn answers_are_sentences_with_counted_nouns() {
        let one = insights(
            json!({ "sessions": 1, "unrated": 1, "accepted": 1, "inputTokens": 1, "metered": 1, "answered": 1 }),
        );
        assert_eq!(helpfulness(&one).answer, "No ratings yet for 1 session.");
        assert_eq!(
            outcomes(&one).answer,
            "Of 1 answer, the next message accepted 100% and rejected 0%. It was neutral after 0%, and 0% had no next message."
        );
        let first = insights(json!({ "sessions": 4, "unknown": 4 }));
        assert_eq!(outcomes(&first).answer, "4 answers, not yet followed by a message.");
        assert_eq!(decisions(&one).answer, "No proposal was approved or denied. People answered 1 question.");
        assert_eq!(
            cost(&one).answer,
            "No session reported a cost. 1 input token and 0 output tokens, reported by 1 of 1 session."
        );
        assert_eq!(cost(&first).answer, "No session reported a cost. No session reported tokens.");
        let more = insights(json!({
            "sessions": 4, "positive": 1, "negative": 1, "unrated": 2, "helpful": 0.5, "approved": 2, "edited": 1, "denied": 1,
            "expired": 2, "costUsd": 1.5, "priced": 3, "inputTokens": 1200, "outputTokens": 1, "metered": 2,
        }));
        assert_eq!(
            helpfulness(&more).answer,
            "In 50% of 2 ratings, people said that the session helped. 50% of 4 sessions are not rated."
        );
        assert_eq!(
            decisions(&more).answer,
            "Of 4 proposals, 50% were approved as proposed, 25% were approved with changes, and 25% were denied. \
             2 items expired without a decision."
        );
        assert_eq!(
            cost(&more).answer,
            "$1.50, reported by 3 of 4 sessions. 1,200 input tokens and 1 output token, reported by 2 of 4 sessions."
        );
        assert_eq!(outcomes(&more).answer, "No agent has given an answer.");
    }

    #[test]
    fn a_period_has_tables_only_for_what_it_has_figures_of() {
        let shown = |given: Value, agents: &[&str]| {
            let mut of = insights(given);
            let figures_of = |day| DayFigures { day, figures: of.total.clone() };
            of.days = [of.first, of.last].map(figures_of).to_vec();
            let part = |slug: &&str| PartFigures { slug: Some((*slug).to_owned()), figures: of.total.clone() };
            of.agents = agents.iter().map(part).collect();
            to_html(figures(&of, &BTreeMap::new(), &BTreeMap::new()))
        };
        let empty = shown(json!({}), &[]);
        assert!(empty.contains("What did people decide?") && !empty.contains("<table"), "{empty}");
        let answers = shown(json!({ "accepted": 2 }), &["scout"]);
        assert_eq!(answers.matches("<table").count(), 2, "the answers by day, and the agents: {answers}");
        assert!(answers.contains(">Accepted</th>") && !answers.contains(">Median wait</th>"), "{answers}");
    }

    #[test]
    fn tasks_have_their_names_and_sessions_without_a_task_say_so() {
        let mut of = insights(json!({ "sessions": 1, "unrated": 1 }));
        let part = |slug: Option<&str>| PartFigures { slug: slug.map(str::to_owned), figures: of.total.clone() };
        of.actions = vec![part(Some("close")), part(Some("older")), part(None)];
        of.agents = vec![part(None)];
        let task = Task { id: "a-1".to_owned(), name: "Close the books".to_owned() };
        let tasks = BTreeMap::from([("close".to_owned(), task)]);
        let html = to_html(figures(&of, &tasks, &BTreeMap::new()));
        for name in ["Close the books", "older", "No task", "No agent"] {
            assert!(html.contains(name), "{name}: {html}");
        }
        assert!(!html.contains(">close<") && !html.contains(">none<"), "{html}");
    }

    #[test]
    fn the_days_of_each_section_link_to_their_sessions() {
        let mut of = insights(json!({ "sessions": 1, "unrated": 1, "accepted": 1, "approved": 1, "costUsd": 1.5 }));
        of.total.wait_median_seconds = Some(60);
        let figures_of = |day| DayFigures { day, figures: of.total.clone() };
        of.days = [of.first, of.last].map(figures_of).to_vec();
        let html = to_html(figures(&of, &BTreeMap::new(), &BTreeMap::new()));
        for (href, sections) in [("q=type%3Aagent&amp;ended=", 2), ("answered=", 1), ("decided=", 2)] {
            let link = format!("href=\"/sessions?{href}2026-11-01&amp;zone=UTC\"");
            assert_eq!(html.matches(&link).count(), sections, "{link}: {html}");
        }
    }
}
