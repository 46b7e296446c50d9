//! The live part of a conversation, which is rendered again as a fragment when its log has changed.

use super::{
    conversation::Conversation,
    message::{lines, resendable_message, write},
    state::state_view,
};
use crate::{
    render::to_html,
    text::number,
    ui::{badge::StatusBadge, button::ButtonLink, time::moment},
};
use domain::session::Status;
use leptos::prelude::*;

/// The live part as a fragment. The browser replaces its `data-part` elements one by one.
pub fn fragment(conversation: &Conversation) -> String {
    to_html(conversation_view(conversation))
}

/// The live part.
pub fn conversation_view(conversation: &Conversation) -> impl IntoView + use<> {
    let thread = &conversation.thread;
    let id = thread.id;
    let lines = lines(&conversation.events, &conversation.others);
    let again = resendable_message(&lines)
        .filter(|_| thread.status == Status::Idle && conversation.before.is_none())
        .map(str::to_owned);
    // Nothing is recorded of an incognito conversation, so its memories cannot be rated.
    let messages = write(&lines, conversation.agent(), (!thread.incognito).then_some(id));
    let page = conversation.before.map(|before| format!("?before={before}")).unwrap_or_default();
    let source = format!("/chat/{id}/live{page}");
    let earlier = conversation.has_earlier.then(|| {
        let before = conversation.events.first().map_or(0, |event| event.sequence);
        view! { <ButtonLink small=true href=format!("/chat/{id}?before={before}")>"Earlier messages"</ButtonLink> }
    });
    let later = conversation.before.map(|_| {
        view! { <p class="meta"><a href=format!("/chat/{id}")>"Go to the newest messages"</a></p> }
    });
    let kept = conversation.memory.as_ref().map(|memory| {
        let ratings = match memory.session_feedback_count {
            Some(count) => number::counted(count, "rating"),
            None => "ratings cannot be read now".to_owned(),
        };
        view! {
            <div><dt>"Messages"</dt><dd>{number::grouped(memory.turn_count)}</dd></div>
            <div><dt>"Recorded"</dt><dd>{number::counted(memory.event_count, "event")}", "{ratings}</dd></div>
        }
    });
    // Which conversation was open is recorded nowhere: members read the log of a working session.
    let unrecorded = thread.incognito.then_some("");
    view! {
        <div class="conversation" id="conversation" data-unrecorded=unrecorded data-live=source data-rating=conversation.rating.as_str()>
            <div class="conversation-facts" data-part="facts">
                <StatusBadge status=thread.status/>
                <dl class="facts">
                    <div><dt>"Started"</dt><dd>{moment(thread.created_at)}</dd></div>
                    {kept}
                    {thread.incognito.then(|| view! { <div><dt>"Incognito"</dt><dd>"only you can see it, and ratings are kept only in memory"</dd></div> })}
                </dl>
            </div>
            <div class="conversation-log" tabindex="0" role="log" aria-label="Messages">
                <div class="conversation-inner">
                    <div class="transcript-edge" data-part="edge">{earlier}</div>
                    <ol class="messages" data-part="messages" data-list="" inner_html=messages></ol>
                    <div class="conversation-state" data-part="state" data-state=state_word(thread.status)>
                        {later}
                        {state_view(conversation, again)}
                    </div>
                </div>
            </div>
        </div>
    }
}

/// The value of the state attribute, for the style sheet.
const fn state_word(status: Status) -> &'static str {
    match status {
        Status::Pending => "queued",
        Status::Running => "thinking",
        Status::WaitingHuman | Status::AwaitingTool => "waiting",
        Status::Draft | Status::Idle => "rest",
        Status::Completed | Status::Failed | Status::Abandoned | Status::Expired => "ended",
    }
}
