//! The notices that float above the page: what can be undone, and what failed.

use super::{
    api::{UndoDecisions, UndoOffer, item_field},
    events,
    store::Store,
};
use crate::ui::{
    button::{Button, Look, Press},
    toast::Toast,
    tone::Tone,
};
use leptos::{prelude::*, server_fn::ServerFn as _};

/// Offers to undo the viewer's latest decision while it is held. The live page counts the seconds down; without
/// scripts the notice says until when.
#[component]
pub fn UndoNotice(store: Store) -> impl IntoView {
    move || store.offer.get().map(|offer| offered(store, offer))
}

fn offered(store: Store, offer: UndoOffer) -> impl IntoView {
    let items: Vec<_> =
        offer.items.iter().map(|id| view! { <input type="hidden" name=item_field(id) value=""/> }).collect();
    // Without scripts the form leads to the item that is open again.
    let next = match offer.items.as_slice() {
        [only] => ["/", only].concat(),
        _ => String::new(),
    };
    let until = offer.until;
    // A denial is no success of the agent's proposal.
    let tone = if offer.title.starts_with("Denied") { Tone::Wait } else { Tone::Good };
    let time = move || {
        if store.is_live.get() {
            [" (", &store.seconds_left().to_string(), " s)"].concat()
        } else {
            [" until ", &until, " UTC"].concat()
        }
    };
    view! {
        <Toast tone message=offer.title action=UndoDecisions::PATH>
            {items}
            <input type="hidden" name="next" value=["/inbox", &next, "?notice=decision_undone"].concat()/>
            <Button small=true attr:data-key="undo" title="Undo (z)">"Undo"<span>{time}</span></Button>
        </Toast>
    }
}

/// The decisions that failed, at the place of the offer to undo. What was not confirmed can be sent again as it was.
#[component]
pub fn FailureNotice(store: Store) -> impl IntoView {
    // Rows change all the time. A notice that is created again would be announced again, and its buttons would lose the
    // focus.
    let words = Memo::new(move |_| store.failure_words());
    move || words.get().map(|words| failed(store, words))
}

fn failed(store: Store, words: String) -> impl IntoView {
    let buttons = move || {
        (store.unsent.get() > 0).then(|| {
            view! {
                <Button press=Press::Script small=true on:click=move |_| events::send_again(store)>"Send again"</Button>
                <Button press=Press::Script small=true look=Look::Quiet on:click=move |_| events::discard(store)>
                    "Do not send"
                </Button>
            }
        })
    };
    view! {
        <div class="notice" data-tone=Tone::Bad.as_str() role="alert">
            <div class="notice-body"><p>{words}</p></div>
            {buttons}
        </div>
    }
}
