//! A row of a transcript as HTML. Rows are written without views, because a page has hundreds of rows and
//! rendering them as views is too slow.

use super::{
    decision::{write_decision, write_written},
    describe::{kind_words, texts},
    part::Part,
    step::write_step,
    tool,
    value_text::Titles,
    view_model::Entry,
};
use crate::{
    result::{Source, is_picture, write_value},
    text::{error_text, html::Html, shorten, terminal},
    ui::{
        badge::StatusBadge,
        icon::{Icon, icon_markup},
    },
};
use chrono::{Datelike, Timelike};
use domain::event::{
    Body, EventRole, Group, Known,
    kind::{ExternalEvent, Warnings},
};
use leptos::prelude::*;
use wire::event::Event;

/// Longest text that is shown unfolded, bytes.
const OPEN_TEXT_BYTES_MAX: usize = 4_000;
/// How much of a folded text is shown, bytes.
const LEAD_BYTES: usize = 700;
/// Longest text on a page, bytes; the JSON of the event holds the rest.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Longest first line of a reasoning part, characters.
const REASONING_CHARS_MAX: usize = 140;
/// Longest name of a source beside a row, characters.
const SOURCE_CHARS_MAX: usize = 24;

/// Who speaks in an event.
#[derive(Debug, Clone, Copy)]
pub struct Speaker {
    /// Name of their style.
    pub style: &'static str,
    /// Picture beside their rows.
    pub picture: Icon,
    /// Who they are in words.
    pub words: &'static str,
}

impl Speaker {
    const fn new(style: &'static str, picture: Icon, words: &'static str) -> Self {
        Self { style, picture, words }
    }
}

/// Who speaks in an event.
pub fn speaker(event: &Event) -> Speaker {
    let Some(kind) = event.known() else { return speaker_of_unknown(event) };
    match kind {
        Known::AgentMessage | Known::AgentToolCall | Known::AgentToolResult | Known::AgentThinking => {
            Speaker::new("agent", Icon::Agent, "Agent")
        }
        Known::UserMessage
        | Known::UserToolResult
        | Known::UserToolConfirmation
        | Known::UserFormSubmit
        | Known::UserFormDraft
        | Known::UserOutputApproval => Speaker::new("user", Icon::Person, "Person"),
        Known::HumanNavigate => Speaker::new("human", Icon::Arrow, "Person"),
        Known::HumanEntityView => Speaker::new("human", Icon::Eye, "Person"),
        Known::HumanMarker => Speaker::new("human", Icon::Flag, "Person"),
        Known::HumanTaskSwitch => Speaker::new("human", Icon::Actions, "Person"),
        Known::ToolSessionStarted
        | Known::ToolFieldChanged
        | Known::ToolInvocationStarted
        | Known::ToolInvocationCompleted
        | Known::ToolInvocationFailed
        | Known::ToolCompositionStepStarted
        | Known::ToolCompositionStepCompleted => Speaker::new("tool", Icon::Tool, "Tool"),
        Known::ExternalEvent => Speaker::new("external", Icon::External, "External"),
        Known::SessionError => Speaker::new("system", Icon::Alert, "Error"),
        Known::SessionCreated
        | Known::SessionClaimed
        | Known::SessionStatusChange
        | Known::SessionTagsChange
        | Known::SessionAssigneeChange
        | Known::SessionCompleted
        | Known::SessionContextInjected
        | Known::SessionWaitingApproval
        | Known::SessionFeedbackRequested
        | Known::StatePatch => Speaker::new("system", Icon::System, "System"),
    }
}

