//! The list of the inbox as components: rows, selection, undo notice and refusals show the store. The server renders
//! the same components into the page.

use super::{
    api::{DecideMany, UndoOffer},
    content::Content,
    events,
    item::{Item, Row},
    store::Store,
    undo_notice::{FailureNotice, UndoNotice},
};
use crate::{
    fragment::Fragment,
    ui::{
        button::{Button, ButtonLink, Look, Press},
        icon::{Icon, icon},
    },
};
use leptos::{prelude::*, server_fn::ServerFn as _};

/// The list. Empty text, pager, refusals and terminal sessions stay HTML of the server: they are forms and links
/// without a state of their own.
#[component]
pub fn ListView(store: Store, content: Content) -> impl IntoView {
    let Content { query, offer, page, refused, review, empty, pager, notify, terminal, .. } = content;
    let offer = offer.and_then(UndoOffer::to_json);
    let [refused_slot, review_slot, notify_slot] = store.fixed;
    let selected = move || store.is_live.get().then(|| store.selected_count());
    let words = move || match selected() {
        Some(count) => [&count.to_string(), " selected"].concat(),
        None => "Selected items".to_owned(),
    };
    let is_undecidable =
        move || !store.rows.with(|rows| rows.iter().any(|row| row.item.with(|item| item.digest.is_some())));
    view! {
        <section class="inbox-list" id="inbox-list" aria-label="Items" data-query=query>
            <div data-part="held" class="inbox-held" data-offer=offer><FailureNotice store/><UndoNotice store/></div>
            <Fragment html=refused at=refused_slot/>
            <form class="inbox-batch-form" id="inbox-batch" method="post" action=DecideMany::PATH data-selected=move || selected().map(|count| count.to_string())>
                <input type="hidden" name="next" value="/inbox?notice=decided"/>
                <input type="hidden" name="page" value=page/>
                // The first submit button of a form is the one that Enter presses. This one is disabled, so Enter
                // decides nothing.
                <button type="submit" disabled hidden></button>
                <p class="inbox-all js-only" hidden=is_undecidable>
                    <Button press=Press::Script look=Look::Quiet small=true attr:id="inbox-all" on:click=move |_| store.select_all()>
                        "Select all"
                    </Button>
                </p>
                <ul class="inbox-rows" id="inbox-rows" node_ref=store.list>
                    <For each=move || store.rows.get() key=|row| row.key.clone() let:row><RowView store row/></For>
                </ul>
                <Fragment part="empty" html=empty at=store.empty/>
                <div class="inbox-batch" id="inbox-selection" hidden=is_undecidable>
                    <span class="meta" id="inbox-selected">{words}</span>
                    <Fragment html=review at=review_slot/>
                    <Button
                        press=Press::Script script_only=true look=Look::Quiet small=true attr:id="inbox-range" attr:data-key="range"
                        title="Select everything from the last selected item to this one (Shift X)"
                        on:click=move |_| events::select_range(store)
                    >
                        "Select up to this item"
                    </Button>
                </div>
            </form>
            <nav class="pager" aria-label="Pages"><Fragment part="pager" html=pager at=store.pager/></nav>
            <div class="inbox-notify js-only"><Fragment html=notify at=notify_slot/></div>
            <Fragment part="terminal" html=terminal at=store.terminal/>
        </section>
    }
}

/// A row: an item, or the heading of a group.
#[component]
fn RowView(store: Store, row: Row) -> impl IntoView {
    if row.item.with_untracked(|item| item.is_heading) {
        view! { <HeadingRow store row/> }.into_any()
    } else {
        view! { <ItemRow store row/> }.into_any()
    }
}

/// What a part of a row shows of its item.
fn of<T: 'static>(row: &Row, read: fn(&Item) -> T) -> impl Fn() -> T + Clone + Send + use<T> {
    let item = row.item.clone();
    move || item.with(read)
}

/// Whether the viewer can select the item.
fn can_tick(row: &Row) -> Memo<bool> {
    let read = of(row, |item| item.digest.is_some());
    Memo::new(move |_| read())
}

fn flag(is_on: bool) -> Option<&'static str> {
    is_on.then_some("")
}

/// The row of an item. What it would change, its flags and facts stay HTML of the server, which knows the kinds of
/// items.
#[component]
fn ItemRow(store: Store, row: Row) -> impl IntoView {
    let (item, key) = (row.item.get_untracked(), row.key.clone());
    let (can_tick, ticked, name) = (can_tick(&row), row.clone(), super::item_field(&item.id));
    let tick = move || {
        let row = ticked.clone();
        can_tick.get().then(|| {
            view! {
                <input
                    type="checkbox" name=name.clone() value=of(&row, |item| item.digest.clone()) checked=item.is_ticked
                    data-key="select" aria-label=of(&row, |item| ["Select ", &item.title].concat()) title="Select (x)"
                    prop:checked=of(&row, |item| item.is_ticked)
                    on:change:target=move |event| store.tick(&row, event.target().checked())
                />
            }
        })
    };
    let opened = key.clone();
    view! {
        <li
            class="inbox-row" data-row data-id=item.id data-session=item.session_id
            data-outlier=of(&row, |item| flag(item.is_outlier)) data-in=item.group hidden=of(&row, |item| item.group.is_some() && item.is_folded)
            aria-current=of(&row, |item| item.is_current.then_some("true"))
            data-leaving=of(&row, |item| flag(item.is_leaving))
        >
            <span class="inbox-check">{tick}</span>
            <div class="inbox-row-body">
                <a
                    class="row-title" href=item.href data-open-item dir="auto"
                    on:focusin=move |_| events::focus(store, &key) on:click=move |event| events::open(store, &opened, &event)
                >
                    {of(&row, |item| item.title.clone())}
                </a>
                <div class="fragment" data-body inner_html=of(&row, |item| item.body.clone())></div>
                <p class="field-error" data-reason hidden=of(&row, |item| item.refusal.is_none())>
                    {of(&row, |item| item.refusal.clone().unwrap_or_default())}
                </p>
            </div>
        </li>
    }
}

/// The heading row of a group: the number of similar items and outliers, and a button that selects the similar ones.
#[component]
fn HeadingRow(store: Store, row: Row) -> impl IntoView {
    let item = row.item.get_untracked();
    let (folded, group, select) = (row.clone(), item.id.clone(), of(&row, |item| item.select.clone()));
    view! {
        <li class="inbox-row inbox-group" data-row data-group=item.id>
            <span class="inbox-check">{icon(Icon::Copy)}</span>
            <div class="inbox-row-body">
                <a
                    class="row-title" href=item.href data-fold dir="auto"
                    aria-expanded=of(&row, |item| if item.is_folded { "false" } else { "true" })
                    on:click=move |event| events::fold(store, &folded, &event)
                >
                    {of(&row, |item| item.title.clone())}
                </a>
                <div class="row-sub" data-body inner_html=of(&row, |item| item.body.clone())></div>
            </div>
            <ButtonLink
                small=true attr:data-key="select" attr:data-select="" href=item.select_href
                title="Select those that are alike (x)" on:click=move |event| events::select_group(store, &group, &event)
            >
                {select}
            </ButtonLink>
        </li>
    }
}
