//! The buttons in the rail: what is worked on, and Stop.

use super::{StopWork, Work, elapsed::elapsed};
use crate::ui::icon::{Icon, icon};
use leptos::{ev::SubmitEvent, html, prelude::*, server_fn::ServerFn as _};

/// Id of the popover of tasks, which the buttons open.
pub const POPOVER_ID: &str = "working-popover";

/// The buttons. The links replace them where scripts are off.
#[component]
pub fn Picker(work: Work) -> impl IntoView {
    let (idle_part, active_part) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    let (idle_button, active_button) = (NodeRef::<html::Button>::new(), NodeRef::<html::Button>::new());
    let is_active = Memo::new(move |_| work.active.read().is_some());
    let title = Memo::new(move |_| work.active.read().as_ref().map(|active| active.title.clone()).unwrap_or_default());
    let session_id = move || work.active.read().as_ref().map(|active| active.session_id.clone()).unwrap_or_default();
    let stop = move |event: SubmitEvent| {
        event.prevent_default();
        #[cfg(feature = "hydrate")]
        super::control::stop(work);
    };
    // A part that is hidden while it has the focus gives it to the button that takes its place.
    Effect::new(move |was_active: Option<bool>| {
        let is_active = is_active.get();
        if was_active.is_some_and(|was| was != is_active) {
            let (from, to) = if is_active { (idle_part, active_button) } else { (active_part, idle_button) };
            super::focus::move_focus(from, to);
        }
        is_active
    });
    view! {
        <div data-part="idle" hidden=move || is_active.get() node_ref=idle_part>
            <a class="button working-pick no-js" data-look="quiet" href="/working-on" title="What are you working on?">
                {icon(Icon::Target)}<span class="working-text">"What are you working on?"</span>
            </a>
            <button
                class="button working-pick js-only" data-look="quiet" type="button" title="What are you working on?"
                aria-haspopup="dialog" popovertarget=POPOVER_ID node_ref=idle_button
            >
                {icon(Icon::Target)}<span class="working-text">"What are you working on?"</span>
            </button>
        </div>
        <div class="working-split" data-part="active" hidden=move || !is_active.get() node_ref=active_part>
            <a class="button working-now no-js" data-look="quiet" href="/working-on">
                {icon(Icon::Target)}<Label work/>
            </a>
            <button
                class="button working-now js-only" data-look="quiet" type="button" title=move || title.get()
                aria-haspopup="dialog" popovertarget=POPOVER_ID node_ref=active_button
            >
                {icon(Icon::Target)}<Label work/>
                <span class="working-paused" data-part="paused" hidden=move || !work.paused.get()>"Paused"</span>
            </button>
            <form method="post" action=StopWork::PATH data-part="stop" on:submit=stop>
                <input type="hidden" name="next" value="/working-on?notice=working_stopped"/>
                <input type="hidden" name="session_id" prop:value=session_id value=session_id/>
                <button
                    class="button" data-look="quiet" data-shape="icon" type="submit" aria-label="Stop working"
                    title="Stop working"
                >
                    {icon(Icon::Square)}
                </button>
            </form>
        </div>
    }
}

/// The task, and for how long. The time ticks once a second in the browser.
#[component]
fn Label(work: Work) -> impl IntoView {
    let now = RwSignal::new(None::<f64>);
    #[cfg(feature = "hydrate")]
    {
        // The first rendering must be the server's; the time follows it.
        Effect::new(move |_| {
            work.active.track();
            now.set(Some(js_sys::Date::now()));
        });
        crate::browser::dom::every(1_000, move || now.set(Some(js_sys::Date::now())));
    }
    let title = move || work.active.read().as_ref().map(|active| active.title.clone());
    let started_at = move || work.active.read().as_ref().map(|active| active.started_at.clone());
    let time = move || {
        let active = work.active.read();
        let active = active.as_ref()?;
        Some(match now.get() {
            Some(now) => elapsed(now - super::focus::milliseconds_of(&active.started_at)),
            None => active.started_words.clone(),
        })
    };
    view! {
        <span class="working-text">
            <span class="hidden-text">"Working on: "</span><span dir="auto" data-part="title">{title}</span>" · "
            <time data-part="elapsed" datetime=started_at>{time}</time>
        </span>
    }
}
