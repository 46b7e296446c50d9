//! The page /chat/{id}.

use super::{
    LiveConversation,
    conversation::Conversation,
    conversation_view::conversation_view,
    state::end_view,
    store::{Content, Written},
};
use crate::{
    FormState,
    document::render,
    render::to_html,
    shell::{RailEntry, Shell, frame},
    text::{escape, shorten},
    thread::SendMessage,
    ui::{
        button::{ButtonLink, Look},
        notice::Refused,
        page_head::Breadcrumbs,
    },
};
use domain::{limit::THREAD_MESSAGE_CHARS_MAX, session::Status};
use leptos::{prelude::*, server_fn::ServerFn as _};

/// Reload interval without scripts while the agent works, seconds.
const LOOK_AGAIN_SECONDS: u32 = 3;
/// Longest title in the header, characters.
const TITLE_CHARS_MAX: usize = 200;

/// Data of the page /chat/{id}.
#[derive(Debug, Clone)]
pub struct Props {
    /// The conversation of the page, with its messages.
    pub conversation: Conversation,
    /// State of a refused form, named by the path of its server function. That of a message restores the typed text.
    pub form: FormState,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let Props { conversation, form } = props;
    let title = shorten::one_line(&conversation.thread.title, TITLE_CHARS_MAX);
    render(shell, &title, || {
        let thread = &conversation.thread;
        let href = format!("/chat/{}", thread.id);
        let goes_on = !thread.status.is_final();
        let say = form.of(SendMessage::PATH);
        let others = if say.is_refused() { Vec::new() } else { form.general(&[]) };
        let is_busy =
            matches!(thread.status, Status::Pending | Status::Running | Status::AwaitingTool | Status::WaitingHuman);
        let is_typing = say.value("text").is_some_and(|text| !text.is_empty());
        // Reloads only if no text can be lost.
        let again =
            (matches!(thread.status, Status::Pending | Status::Running) && !is_typing && conversation.before.is_none())
                .then(|| format!("<meta http-equiv=\"refresh\" content=\"{LOOK_AGAIN_SECONDS}\">"));
        let look = is_busy.then(|| {
            let html =
                format!("<noscript>{}<p><a href=\"{href}\">Reload</a></p></noscript>", again.unwrap_or_default());
            view! { <div class="conversation-look" inner_html=html></div> }
        });
        // A page of earlier messages has no form, unless it restores a message that was refused.
        let composer =
            (goes_on && conversation.before.is_none() || say.is_refused()).then(|| written(shell, &conversation, &say));
        let head = view! {
            <header class="chat-head">
                <Breadcrumbs crumbs=vec![("Chat".to_owned(), "/chat".to_owned())]/>
                <h1 tabindex="-1" dir="auto">{title.clone()}</h1>
                <div class="session-actions">
                    <ButtonLink look=Look::Quiet href=format!("/sessions/{}", thread.id)>"Transcript"</ButtonLink>
                    {goes_on.then(|| end_view(thread))}
                </div>
            </header>
            <Refused messages=others/>
        };
        let live = view! {
            {conversation_view(&conversation)}
            {look}
        };
        let (session_id, rating) = (thread.id.to_string(), conversation.rating);
        let (head, conversation) = (to_html(head), to_html(live));
        provide_context(Content { session_id, head, conversation, rating, composer });
        let page = view! { <LiveConversation/> };
        frame(shell, RailEntry::Chat, page)
    })
}

/// The form for the next message.
fn written(shell: &Shell, conversation: &Conversation, form: &FormState) -> Written {
    let is_busy = matches!(conversation.thread.status, Status::Pending | Status::Running);
    let text = form.value("text").unwrap_or_default().to_owned();
    // A browser drops the first line break of the field.
    let mut text_html = "\n".to_owned();
    escape::content(&mut text_html, &text);
    Written {
        agent: conversation.agent().to_owned(),
        needs_scripts: is_busy && text.is_empty(),
        text,
        text_html,
        chars_max: THREAD_MESSAGE_CHARS_MAX.to_string(),
        key: shell.form_key.clone(),
        said: form.errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join(" "),
        is_focused: !is_busy,
    }
}
