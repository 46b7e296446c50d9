//! Suggestions: those of this person, and those that wait for a decision.

use super::{
    answer::{Suggestion, answer},
    live,
    press::{button, small_button},
    sender::{self, Delivery},
    state::Editor,
    status::Mode,
};
use crate::{
    browser::{
        fetch,
        task::spawn_local,
        view::{browser_view, list, reactive},
    },
    canvas::rejected_words,
    ui::button::Look,
};
use domain::canvas::{Answer, change_words};
use leptos::prelude::*;

/// Sends the changes of this person as one suggestion. What cannot be sent stays a change that is not sent.
fn send(editor: Editor) {
    let Some(patch) = editor.take_suggestion() else { return };
    spawn_local(async move {
        let address = editor.address("/patches");
        let refusal = match sender::send(&address, &patch).await {
            Ok(Delivery::Suggested) => {
                editor.peers.announcement.set("Your suggestion was sent.".to_owned());
                return live::read_suggestions(editor);
            }
            // An editor has made this person an editor meanwhile.
            Ok(Delivery::Decided(Answer::Committed(_))) => return live::reload(editor),
            Ok(Delivery::Decided(Answer::Rejected(rejected))) => rejected_words(rejected.reason).to_owned(),
            Ok(Delivery::Refused(reason)) => reason,
            Ok(Delivery::SignedOut) => fetch::SIGNED_OUT.to_owned(),
            Ok(Delivery::Unreachable) => fetch::UNREACHABLE.to_owned(),
            Err(seconds) => ["Too many suggestions. Send it again in ", &seconds.to_string(), " s."].concat(),
        };
        editor.change(patch.ops);
        editor.say(&refusal);
    });
}

/// Accepts or declines a suggestion. An accepted one comes back as a patch. One that would change something else than
/// what is shown is not accepted.
fn decide(editor: Editor, op_id: String, accepted: Option<String>) {
    spawn_local(async move {
        // An id is a text of the API, so it needs escapes. A digest is hexadecimal.
        let id = serde_json::to_string(&op_id).unwrap_or_default();
        let decision = match &accepted {
            Some(digest) => [r#"true,"digest":""#, digest, r#"""#].concat(),
            None => "false".to_owned(),
        };
        let body = [r#"{"opId":"#, &id, r#","accept":"#, &decision, "}"].concat();
        let address = editor.address("/suggestions");
        let request = fetch::build("POST", &address, Some(&body), "application/json", "application/json");
        let Some(request) = request else { return };
        match fetch::send(&request).await {
            Ok(response) if response.ok() => {
                let text = fetch::text(&response).await.unwrap_or_default();
                if let Some(Some(Answer::Rejected(rejected))) = answer(&text) {
                    editor.say(rejected_words(rejected.reason));
                }
            }
            Ok(_) => editor.say(
                "This suggestion could not be decided. Someone decided it, or it would change something else now. Look at \
                 it again.",
            ),
            Err(_) => editor.say(fetch::UNREACHABLE),
        }
        live::read_suggestions(editor);
    });
}

/// The bar of a person who suggests: how many changes wait, and the button that sends them.
#[component]
pub fn SuggestBar(editor: Editor) -> impl IntoView {
    let is_shown = move || editor.mode.get() == Mode::Suggest && editor.waiting.get() > 0;
    view! {
        <p class="canvas-suggest form-actions" hidden=reactive(move || !is_shown())>
            {button("Send as a suggestion", Look::Primary, move || send(editor))}
        </p>
    }
}

/// The suggestions that wait, with a decision for editors.
#[component]
pub fn Suggestions(editor: Editor) -> impl IntoView {
    let is_empty = reactive(move || editor.suggestions.with(Vec::is_empty));
    let waiting = list(move || {
        let view = |one: Suggestion| (one.op_id.clone(), browser_view(move || view! { <SuggestionView editor one/> }));
        editor.suggestions.get().into_iter().map(view).collect()
    });
    view! {
        <section class="canvas-suggestions" aria-label="Suggestions" hidden=is_empty>
            <h2>"Suggestions"</h2>
            <ul>{waiting}</ul>
        </section>
    }
}

#[component]
fn SuggestionView(editor: Editor, one: Suggestion) -> impl IntoView {
    let words = |op| editor.read(|document| change_words(document, op));
    let changes = one.ops.iter().filter(|op| op.writes()).map(|op| view! { <li dir="auto">{words(op)}</li> });
    let changes = changes.collect_view();
    let (accept, decline, digest) = (one.op_id.clone(), one.op_id, one.digest);
    let cannot_accept = digest.is_none();
    let digest = digest.unwrap_or_default();
    let cannot = reactive(move || editor.mode.get() != Mode::Edit || cannot_accept);
    view! {
        <li class="canvas-suggestion">
            <p class="meta">{editor.name_of(&one.by)}</p>
            <ul>{changes}</ul>
            <p class="form-actions" hidden=cannot>
                {small_button("Accept", Look::Plain, move || decide(editor, accept.clone(), Some(digest.clone())))}
                {small_button("Decline", Look::Quiet, move || decide(editor, decline.clone(), None))}
            </p>
        </li>
    }
}