/// The speaker of an event of a kind that Shiftbook does not know: by the first word of the kind, else by its role.
fn speaker_of_unknown(event: &Event) -> Speaker {
    match (event.kind.split('.').next().unwrap_or_default(), event.role) {
        ("human", _) => Speaker::new("human", Icon::Person, "Person"),
        ("tool", _) => Speaker::new("tool", Icon::Tool, "Tool"),
        ("external", _) => Speaker::new("external", Icon::External, "External"),
        ("session" | "state", _) => Speaker::new("system", Icon::System, "System"),
        ("user", _) => Speaker::new("user", Icon::Person, "Person"),
        ("agent", _) => Speaker::new("agent", Icon::Agent, "Agent"),
        (_, EventRole::User) => Speaker::new("user", Icon::Person, "Person"),
        (_, EventRole::Agent) => Speaker::new("agent", Icon::Agent, "Agent"),
        (_, EventRole::System) => Speaker::new("system", Icon::System, "System"),
    }
}

/// The name of the source that an event of another system gives.
fn source_name(event: &Event) -> Option<String> {
    if event.known() != Some(Known::ExternalEvent) {
        return None;
    }
    let Body::ExternalEvent(ExternalEvent { source: Some(source), .. }) = event.body() else { return None };
    (!source.trim().is_empty()).then(|| shorten::one_line(&source, SOURCE_CHARS_MAX))
}

/// Writes an event as a row.
pub fn write_row(html: &mut Html, session_id: &str, entry: &Entry<'_>, titles: &Titles) {
    write_row_with(html, session_id, entry, titles, |_, _| {});
}

/// The same with more below what the event holds.
pub fn write_row_with(
    html: &mut Html,
    session_id: &str,
    entry: &Entry<'_>,
    titles: &Titles,
    below: impl FnOnce(&mut Html, &Event),
) {
    let event = entry.event;
    write_head(html, event, entry.group, &event.kind, event.sequence);
    let source = Source { session_id, sequence: event.sequence };
    write_body(html, entry, titles, source);
    below(html, event);
    write_raw(html, source);
    html.raw("</div></li>");
}

/// Writes the start of a row, up to its body. Only the row of a single event is the target of links: `last_sequence` is
/// the last one that the row holds.
pub fn write_head(html: &mut Html, event: &Event, group: Group, kind: &str, last_sequence: u64) {
    let Speaker { style, picture, words } = speaker(event);
    let at = event.at;
    html.raw("<li class=\"event\"");
    if last_sequence == event.sequence {
        html.raw(" id=\"seq-").number(event.sequence).raw("\"");
    }
    html.raw(" data-sequence=\"").number(last_sequence);
    html.raw("\" data-group=\"").raw(group.as_str()).raw("\" data-kind=\"").text(kind);
    html.raw("\" data-speaker=\"").raw(style).raw("\"><time class=\"event-time\" data-time=\"clock\" datetime=\"");
    html.number(u64::try_from(at.year()).unwrap_or_default()).raw("-").two(at.month()).raw("-").two(at.day());
    html.raw("T").two(at.hour()).raw(":").two(at.minute()).raw(":").two(at.second()).raw(".");
    let millis = at.timestamp_subsec_millis();
    html.number(u64::from(millis / 100 % 10)).two(millis % 100).raw("Z\">");
    html.two(at.hour()).raw(":").two(at.minute()).raw(":").two(at.second());
    html.raw("</time><span class=\"event-seq\"><a href=\"#seq-")
        .number(event.sequence)
        .raw("\">")
        .number(event.sequence);
    html.raw("</a></span><span class=\"event-who\">").raw(icon_markup(picture)).raw("<span>");
    match source_name(event) {
        Some(source) => html.text(&source),
        None => html.raw(words),
    };
    html.raw("</span></span><div class=\"event-body\">");
}

/// A link to the event as JSON, which the browser replaces by the JSON.
fn write_raw(html: &mut Html, source: Source<'_>) {
    html.raw("<details class=\"raw\"><summary title=\"Raw JSON\" aria-label=\"Raw JSON of event ")
        .number(source.sequence)
        .raw("\">");
    html.raw(icon_markup(Icon::Code)).raw("</summary>");
    source.write_json_link(html);
    html.raw("</details>");
}

