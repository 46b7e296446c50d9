//! The state of a conversation: whose turn it is, or its summary once it has ended.

use super::conversation::Conversation;
use crate::{
    server_function::page_fields,
    text::{duration, markdown, number},
    thread::{EndConversation, InterruptTurn, SendMessage},
    ui::{
        button::{Button, ButtonLink, Look},
        icon::{Icon, icon},
        popover::Popover,
        time::since,
    },
};
use domain::{
    Timestamp,
    limit::SUMMARY_QUOTE_CHARS_MAX,
    session::{EndReason, Status},
};
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::thread::{Thread, ThreadSummary};

/// The state below the messages. `again` is the message that can be sent again after a failed turn.
pub fn state_view(conversation: &Conversation, again: Option<String>) -> impl IntoView + use<> {
    let thread = &conversation.thread;
    let agent = conversation.agent().to_owned();
    let id = &thread.id;
    match thread.status {
        Status::Draft => view! { <p class="meta">"Nothing has been said yet."</p> }.into_any(),
        Status::Pending => view! {
            {busy(Icon::Pending, format!("Waiting for {agent}"), thread.updated_at)}
            <p class="meta">"It answers as soon as it is free. Messages that you send until then are answered together."</p>
        }
        .into_any(),
        Status::Running => view! {
            {busy(Icon::Running, format!("{agent} is thinking"), thread.updated_at)}
            <form method="post" action=InterruptTurn::PATH>
                {own_fields(&id.to_string())}
                <Button picture=Icon::Square small=true title="Stop this turn. Messages so far are kept.">"Stop"</Button>
            </form>
        }
        .into_any(),
        Status::WaitingHuman => waiting(conversation, &agent).into_any(),
        Status::AwaitingTool => {
            busy(Icon::AwaitingTool, "Waiting for an external tool".to_owned(), thread.updated_at).into_any()
        }
        Status::Idle => again
            .map(|text| {
                view! {
                    <p class="meta">"Nothing is lost. Your next message continues the conversation."</p>
                    <form method="post" action=SendMessage::PATH>
                        {own_fields(&id.to_string())}
                        <input type="hidden" name="text" value=text/>
                        <input type="hidden" name="id" value=conversation.resend_id.clone()/>
                        <Button small=true>"Send it again"</Button>
                    </form>
                }
            })
            .into_any(),
        Status::Completed | Status::Failed | Status::Abandoned | Status::Expired => ended(conversation).into_any(),
    }
}

/// The present work, and since when. A script rewrites the time, and the log around it is a live region too. A screen
/// reader would repeat the message each time.
fn busy(picture: Icon, words: String, at: Timestamp) -> impl IntoView {
    view! {
        <p class="conversation-busy">
            {icon(picture)}
            <span><span role="status">{words}</span><span aria-live="off">", "{since(at)}</span></span>
        </p>
    }
}

/// Hidden fields of a form that continues with the page of this conversation.
fn own_fields(id: &str) -> impl IntoView + use<> {
    let page = format!("/chat/{id}");
    view! {
        {page_fields(page.clone(), page)}
        <input type="hidden" name="session_id" value=id.to_owned()/>
    }
}

fn waiting(conversation: &Conversation, agent: &str) -> impl IntoView + use<> {
    let words = match &conversation.gate {
        Some(gate) if gate.is_question => format!("{agent} asks you. Your next message is the answer."),
        Some(_) => "It continues when a person has decided.".to_owned(),
        None => "It is waiting for a person.".to_owned(),
    };
    let link = conversation.gate.as_ref().map(|gate| {
        let words = if gate.may_decide { "Decide in the inbox" } else { "Show what it is waiting for" };
        view! { <ButtonLink small=true href=format!("/inbox/{}", gate.id)>{words}</ButtonLink> }
    });
    view! {
        <p class="conversation-busy" role="status">{icon(Icon::WaitingHuman)}<span>{words}</span></p>
        {link}
    }
}

fn ended_words(thread: &Thread) -> &'static str {
    match (thread.status, thread.end_reason) {
        (Status::Completed, _) => "The conversation has ended.",
        (Status::Failed, _) => "The conversation failed. What was said is kept in its transcript.",
        (Status::Expired, _) | (_, Some(EndReason::TimedOut)) => "The conversation ran out of time.",
        _ => "The conversation was ended early.",
    }
}

