//! A step of a composite tool in a transcript: what happened to it, with a link to its session.

use crate::text::{html::Html, shorten};
use domain::{
    event::{Body, kind::CompositionStep},
    id::SessionId,
};
use wire::event::Event;

/// Longest sentence about a step, characters.
const CHARS_MAX: usize = 400;

/// Writes an event about a step. Returns whether it is one.
pub(super) fn write_step(html: &mut Html, event: &Event) -> bool {
    let body = event.body();
    let step = match &body {
        Body::ToolCompositionStepStarted(started) => &started.0,
        Body::ToolCompositionStepCompleted(ended) => &ended.0,
        _ => return false,
    };
    let sentence = body.sentence().unwrap_or_default();
    html.raw("<p><span dir=\"auto\">").text(&shorten::one_line(&sentence, CHARS_MAX)).raw("</span>");
    write_link(html, step);
    html.raw("</p>");
    true
}

/// A worker can write any text as the id.
fn write_link(html: &mut Html, step: &CompositionStep) {
    let Some(id) = step.session_id.as_deref().and_then(|id| id.parse::<SessionId>().ok()) else { return };
    html.raw(" <a href=\"/sessions/").text(&id.to_string()).raw("\">Session of ");
    html.text(&shorten::one_line(step.step.as_deref().unwrap_or("the step"), CHARS_MAX)).raw("</a>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(session_id: &str) -> String {
        let step = CompositionStep {
            step: Some("<geo>".to_owned()),
            session_id: Some(session_id.to_owned()),
            ..CompositionStep::default()
        };
        let mut html = Html::with_capacity(200);
        write_link(&mut html, &step);
        html.finish()
    }

    #[test]
    fn only_a_real_id_is_a_link() {
        let id = "0199c0de-0000-7000-8000-000000000001";
        assert_eq!(link(id), format!(" <a href=\"/sessions/{id}\">Session of &lt;geo&gt;</a>"));
        assert_eq!(link("javascript:alert(1)"), "");
    }
}
