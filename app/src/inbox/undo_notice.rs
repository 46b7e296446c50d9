//! The notices above the list: what can be undone, and what was refused.

use super::{
    api::{UndoDecisions, UndoOffer, item_field},
    store::Store,
};
use crate::ui::{button::Button, notice_frame::NoticeFrame, toast::Toast, tone::Tone};
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
    let until = offer.until;
    let time = move || {
        if store.is_live.get() {
            [" (", &store.seconds_left().to_string(), " s)"].concat()
        } else {
            [" until ", &until, " UTC"].concat()
        }
    };
    view! {
        <Toast tone=Tone::Good message=offer.title action=UndoDecisions::PATH>
            {items}
            <input type="hidden" name="next" value="/inbox?notice=decision_undone"/>
            <Button small=true attr:data-key="undo" title="Undo (z)">"Undo"<span>{time}</span></Button>
        </Toast>
    }
}

/// Why a request that belongs to no row was refused.
#[component]
pub fn Refusals(store: Store) -> impl IntoView {
    let notice = |why: Vec<String>| {
        let lines: Vec<_> = why.into_iter().map(|why| view! { <p>{why}</p> }).collect();
        view! { <NoticeFrame tone=Tone::Bad>{lines}</NoticeFrame> }
    };
    move || Some(store.refused.get()).filter(|why| !why.is_empty()).map(notice)
}
