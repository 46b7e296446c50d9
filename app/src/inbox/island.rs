//! The island of the inbox's page: list, selection, detail and undo notice over one store.

use super::{content::Content, events, list_view::ListView, store::Store};
use crate::fragment::Fragment;
use leptos::prelude::*;

/// The inbox. The item beside the list stays HTML of the server: its values, differences and transcript are rendered
/// there. The server provides [`Content`].
#[island(lazy)]
pub fn LiveInbox() -> impl IntoView {
    let content = Content::of_page();
    let store = Store::new(&content);
    // The first rendering must be the server's.
    Effect::new(move |_| {
        store.is_live.set(true);
        #[cfg(feature = "hydrate")]
        super::triage::start(store);
    });
    let detail = content.detail.clone();
    view! {
        <p class="hidden-text" id="inbox-announcement" role="status">{move || store.announcement.get()}</p>
        <div
            class="inbox" id="inbox" data-keys="inbox" data-opened=move || store.is_opened.get().then_some("")
            on:submit=move |event| events::submit(store, event) on:click=move |event| events::click(store, event)
            on:keydown=move |event| events::key(store, event)
        >
            <ListView store content/>
            <section class="inbox-detail" id="inbox-detail" aria-label="Item" on:input=move |event| events::input(store, event)>
                <Fragment html=detail at=store.detail/>
            </section>
        </div>
    }
}
