//! Questions of agents that go on meanwhile. Each is an item of the inbox.

use super::{
    button::ButtonLink,
    time::{moment, stamp},
};
use crate::text::shorten::one_line;
use domain::Timestamp;
use leptos::prelude::*;

/// Longest line of a question, characters.
const QUESTION_CHARS_MAX: usize = 200;

/// A question for which no session waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Id of the request.
    pub id: String,
    /// Id of the session that asked.
    pub session_id: String,
    /// What the agent asks.
    pub message: String,
    /// Time of the request (UTC).
    pub asked_at: Timestamp,
    /// Instant from which answers are late (UTC).
    pub expires_at: Option<Timestamp>,
}

/// The section with these questions. It is hidden if there are none, so that the browser can add the first one.
pub fn asked(questions: &[Question]) -> impl IntoView + use<> {
    let rows = questions.iter().map(row).collect::<Vec<_>>();
    view! {
        <section class="section inbox-terminal" data-section="questions" aria-labelledby="asked-title" hidden=questions.is_empty()>
            <h2 id="asked-title">"Open questions"</h2>
            <p class="meta">"The agents keep working. They read your answer at their next step."</p>
            <ul class="rows">{rows}</ul>
        </section>
    }
}

fn row(question: &Question) -> impl IntoView + use<> {
    let title = one_line(&question.message, QUESTION_CHARS_MAX);
    let href = format!("/inbox/{}", question.id);
    let until = question.expires_at.map(|at| view! { <span>"until "{stamp(at)}</span> });
    view! {
        <li class="row" data-key-id=question.id.clone()>
            <span class="badge" data-status="waiting_human"><span>"Question"</span></span>
            <div class="row-body">
                <a class="row-title" href=href.clone() dir="auto">{title.clone()}</a>
                <div class="row-sub">
                    <a class="quiet" href=format!("/sessions/{}", question.session_id)>"Session"</a>
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
            message: "Which <b>region</b>?".into(),
            asked_at: at,
            expires_at: None,
        };
        let html = to_html(asked(&[one]));
        assert!(html.contains("href=\"/inbox/7\"") && html.contains("&lt;b&gt;region"), "{html}");
        assert!(html.contains("data-key-id=\"7\"") && !html.contains(" hidden"), "{html}");
    }

    #[test]
    fn without_questions_the_section_is_there_and_hidden() {
        let html = to_html(asked(&[]));
        assert!(html.contains("<section") && html.contains(" hidden") && html.contains("class=\"rows\""), "{html}");
    }
}
