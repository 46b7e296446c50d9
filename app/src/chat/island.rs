//! The island of a conversation's page: what a person writes, and what changes while the agent works.

use super::{
    composer::Composer,
    store::{Content, Store},
};
use crate::{fragment::Fragment, session::RatingPanel};
use leptos::{
    ev::{MouseEvent, SubmitEvent},
    prelude::*,
};

/// The page of a conversation. Its header, messages and state stay HTML of the server: markdown, tool views and the
/// words for each status never ship. The server provides [`Content`].
#[island(lazy)]
pub fn LiveConversation() -> impl IntoView {
    let content = Content::of_page();
    let store = Store::new(&content);
    let Content { session_id, head, conversation, composer, .. } = content;
    // The conversation is there once the island is mounted.
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| super::follow::start(store));
    view! {
        <div
            class="chat" data-keys="session" data-session=session_id on:submit=move |event| submit(store, &event)
            on:click=move |event| click(store, &event)
        >
            <Fragment html=head at=store.head/>
            <Fragment html=conversation at=store.conversation/>
            <RatingPanel state=store.rating place="/chat"/>
            {composer.map(|given| view! { <Composer store given/> })}
        </div>
    }
}

/// A form that the server rendered was submitted.
fn submit(store: Store, event: &SubmitEvent) {
    #[cfg(feature = "hydrate")]
    super::follow::on_submit(store, event);
    #[cfg(not(feature = "hydrate"))]
    let _ = (store, event);
}

/// Something that the server rendered was clicked.
fn click(store: Store, event: &MouseEvent) {
    #[cfg(feature = "hydrate")]
    super::follow::on_click(store, event);
    #[cfg(not(feature = "hydrate"))]
    let _ = (store, event);
}