fn write_body(html: &mut Html, entry: &Entry<'_>, titles: &Titles, source: Source<'_>) {
    let event = entry.event;
    match event.known() {
        Some(Known::HumanEntityView) => write_view(html, entry, titles),
        Some(Known::SessionAssigneeChange) => write_assignee(html, entry, titles),
        Some(Known::UserOutputApproval | Known::UserToolConfirmation | Known::UserFormSubmit) => {
            match event.body().decision() {
                Some(decision) => write_decision(html, event, decision, titles),
                None => write_parts(html, entry, source),
            }
        }
        Some(Known::SessionStatusChange) => write_status_change(html, event),
        Some(Known::AgentThinking) => entry.parts.iter().enumerate().for_each(|(at, (part, _))| match part {
            Part::Text(text) | Part::Reasoning(text) => write_reasoning(html, text),
            other => write_part(html, other, entry, entry.failing_part == Some(at), source),
        }),
        Some(Known::SessionError) => write_error(html, entry, source),
        Some(
            Known::UserMessage
            | Known::UserToolResult
            | Known::UserFormDraft
            | Known::AgentMessage
            | Known::AgentToolCall
            | Known::AgentToolResult
            | Known::ToolSessionStarted
            | Known::ToolFieldChanged
            | Known::ToolInvocationStarted
            | Known::ToolInvocationCompleted
            | Known::ToolInvocationFailed,
        ) => write_parts(html, entry, source),
        Some(Known::ToolCompositionStepStarted | Known::ToolCompositionStepCompleted) => {
            if !write_step(html, event) {
                write_parts(html, entry, source);
            }
        }
        Some(
            Known::SessionCreated
            | Known::SessionClaimed
            | Known::SessionTagsChange
            | Known::SessionCompleted
            | Known::SessionContextInjected
            | Known::SessionWaitingApproval
            | Known::SessionFeedbackRequested
            | Known::HumanNavigate
            | Known::HumanMarker
            | Known::HumanTaskSwitch
            | Known::ExternalEvent
            | Known::StatePatch,
        ) => write_small(html, entry, source),
        None => match entry.group {
            Group::Messages | Group::Tools | Group::Errors | Group::Thinking => write_parts(html, entry, source),
            Group::State | Group::People | Group::External | Group::Other => write_small(html, entry, source),
        },
    }
}

/// Writes an event that is one sentence, or what a program printed.
fn write_small(html: &mut Html, entry: &Entry<'_>, source: Source<'_>) {
    write_warnings(html, entry.event);
    match printed(entry) {
        Some(text) => write_text(html, &text, source, as_printed),
        None => write_note(html, entry),
    }
    write_written(html, entry.event);
}

/// The text of an event of another system that has several lines, such as what a program printed as diagnostics.
fn printed(entry: &Entry<'_>) -> Option<String> {
    let is_only_text = entry.parts.iter().all(|(part, _)| matches!(part, Part::Text(_)));
    let text =
        if entry.event.known() == Some(Known::ExternalEvent) && is_only_text { text_of(entry) } else { String::new() };
    text.trim().contains('\n').then_some(text)
}

/// The joined texts of an event.
fn text_of(entry: &Entry<'_>) -> String {
    texts(&entry.parts.iter().map(|(part, _)| part.clone()).collect::<Vec<_>>())
}

/// Warnings above the text of a line: that bytes of it could not be read, and that the agent printed it as an event but
/// it is not valid.
fn write_warnings(html: &mut Html, event: &Event) {
    let Warnings { not_utf8, not_an_event, line } = Warnings::read(event.metadata.get());
    if let Some(places) = not_utf8 {
        html.raw("<p class=\"notice\" data-tone=\"wait\"><span>Could not be read: ");
        html.text(&shorten::one_line(&places, 500)).raw("</span></p>");
    }
    let Some(why) = not_an_event else { return };
    html.raw("<p class=\"notice\" data-tone=\"wait\"><span>");
    match line {
        Some(line) => html.raw("Line ").text(&line).raw(" of the output is not an event: "),
        None => html.raw("This is not an event: "),
    };
    html.text(&shorten::one_line(&why, 400)).raw("</span></p>");
}

