//! The notice that offers to undo the viewer's latest decision while it is held.

use super::api::{UndoDecisions, UndoOffer, item_field};
use crate::ui::{toast::Toast, tone::Tone};
use leptos::{prelude::*, server_fn::ServerFn as _};

/// The notice. `time` says how long the decision can be undone.
pub fn undo_notice(offer: UndoOffer, time: impl IntoView + 'static) -> impl IntoView {
    let items: Vec<_> =
        offer.items.iter().map(|id| view! { <input type="hidden" name=item_field(id) value=""/> }).collect();
    view! {
        <Toast tone=Tone::Good message=offer.title action=UndoDecisions::PATH>
            {items}
            <input type="hidden" name="next" value="/inbox?notice=decision_undone"/>
            <button class="button" type="submit" data-size="small" data-key="undo" title="Undo (z)">"Undo"<span>{time}</span></button>
        </Toast>
    }
}

/// The notice of the live page. It counts the seconds down and goes when the decision takes effect.
#[cfg(feature = "hydrate")]
#[component]
pub fn LiveUndoNotice(store: super::store::Store) -> impl IntoView {
    let time = move || [" (", &store.seconds_left.get().to_string(), " s)"].concat();
    move || store.offer.get().map(|offer| undo_notice(offer, time))
}

/// Why a request that belongs to no row was refused.
#[cfg(feature = "hydrate")]
#[component]
pub fn LiveRefusal(store: super::store::Store) -> impl IntoView {
    let notice = move |why: Vec<String>| {
        let lines: Vec<_> = why.into_iter().map(|why| view! { <p>{why}</p> }).collect();
        view! { <div class="notice" data-tone="bad" role="alert"><div class="notice-body">{lines}</div></div> }
    };
    move || Some(store.refused.get()).filter(|why| !why.is_empty()).map(notice)
}