fn ended(conversation: &Conversation) -> impl IntoView + use<> {
    view! {
        <section class="conversation-ended" aria-labelledby="conversation-ended-title">
            <h2 id="conversation-ended-title">{ended_words(&conversation.thread)}</h2>
            {conversation.summary.as_ref().map(|summary| summary_view(summary, conversation.agent()))}
            <p class="form-actions">
                <ButtonLink small=true href="/chat#chat-new">"New conversation"</ButtonLink>
                <ButtonLink small=true look=Look::Quiet href=format!("/sessions/{}", conversation.thread.id)>"Transcript"</ButtonLink>
            </p>
        </section>
    }
}

fn summary_view(summary: &ThreadSummary, agent: &str) -> impl IntoView + use<> {
    let figures = format!("{} in {}", number::counted(summary.turns, "message"), duration::words(summary.duration_ms));
    let quote = |term: &'static str, text: Option<String>| {
        text.map(|text| view! { <div><dt>{term}</dt><dd dir="auto">{text}</dd></div> })
    };
    let closing = summary.closing.clone().map(|text| {
        view! {
            <p class="conversation-closing" dir="auto">{text}</p>
            <p class="meta">{format!("Summary by {agent}.")}</p>
        }
    });
    let missing = summary.closing_missing.clone().map(|why| {
        view! { <p class="meta" dir="auto">{format!("Quoted from the log, because {agent} gave no summary ({why}).")}</p> }
    });
    view! {
        <dl class="conversation-summary">
            <div><dt>"Summary"</dt><dd>{figures}</dd></div>
            {quote("First request", summary.first_request.clone())}
            {quote("Last reply", summary.last_reply.as_deref().map(|text| markdown::one_line(text, SUMMARY_QUOTE_CHARS_MAX)))}
        </dl>
        {closing}
        {missing}
    }
}

/// Ending the conversation. The rating is asked first and is optional.
pub fn end_view(thread: &Thread) -> impl IntoView + use<> {
    view! {
        <div class="conversation-end">
            <Popover label="End" action=EndConversation::PATH>
                {own_fields(&thread.id.to_string())}
                <p class="rating-question" id="end-question">"Did this help?"</p>
                <div class="form-actions" role="group" aria-labelledby="end-question">
                    <Button picture=Icon::ThumbUp attr:data-key="helped" attr:data-shortcut="y" name="feedback" value="positive" title="It helped (y)">"Yes"</Button>
                    <Button picture=Icon::ThumbDown attr:data-key="unhelped" attr:data-shortcut="n" name="feedback" value="negative" title="It did not help (n)">"No"</Button>
                    <Button attr:data-key="unsaid" attr:data-shortcut="s" title="Rather not say (s)">"End without rating"</Button>
                </div>
                <p class="meta">"Each of these buttons ends the conversation and shows a summary. A turn that is running is stopped."</p>
            </Popover>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::to_html, session::Rating};
    use std::collections::HashMap;

    fn conversation(status: &str) -> Conversation {
        let at = "2026-11-25T10:00:00Z";
        let thread = serde_json::json!({
            "id": "01935f00-0000-7000-8000-000000000001", "title": "Acme", "agentSlug": "clerk", "actionId": null,
            "status": status, "endReason": null, "incognito": false, "headSequence": 4, "createdBy": "user:u1",
            "createdAt": at, "updatedAt": at, "completedAt": null,
        });
        Conversation {
            thread: serde_json::from_value(thread).unwrap(),
            events: Vec::new(),
            others: HashMap::new(),
            resend_id: String::new(),
            has_earlier: false,
            before: None,
            summary: None,
            gate: None,
            memory: None,
            rating: Rating::Silent,
        }
    }

    #[test]
    fn the_time_since_which_something_goes_on_is_in_no_live_region() {
        for (status, words) in [
            ("pending", "Waiting for clerk"),
            ("running", "clerk is thinking"),
            ("awaiting_tool", "Waiting for an external tool"),
        ] {
            let html = to_html(state_view(&conversation(status), None));
            assert!(html.contains(&format!("<span role=\"status\">{words}</span>")), "{html}");
            let (_, time) = html.split_once("<span aria-live=\"off\">").unwrap();
            assert!(time.split("</span>").next().unwrap().contains("data-time=\"since\""), "{html}");
            assert_eq!(html.matches("data-time").count(), 1, "{html}");
        }
    }
}