fn write_parts(html: &mut Html, entry: &Entry<'_>, source: Source<'_>) {
    write_warnings(html, entry.event);
    let mut wrote = false;
    for (at, (part, joined)) in entry.parts.iter().enumerate() {
        wrote = true;
        let is_open = entry.failing_part == Some(at);
        match part {
            Part::Call(call) => tool::write_call(html, call, joined.as_ref(), is_open, source),
            part => write_part(html, part, entry, is_open, source),
        }
    }
    let metadata = entry.event.metadata.get();
    // The text of a message is complete without its metadata; forms and decisions are in the metadata.
    let is_said = matches!(entry.event.known(), Some(Known::AgentMessage | Known::UserMessage));
    if !wrote || (entry.group == Group::Messages && !is_said && metadata.len() > 2) {
        write_note(html, entry);
    }
}

/// Writes a part of an event. A result is unfolded if it `is_open`.
fn write_part(html: &mut Html, part: &Part<'_>, entry: &Entry<'_>, is_open: bool, source: Source<'_>) {
    match part {
        Part::Text(text) if entry.event.kind.starts_with("user.") => write_text(html, text, source, as_typed),
        Part::Text(text) => write_text(html, text, source, as_markdown),
        // The text beside it says the same.
        Part::Other(_) if entry.event.kind == Known::UserFormSubmit && entry.parts.len() > 1 => {}
        Part::Reasoning(text) => write_reasoning(html, text),
        Part::Call(call) => tool::write_call(html, call, None, false, source),
        Part::Answer(answer) => tool::write_answer(html, answer, is_open, source),
        Part::Other(raw) if is_picture(raw) => write_value(html, Some(raw), Some(source)),
        Part::Other(raw) => {
            html.raw("<details class=\"fold\"><summary><span class=\"event-kind\">").text(&entry.event.kind);
            html.raw("</span> <span class=\"fold-more\">Content</span></summary>");
            write_value(html, Some(raw), Some(source));
            html.raw("</details>");
        }
    }
}

fn as_markdown(html: &mut Html, text: &str) {
    html.raw("<div class=\"prose\">").message(text).raw("</div>");
}

/// Writes what a person typed as it is, line by line.
fn as_typed(html: &mut Html, text: &str) {
    html.raw("<p class=\"message-text\" dir=\"auto\">").text(text).raw("</p>");
}

/// Writes what a program printed: its lines, and its colours.
fn as_printed(html: &mut Html, text: &str) {
    html.raw("<pre class=\"event-printed\" dir=\"auto\">");
    if terminal::is_terminal(text) {
        html.terminal(text);
    } else {
        html.text(text);
    }
    html.raw("</pre>");
}

/// Writes a text: a long one is folded, a very long one is cut.
fn write_text(html: &mut Html, text: &str, source: Source<'_>, write: fn(&mut Html, &str)) {
    if text.len() <= OPEN_TEXT_BYTES_MAX {
        write(html, text);
        return;
    }
    html.raw("<details class=\"fold\"><summary><span class=\"fold-lead\" dir=\"auto\">")
        .text(shorten::head(text, LEAD_BYTES));
    html.raw("… </span><span class=\"fold-more\">")
        .text(&format!("Show all {}", crate::text::number::counted(text.chars().count() as u64, "character")));
    html.raw("</span></summary>");
    write(html, shorten::head(text, TEXT_BYTES_MAX));
    if text.len() > TEXT_BYTES_MAX {
        source.write_cut(html, None);
    }
    html.raw("</details>");
}

fn write_reasoning(html: &mut Html, text: &str) {
    html.raw("<details class=\"fold thinking\"><summary><span class=\"fold-more\">Thinking</span><span class=\"fold-lead\" dir=\"auto\">");
    html.text(&shorten::one_line(text, REASONING_CHARS_MAX)).raw("</span></summary><div class=\"prose\">");
    html.message(shorten::head(text, TEXT_BYTES_MAX)).raw("</div></details>");
}

