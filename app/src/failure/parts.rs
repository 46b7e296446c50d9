//! What the list of causes and the page of one have in common.

use crate::{
    text::{html::Html, number},
    ui::time::due,
};
use domain::failure::cause::{CauseState, Window};
use leptos::prelude::*;
use wire::failure_cause::FailureCause;

/// Height of the tallest bar, units of the SVG.
const TALLEST: u64 = 16;
/// Width of a part of the time range, units; a quarter of it is the gap.
const PART: usize = 8;
const BAR: u64 = 6;

/// The name of a time range.
pub const fn window_label(window: Window) -> &'static str {
    match window {
        Window::Visit => "Since your last visit",
        Window::Day => "24 hours",
        Window::Weekend => "Weekend",
        Window::Week => "7 days",
    }
}

/// The name of a state.
pub const fn state_label(state: CauseState) -> &'static str {
    match state {
        CauseState::Open => "Open",
        CauseState::Acknowledged => "Seen",
        CauseState::Snoozed => "Snoozed",
        CauseState::Resolved => "Resolved",
    }
}

/// Until when a cause can be snoozed, `(value, label)`.
pub fn snooze_choices() -> Vec<(String, String)> {
    let choices =
        [("later", "Later today"), ("tomorrow", "Tomorrow, 9:00"), ("monday", "Monday, 9:00"), ("day", "A day, 9:00")];
    choices.map(|(value, label)| (value.to_owned(), label.to_owned())).to_vec()
}

/// Code of a failure whose agent gave none. It says nothing that the message beside it does not say.
const NO_CODE: &str = "error";

/// The title of a cause: its code, if the agent gave one, and the message.
pub fn title(code: &str, message: &str) -> String {
    if code == NO_CODE { message.to_owned() } else { format!("{code} · {message}") }
}

/// What has to be known about the state of a cause; nothing for one that is open and was never decided about.
pub fn state_words(cause: &FailureCause) -> Option<AnyView> {
    let view = match (cause.state, cause.reopened_at, cause.snoozed_until) {
        (CauseState::Open, Some(_), Some(_)) => view! { <strong>"Snooze is over"</strong> }.into_any(),
        (CauseState::Open, Some(_), None) => view! { <strong>"Came back after it was resolved"</strong> }.into_any(),
        (CauseState::Open, None, _) => return None,
        (CauseState::Snoozed, _, Some(until)) => view! { <span>"Opens again "{due(until)}</span> }.into_any(),
        (state, ..) => view! { <span>{state_label(state)}</span> }.into_any(),
    };
    Some(view)
}

/// The agents with the most failures, each with their number, and how many further ones there are.
pub fn agents_words(cause: &FailureCause) -> String {
    let agent = |agent: &wire::failure_cause::CauseAgent| {
        let name = agent.agent_slug.as_deref().unwrap_or("no agent");
        if cause.agents.len() == 1 && cause.more_agents == 0 {
            name.to_owned()
        } else {
            format!("{name} {}", number::grouped(agent.failures))
        }
    };
    let mut words: Vec<String> = cause.agents.iter().map(agent).collect();
    if cause.more_agents > 0 {
        words.push(format!("{} more", number::grouped(cause.more_agents)));
    }
    words.join(", ")
}

/// Failures in each part of the time range, as bars.
pub fn trend(cause: &FailureCause) -> impl IntoView + use<> {
    let width = cause.trend.len() * PART;
    view! {
        <svg class="cause-trend" viewBox=format!("0 0 {width} {TALLEST}") preserveAspectRatio="none" aria-hidden="true" inner_html=bars(&cause.trend)></svg>
    }
}

/// One bar per part, relative to the busiest one. A part with at least one failure has a visible bar.
fn bars(parts: &[u64]) -> String {
    let most = parts.iter().copied().max().unwrap_or_default().max(1);
    let mut svg = Html::with_capacity(512);
    for (at, &count) in parts.iter().enumerate() {
        let height = if count == 0 { 1 } else { (count * TALLEST / most).max(3) };
        svg.raw("<rect x=\"").number((at * PART) as u64).raw("\" y=\"").number(TALLEST - height);
        svg.raw("\" width=\"").number(BAR).raw("\" height=\"").number(height).raw("\"></rect>");
    }
    svg.finish()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::render::to_html;
    use wire::failure_cause::CauseAgent;

    pub fn cause() -> FailureCause {
        FailureCause {
            id: "8193b0a0-0000-8000-8000-000000000001".parse().unwrap(),
            code: "auth".into(),
            tool: Some("search".into()),
            step: None,
            message: "401 Unauthorized: token expired for tenant ‹number›".into(),
            remediation: "Correct the cause, then run the session again.".into(),
            state: CauseState::Open,
            reopened_at: None,
            snoozed_until: None,
            decided_by: None,
            decided_at: None,
            failures: 1_034,
            trend: vec![0, 400, 0, 0, 0, 0, 1, 633],
            agents: vec![
                CauseAgent { agent_slug: Some("scout".into()), failures: 1_000 },
                CauseAgent { agent_slug: None, failures: 34 },
            ],
            more_agents: 2,
            first_at: Some("2026-11-27T22:10:00Z".parse().unwrap()),
            last_at: Some("2026-11-30T06:02:00Z".parse().unwrap()),
        }
    }

    #[test]
    fn a_title_names_only_a_code_that_the_agent_gave() {
        assert_eq!(title("auth", "token expired"), "auth · token expired");
        assert_eq!(title("error", "token expired"), "token expired");
    }

    #[test]
    fn agents_are_counted_if_there_are_several() {
        assert_eq!(agents_words(&cause()), "scout 1,000, no agent 34, 2 more");
        let one = FailureCause { agents: cause().agents[..1].to_vec(), more_agents: 0, ..cause() };
        assert_eq!(agents_words(&one), "scout");
    }

    #[test]
    fn a_single_failure_beside_many_has_a_visible_bar() {
        let svg = bars(&cause().trend);
        assert_eq!(svg.matches("<rect").count(), 8);
        assert_eq!(svg.matches("height=\"3\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("height=\"16\"").count(), 1, "{svg}");
    }

    #[test]
    fn a_cause_that_opened_again_says_why() {
        let words = |cause: FailureCause| state_words(&cause).map(to_html).unwrap_or_default();
        let at: domain::Timestamp = "2026-11-30T06:02:00Z".parse().unwrap();
        assert_eq!(words(cause()), "");
        assert!(words(FailureCause { reopened_at: Some(at), ..cause() }).contains("Came back after it was resolved"));
        let over = FailureCause { reopened_at: Some(at), snoozed_until: Some(at), ..cause() };
        assert!(words(over).contains("Snooze is over"));
        let snoozed = FailureCause { state: CauseState::Snoozed, snoozed_until: Some(at), ..cause() };
        assert!(words(snoozed).contains("Opens again"));
    }
}
