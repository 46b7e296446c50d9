//! The form in which a person writes a message. It is not part of what is replaced, so typed text is kept.

use super::store::{Store, Written};
use crate::{
    thread::SendMessage,
    ui::button::{Button, Look},
};
use leptos::{ev::SubmitEvent, prelude::*, server_fn::ServerFn as _};

/// The form. A message that is refused stays in it, with the reason.
#[component]
pub fn Composer(store: Store, given: Written) -> impl IntoView {
    let session_id = store.session_id.get_value();
    let page = ["/chat/", &session_id].concat();
    let class = if given.needs_scripts { "composer js-only" } else { "composer" };
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        #[cfg(feature = "hydrate")]
        super::follow::send(store);
    };
    view! {
        <form
            class=class id="composer" method="post" action=SendMessage::PATH
            data-sending=move || store.is_sending.get().then_some("") on:submit=send
        >
            <input type="hidden" name="next" value=page.clone()/>
            <input type="hidden" name="page" value=page/>
            <input type="hidden" name="session_id" value=session_id/>
            <input type="hidden" name="id" value=given.key prop:value=move || store.key.get()/>
            <textarea
                class="input" id="say" name="text" rows="2" required="" data-enter="" autocomplete="off" aria-describedby="composer-said"
                aria-label=["Message to ", &given.agent].concat() placeholder=["Message ", &given.agent].concat()
                maxlength=given.chars_max autofocus=given.is_focused inner_html=given.text_html
                prop:value=move || store.text.get() on:input:target=move |event| store.text.set(event.target().value())
            ></textarea>
            <p class="field-error" id="composer-said" role="alert">
                {move || Some(store.said.get()).filter(|said| !said.is_empty())}
            </p>
            <div class="composer-foot">
                <p class="meta enter-hint js-only">"Press Enter to send, Shift Enter for a new line."</p>
                <p class="meta composer-late">"The conversation has ended. The text in this field was not sent."</p>
                <Button look=Look::Primary>"Send"</Button>
            </div>
        </form>
    }
}