fn write_status_change(html: &mut Html, event: &Event) {
    html.raw("<span class=\"change\">");
    if let Body::SessionStatusChange(change) = event.body() {
        if let Some(from) = change.from {
            html.view(view! { <StatusBadge status=from/> })
                .raw("<span aria-hidden=\"true\">→</span><span class=\"hidden-text\">to</span>");
        }
        html.view(view! { <StatusBadge status=change.to/> });
        html.raw("<span class=\"change-reason\">").text(change.reason_words()).raw("</span>");
    }
    html.raw("</span>");
}

/// Writes that someone viewed a record, with its title if it is known.
fn write_view(html: &mut Html, entry: &Entry<'_>, titles: &Titles) {
    let viewed = match entry.event.body() {
        Body::HumanEntityView(view) => Some(view.entity_id.to_string()),
        _ => None,
    };
    let found = viewed.and_then(|id| titles.get_key_value(&*id));
    match found {
        Some((id, title)) => {
            html.raw("<p>Opened <a dir=\"auto\" href=\"/entities/").text(id).raw("\">");
            html.text(&shorten::one_line(title, 400)).raw("</a></p>");
        }
        None => write_note(html, entry),
    }
}

fn write_assignee(html: &mut Html, entry: &Entry<'_>, titles: &Titles) {
    let to = match entry.event.body() {
        Body::SessionAssigneeChange(change) => change.to,
        _ => None,
    };
    let id = to.map(|id| ["user:", &id.to_string()].concat());
    match id.as_deref().and_then(|id| titles.get(id)) {
        Some(name) => {
            html.raw("<p>Assigned to <bdi>").text(name).raw("</bdi></p>");
        }
        None => write_note(html, entry),
    }
}

fn write_error(html: &mut Html, entry: &Entry<'_>, source: Source<'_>) {
    let parts: Vec<_> = entry.parts.iter().map(|(part, _)| part.clone()).collect();
    let Body::SessionError(error) = entry.event.body() else { return };
    error_text::push(html, error.message.as_deref().unwrap_or("No message was given."), OPEN_TEXT_BYTES_MAX);
    if let Some(code) = error.code() {
        html.raw("<code class=\"meta\">").text(code).raw("</code>");
    }
    for part in parts.iter().filter(|part| matches!(part, Part::Other(_))) {
        write_part(html, part, entry, false, source);
    }
}

/// Writes a small event: one sentence, with its content folded below. Unknown kinds show their name.
fn write_note(html: &mut Html, entry: &Entry<'_>) {
    let kind = &entry.event.kind;
    let parts: Vec<_> = entry.parts.iter().map(|(part, _)| part.clone()).collect();
    let text = texts(&parts);
    let metadata = entry.event.metadata.get();
    let body = entry.event.body();
    let words = body.sentence();
    let is_known = words.is_some() || matches!(body, Body::Unreadable(_));
    let words = words
        .unwrap_or_else(|| if text.is_empty() || entry.group == Group::Messages { kind_words(kind) } else { text });
    let carries: Vec<_> =
        parts.iter().filter_map(|part| if let Part::Other(raw) = part { Some(*raw) } else { None }).collect();
    let head = |html: &mut Html| {
        html.raw("<span dir=\"auto\">").text(&shorten::one_line(&words, 400)).raw("</span>");
        if !is_known {
            html.raw(" <span class=\"event-kind\">").text(kind).raw("</span>");
        }
    };
    // The sentence of a known kind holds its content; everything else is in the JSON of the event.
    let has_details = !carries.is_empty() || (!is_known && metadata.len() > 2);
    if !has_details {
        html.raw("<p>");
        head(html);
        html.raw("</p>");
        return;
    }
    html.raw("<details class=\"fold\"><summary>");
    head(html);
    html.raw(" <span class=\"fold-more\">Details</span></summary>");
    if metadata.len() > 2 {
        write_value(html, Some(&entry.event.metadata), None);
    }
    for raw in carries {
        write_value(html, Some(raw), None);
    }
    html.raw("</details>");
}

#[cfg(test)]
#[path = "row_tests.rs"]
mod tests;
