//! The forms that rate memories in the row of the event with which an agent was given them.

use super::turn_href;
use crate::{
    text::{html::Html, number::counted, shorten::one_line},
    ui::button::{Button, Look},
};
use domain::{
    event::{
        Body,
        kind::{Context, ContextInjected},
    },
    id::SessionId,
    memory_writer::block::items,
};
use leptos::prelude::*;
use wire::event::Event;

/// Longest text of a memory beside its buttons, characters.
const TEXT_CHARS_MAX: usize = 200;

/// Writes a folded list of the memories that an event gave to the agent, each with a form. Nothing for other events.
/// Rows are kept for all viewers, so those who may not rate have the forms too, and are refused.
pub fn write_ratings(html: &mut Html, session: SessionId, event: &Event) {
    let Body::SessionContextInjected(ContextInjected { text, context: Context::Memory { .. } }) = event.body() else {
        return;
    };
    let next = turn_href(session, event.sequence);
    write_memory_forms(html, session, &next, &items(&text));
}

/// Writes a folded list of memories, each with a form that rates it for this session and returns to `next`. Nothing
/// without memories.
pub fn write_memory_forms(html: &mut Html, session: SessionId, next: &str, memories: &[(String, String)]) {
    if memories.is_empty() {
        return;
    }
    let session_id = session.to_string();
    html.raw("<details class=\"fold\"><summary><span class=\"fold-more\">Rate ");
    html.text(&counted(memories.len() as u64, "memory")).raw("</span></summary><ul role=\"list\">");
    for (id, text) in memories {
        html.raw("<li><form method=\"post\" action=\"/sessions/").text(&session_id).raw("/memories\">");
        html.raw("<p dir=\"auto\">").text(&one_line(text, TEXT_CHARS_MAX)).raw("</p>");
        html.raw("<input type=\"hidden\" name=\"memory\" value=\"").text(id);
        html.raw("\"><input type=\"hidden\" name=\"next\" value=\"").text(next).raw("\">");
        let about = format!("memory {id}");
        html.view(view! {
            <Button small=true name="value" value="1" look=Look::Quiet about=about.clone()>"Useful"</Button>
            <Button small=true name="value" value="-1" look=Look::Quiet about=about>"Harmful"</Button>
        });
        html.raw("</form></li>");
    }
    html.raw("</ul></details>");
}
