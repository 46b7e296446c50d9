//! Questions of agents that keep working. Each is an item of the inbox.

use super::{
    button::ButtonLink,
    time::{moment, stamp},
};
use crate::text::{number, shorten::one_line};
use domain::Timestamp;
use leptos::prelude::*;

/// Longest line of a question, characters.
const QUESTION_CHARS_MAX: usize = 200;

/// Most questions that are shown without opening their section.
const OPEN_MAX: usize = 3;

/// A question for which no session waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Id of the request.
    pub id: String,
    /// Id of the session that asked.
    pub session_id: String,
    /// Title of that session, if the reader can see it.
    pub session_title: Option<String>,
    /// Slug of the agent that asked.
    pub agent: Option<String>,
    /// What the agent asks.
    pub message: String,
    /// Time of the request (UTC).
    pub asked_at: Timestamp,
    /// Instant from which answers are late (UTC).
    pub expires_at: Option<Timestamp>,
}

/// How many questions there are, as a part of a sentence: `10 open questions`; `None` for none.
pub fn count_words(questions: u64) -> Option<String> {
    (questions > 0).then(|| number::counted(questions, "open question"))
}

/// The section with these questions. It is hidden if there are none, so that the browser can add the first one, and
/// where they do not belong to what is shown. Many questions are one line that opens.
pub fn question_list(questions: &[Question], is_elsewhere: bool) -> impl IntoView + use<> {
    let rows = questions.iter().map(row).collect::<Vec<_>>();
    let count = count_words(questions.len() as u64).unwrap_or_default();
    let hidden = is_elsewhere || questions.is_empty();
    view! {
        <section class="section inbox-terminal" data-section="questions" aria-labelledby="asked-title" hidden=hidden>
            <details class="asked" open={questions.len() <= OPEN_MAX}>
                <summary>
                    <h2 id="asked-title" data-part="asked">{count}</h2>
                    <span class="meta">"The agents keep working. They read your answer at their next step."</span>
                </summary>
                <ul class="rows" data-part="rows" data-list="">{rows}</ul>
            </details>
        </section>
    }
}

fn row(question: &Question) -> impl IntoView + use<> {
    let title = one_line(&question.message, QUESTION_CHARS_MAX);
    let href = format!("/inbox/{}", question.id);
    let session = question.session_title.clone().filter(|title| !title.is_empty());
    let session = one_line(session.as_deref().unwrap_or("Session"), QUESTION_CHARS_MAX);
    let agent = question.agent.clone().map(|agent| view! { <span>{agent}</span> });
    let until = question.expires_at.map(|at| view! { <span>"until "{stamp(at)}</span> });
    view! {
        <li class="row" data-key-id=question.id.clone()>
            <span class="badge" data-status="waiting_human"><span>"Question"</span></span>
            <div class="row-body">
                <a class="row-title" href=href.clone() dir="auto">{title.clone()}</a>
                <div class="row-sub">
                    {agent}
                    <a class="quiet" href=format!("/sessions/{}", question.session_id) dir="auto">{session}</a>
                    {until}
                </div>
            </div>
            <span class="row-when">{moment(question.asked_at)}</span>
            <div class="row-action"><ButtonLink href=href small=true about=title>"Answer this"</ButtonLink></div>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn a_question_stays_a_text_and_leads_to_its_item() {
        let at = Timestamp::from_timestamp(0, 0).unwrap();
        let one = Question {
            id: "7".into(),
            session_id: "8".into(),
            session_title: Some("Plan <b>".into()),
            agent: Some("scout".into()),
            message: "Which <b>region</b>?".into(),
            asked_at: at,
            expires_at: None,
        };
        assert!(to_html(question_list(std::slice::from_ref(&one), true)).contains(" hidden"));
        let seven: Vec<_> = (0..7).map(|_| one.clone()).collect();
        assert!(!to_html(question_list(&seven, false)).contains("<details open"));
        let html = to_html(question_list(&[one], false));
        assert!(html.contains("1 open question<") && html.contains("<details open"), "{html}");
        assert!(html.contains("scout") && html.contains("Plan &lt;b&gt;"), "{html}");
        assert!(html.contains("href=\"/inbox/7\"") && html.contains("&lt;b&gt;region"), "{html}");
        assert!(html.contains("data-key-id=\"7\"") && !html.contains(" hidden"), "{html}");
    }

    #[test]
    fn without_questions_the_section_is_there_and_hidden() {
        let html = to_html(question_list(&[], false));
        assert!(html.contains("<section") && html.contains(" hidden") && html.contains("class=\"rows\""), "{html}");
    }
}
