//! The picker in the rail, the marker dialog and the status messages, as HTML. Without scripts they are a link and a
//! form; `widget` attaches to the same elements, so this code is not part of the WASM build.

use super::{Active, StopWork};
use crate::ui::icon::{Icon, icon};
use leptos::{prelude::*, server_fn::ServerFn as _};

/// Longest note, characters.
const NOTE_CHARS_MAX: &str = "2000";

/// Data of the picker.
#[derive(Debug, Clone, Default)]
pub struct Picker {
    /// The active working session.
    pub active: Option<Active>,
    /// Id of the person, who owns the tasks created here.
    pub user_id: String,
    /// Id of the workspace.
    pub tenant_id: String,
    /// Whether the person may create tasks.
    pub may_create: bool,
}

/// The picker with its dialogs. `widget` reads the attributes of the root element.
pub fn picker_view(picker: Picker) -> impl IntoView {
    let Picker { active, user_id, tenant_id, may_create } = picker;
    let is_active = active.is_some();
    let Active { session_id, task_id, title, started_at, started_words } = active.unwrap_or_default();
    let posted = session_id.clone();
    let label = |title: String, started_at: String, words: String| {
        view! {
            <span class="working-text">
                "Working on: "<span dir="auto" data-part="title">{title}</span>" · "
                <time data-part="elapsed" datetime=started_at>{words}</time>
            </span>
        }
    };
    view! {
        <div
            class="working" id="working" data-user=user_id data-tenant=tenant_id data-may-create=may_create.then_some("")
            data-session=session_id data-task=task_id
        >
            <div data-part="idle" hidden=is_active>
                <a class="button working-pick no-js" data-look="quiet" href="/working-on" title="What are you working on?">
                    {icon(Icon::Target)}<span class="working-text">"What are you working on?"</span>
                </a>
                <button
                    class="button working-pick js-only" data-look="quiet" type="button" title="What are you working on?"
                    aria-haspopup="dialog" popovertarget="working-popover"
                >
                    {icon(Icon::Target)}<span class="working-text">"What are you working on?"</span>
                </button>
            </div>
            <div class="working-split" data-part="active" hidden=!is_active>
                <a class="button working-now no-js" data-look="quiet" href="/working-on">
                    {icon(Icon::Target)}{label(title.clone(), started_at.clone(), started_words.clone())}
                </a>
                <button
                    class="button working-now js-only" data-look="quiet" type="button" title=title.clone()
                    aria-haspopup="dialog" popovertarget="working-popover"
                >
                    {icon(Icon::Target)}{label(title.clone(), started_at, started_words)}
                    <span class="working-paused" data-part="paused" hidden="">"Paused"</span>
                </button>
                <form method="post" action=StopWork::PATH data-part="stop">
                    <input type="hidden" name="next" value="/working-on?notice=working_stopped"/>
                    <input type="hidden" name="session_id" value=posted/>
                    <button class="button" data-look="quiet" data-shape="icon" type="submit" aria-label="Stop working" title="Stop working">
                        {icon(Icon::Square)}
                    </button>
                </form>
            </div>
            {popover()}
            {marker(title)}
            {said()}
        </div>
    }
}

/// The popover: a combobox over tasks, and what is recorded.
fn popover() -> impl IntoView {
    view! {
        <div class="working-popover js-only" id="working-popover" popover="auto" role="dialog" aria-label="What are you working on?">
            <input
                class="palette-input" id="working-find" type="text" role="combobox" autocomplete="off" spellcheck="false" maxlength="200"
                aria-label="Find a task" placeholder="Find a task"
                aria-autocomplete="list" aria-expanded="true" aria-controls="working-list"
            />
            <p class="working-count" id="working-count" role="status"></p>
            <ul class="palette-list" id="working-list" role="listbox" aria-label="Your active tasks"></ul>
            <div class="working-foot">
                <p class="meta">"Records the pages you open and the markers you write. Does not record what you type, scroll or hover over."</p>
                <div class="working-tools">
                    <button class="button" type="button" data-size="small" role="switch" aria-checked="true" data-part="switch">
                        <span class="switch" aria-hidden="true"></span>"Record pages"
                    </button>
                    <button class="button" type="button" data-size="small" title="Add a marker (Ctrl M)" data-part="drop">"Add a marker"</button>
                    <a class="button" data-size="small" data-look="quiet" href="/working-on" title="Your day (g w)">"Your day"</a>
                </div>
            </div>
        </div>
    }
}

/// The marker dialog: one note about what was just done.
fn marker(title: String) -> impl IntoView {
    view! {
        <dialog class="dialog" id="marker" aria-labelledby="marker-title">
            <form method="dialog">
                <div class="dialog-head">
                    <h2 id="marker-title">"Add a marker"</h2>
                </div>
                <div class="dialog-body marker-body">
                    <label class="field-label" for="marker-note">"What did you just do?"</label>
                    <textarea
                        class="input" id="marker-note" rows="3" maxlength=NOTE_CHARS_MAX dir="auto"
                        aria-describedby="marker-about marker-problem"
                    ></textarea>
                    <p class="meta" id="marker-about">
                        "Recorded on: "<span dir="auto" data-part="title">{title}</span>". Press Enter to record, Shift Enter for a new line."
                    </p>
                    <p class="field-error" id="marker-problem" role="alert"></p>
                    <div class="form-actions">
                        <button class="button" data-look="primary" type="submit">"Record"</button>
                        <button class="button" type="button" data-part="cancel">"Cancel"</button>
                    </div>
                </div>
            </form>
        </dialog>
    }
}

/// Messages: refusals, a recorded marker, and events that the server refused.
fn said() -> impl IntoView {
    view! {
        <div class="said js-only" aria-live="polite">
            <div class="notice" data-part="said" hidden="">
                <p class="notice-body"></p>
                <button class="button" type="button" data-look="quiet" data-shape="icon" aria-label="Dismiss">{icon(Icon::Close)}</button>
            </div>
            <div class="notice" data-tone="bad" data-part="refused" hidden="">
                <p class="notice-body"></p>
                <button class="button" type="button" data-size="small" data-copy=""><span>"Copy"</span></button>
                <button class="button" type="button" data-size="small" aria-label="Dismiss the events that were not recorded" data-part="forget">"Dismiss"</button>
            </div>
        </div>
    }
}
