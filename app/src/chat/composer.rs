//! The form in which a person writes a message. It is not part of the fragment that is replaced, so typed text is
//! kept.

use crate::{
    FormState,
    server_function::page_fields,
    shell::Shell,
    thread::SendMessage,
    ui::button::{Button, Look},
};
use domain::{limit::THREAD_MESSAGE_CHARS_MAX, session::Status};
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::thread::Thread;

/// The form. While the agent works it needs scripts: without them the page reloads itself, which would discard typed
/// text.
pub fn composer(shell: &Shell, thread: &Thread, agent: &str, form: &FormState) -> impl IntoView + use<> {
    let is_busy = matches!(thread.status, Status::Pending | Status::Running);
    let typed = form.value("text").unwrap_or_default().to_owned();
    let class = if is_busy && typed.is_empty() { "composer js-only" } else { "composer" };
    let said = form.errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join(" ");
    let page = format!("/chat/{}", thread.id);
    view! {
        <form class=class id="composer" method="post" action=SendMessage::PATH data-stay="message">
            {page_fields(page.clone(), page)}
            <input type="hidden" name="session_id" value=thread.id.to_string()/>
            <input type="hidden" name="id" value=shell.form_key.clone()/>
            <label class="hidden-text" for="say">{format!("Message to {agent}")}</label>
            <textarea
                class="input" id="say" name="text" rows="2" required="" data-enter="" autocomplete="off" aria-describedby="composer-said"
                maxlength=THREAD_MESSAGE_CHARS_MAX.to_string() placeholder=format!("Message {agent}") autofocus=(!is_busy).then_some("")
            >
                {format!("\n{typed}")}
            </textarea>
            <p class="field-error" id="composer-said" role="alert">{said}</p>
            <div class="composer-foot">
                <p class="meta enter-hint js-only">"Press Enter to send, Shift Enter for a new line."</p>
                <p class="meta composer-late">"The conversation has ended. The text in this field was not sent."</p>
                <Button look=Look::Primary>"Send"</Button>
            </div>
        </form>
    }
}
