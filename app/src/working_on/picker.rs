//! The picker in the rail: what are you working on? Without scripts a link and a form.

use super::{
    active::Active,
    choice::{Row, Task, moved, rows},
    elapsed::elapsed,
    marker::MarkerDialog,
    said::SaidLine,
};
use crate::ui::icon::{Icon, icon};
use leptos::{ev, html, prelude::*};

const POPOVER: &str = "working-popover";

/// The picker, with the recorder and the marker behind it. `session_id` is empty where nothing is worked on.
#[island]
pub fn WorkingOn(
    /// The working session.
    active: Active,
    /// The person; new tasks are theirs.
    user_id: String,
    /// Their workspace.
    tenant_id: String,
    /// Whether they may create tasks.
    may_create: bool,
) -> impl IntoView {
    let active = RwSignal::new(Some(active).filter(Active::is_confirmed));
    let paused = RwSignal::new(false);
    let said = RwSignal::new(None);
    let refused = RwSignal::new(Vec::new());
    let now = RwSignal::new(0.0_f64);
    #[cfg(feature = "hydrate")]
    {
        use super::{control, state::Signals};
        control::start(super::owner_of(&tenant_id, &user_id), Signals { active, paused, said, refused });
        // Only a page that shows a time has to tell it.
        now.set(js_sys::Date::now());
        gloo_timers::callback::Interval::new(1_000, move || {
            if active.with_untracked(Option::is_some) {
                now.set(js_sys::Date::now());
            }
        })
        .forget();
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = tenant_id;

    let is_active = move || active.with(Option::is_some);
    let title = move || active.with(|a| a.as_ref().map(|a| a.title.clone()).unwrap_or_default());
    let started_at = move || active.with(|a| a.as_ref().map(|a| a.started_at.clone()).unwrap_or_default());
    let lasted = Memo::new(move |_| {
        active.with(|a| {
            let Some(a) = a else { return String::new() };
            if now.get() == 0.0 { a.started_words.clone() } else { since(&a.started_at, now.get()) }
        })
    });
    let session_id = move || active.with(|a| a.as_ref().map(|a| a.session_id.clone()).unwrap_or_default());
    let stop = move |event: ev::SubmitEvent| {
        event.prevent_default();
        #[cfg(feature = "hydrate")]
        super::control::stop();
    };
    let label =
        move || view! { "Working on: "<span dir="auto">{title}</span>" · "<time datetime=started_at>{lasted}</time> };
    view! {
        <div class="working" data-state=move || if is_active() { "active" } else { "idle" }>
            <a class="button working-pick no-js" data-look="quiet" href="/working-on" title="What are you working on?" hidden=is_active>
                {icon(Icon::Target)}<span class="working-text">"What are you working on?"</span>
            </a>
            <button
                class="button working-pick js-only" data-look="quiet" type="button" title="What are you working on?"
                aria-haspopup="dialog" popovertarget=POPOVER hidden=is_active
            >
                {icon(Icon::Target)}<span class="working-text">"What are you working on?"</span>
            </button>
            <div class="working-split" hidden=move || !is_active()>
                <a class="button working-now no-js" data-look="quiet" href="/working-on">
                    {icon(Icon::Target)}<span class="working-text">{label()}</span>
                </a>
                <button class="button working-now js-only" data-look="quiet" type="button" aria-haspopup="dialog" popovertarget=POPOVER title=title>
                    {icon(Icon::Target)}<span class="working-text">{label()}</span>
                    <span class="working-paused" hidden=move || !paused.get()>"Paused"</span>
                </button>
                <form method="post" action="/working-on/stop" on:submit=stop>
                    <input type="hidden" name="sessionId" value=session_id/>
                    <button class="button" data-look="quiet" data-shape="icon" type="submit" aria-label="Stop working" title="Stop working">
                        {icon(Icon::Square)}
                    </button>
                </form>
            </div>
            <Chooser active=active paused=paused user_id=user_id may_create=may_create/>
            <MarkerDialog active=active said=said/>
            <SaidLine said=said refused=refused/>
        </div>
    }
}

/// How long ago that was.
fn since(started_at: &str, now: f64) -> String {
    #[cfg(feature = "hydrate")]
    return elapsed(now - js_sys::Date::parse(started_at));
    #[cfg(not(feature = "hydrate"))]
    {
        let _ = started_at;
        elapsed(now)
    }
}

/// The popover: a combobox over tasks, and what is recorded.
#[component]
fn Chooser(
    active: RwSignal<Option<Active>>,
    paused: RwSignal<bool>,
    user_id: String,
    may_create: bool,
) -> impl IntoView {
    let tasks = RwSignal::new(None::<Vec<Task>>);
    // Whether there are more tasks than were read.
    let partial = RwSignal::new(false);
    let typed = RwSignal::new(String::new());
    let naming = RwSignal::new(false);
    let chosen = RwSignal::new(0_usize);
    let popover = NodeRef::<html::Div>::new();
    let input = NodeRef::<html::Input>::new();
    let listed = Memo::new(move |_| {
        tasks.with(|tasks| {
            let known = tasks.as_deref().unwrap_or_default();
            rows(known, &typed.get(), may_create, naming.get(), active.with(Option::is_some))
        })
    });
    let clear = move || {
        typed.set(String::new());
        naming.set(false);
        chosen.set(0);
        if let Some(field) = input.get_untracked() {
            field.set_value("");
        }
    };
    let close = move || {
        #[cfg(feature = "hydrate")]
        if let Some(popover) = popover.get_untracked() {
            let _ = popover.hide_popover();
        }
    };
    let take = move |row: Row| {
        match row {
            Row::Create(name) if name.is_empty() => {
                naming.set(true);
                chosen.set(0);
                if let Some(field) = input.get_untracked() {
                    let _ = field.focus();
                }
                return;
            }
            #[cfg(feature = "hydrate")]
            Row::Create(name) => super::control::create(name, user_id.clone()),
            #[cfg(feature = "hydrate")]
            Row::Task(task) => super::control::begin(task),
            #[cfg(feature = "hydrate")]
            Row::Stop => super::control::stop(),
            #[cfg(not(feature = "hydrate"))]
            _ => {
                let _ = &user_id;
            }
        }
        close();
    };
    let take = StoredValue::new(take);
    let on_input = move |event: ev::Event| {
        typed.set(event_target_value(&event));
        chosen.set(0);
        #[cfg(feature = "hydrate")]
        if partial.get_untracked() {
            super::control::read_tasks(tasks, partial, &typed.get_untracked());
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let key = event.key();
        let count = listed.with_untracked(Vec::len);
        if event.is_composing() {
            return;
        } else if key == "Enter" {
            let row = listed.with_untracked(|rows| rows.get(chosen.get_untracked()).cloned());
            if let Some(row) = row {
                take.with_value(|take| take(row));
            }
        } else if let Some(to) = moved(&key, chosen.get_untracked(), count) {
            chosen.set(to);
            #[cfg(feature = "hydrate")]
            super::show_option(to);
        } else {
            return;
        }
        event.prevent_default();
    };
    let on_toggle = move |event: ev::Event| {
        #[cfg(feature = "hydrate")]
        if super::opens(&event) {
            clear();
            super::control::read_tasks(tasks, partial, "");
            if let Some(field) = input.get_untracked() {
                let _ = field.focus();
            }
        }
        #[cfg(not(feature = "hydrate"))]
        let _ = (event, clear);
    };
    let options = move || {
        let rows = listed.get();
        rows.into_iter()
            .enumerate()
            .map(|(at, row)| {
                let (kind, text) = words(&row, naming.get());
                let row = StoredValue::new(row);
                view! {
                    <li
                        class="palette-item" role="option" id=format!("working-option-{at}") data-kind=kind
                        aria-selected=move || if chosen.get() == at { "true" } else { "false" }
                        on:click=move |_| take.with_value(|take| take(row.get_value()))
                        on:mousemove=move |_| if chosen.get_untracked() != at { chosen.set(at) }
                    >
                        <span class="palette-text" dir="auto">{text}</span>
                    </li>
                }
            })
            .collect_view()
    };
    let count = move || {
        let found = listed.with(|rows| rows.iter().filter(|row| matches!(row, Row::Task(_))).count());
        match (tasks.with(Option::is_some), naming.get(), found) {
            (false, _, _) => "Reading your tasks…".to_owned(),
            (true, true, _) => "Type the name of the new task, then press Enter.".to_owned(),
            (true, false, 0) if typed.with(|t| t.trim().is_empty()) => "No active task is assigned to you.".to_owned(),
            (true, false, 0) => "No task of yours has that name.".to_owned(),
            (true, false, 1) => "1 task".to_owned(),
            (true, false, n) => format!("{n} tasks"),
        }
    };
    let placeholder = move || if naming.get() { "Name of the new task" } else { "Find a task" };
    let pause = move |_| {
        #[cfg(feature = "hydrate")]
        super::state::set_paused(!paused.get_untracked());
        #[cfg(not(feature = "hydrate"))]
        let _ = paused;
    };
    view! {
        <div class="working-popover js-only" id=POPOVER popover="auto" role="dialog" aria-label="What are you working on?" node_ref=popover on:toggle=move |event| on_toggle(event.into())>
            <input
                class="palette-input" node_ref=input type="text" role="combobox" autocomplete="off" spellcheck="false" maxlength="200"
                aria-label=placeholder placeholder=placeholder
                aria-autocomplete="list" aria-expanded="true" aria-controls="working-list"
                aria-activedescendant=move || listed.with(|rows| (!rows.is_empty()).then(|| format!("working-option-{}", chosen.get())))
                on:input=on_input on:keydown=on_key
            />
            <p class="working-count" role="status">{count}</p>
            <ul class="palette-list" id="working-list" role="listbox" aria-label="Your active tasks">{options}</ul>
            <div class="working-foot">
                <p class="meta">"Records pages you open and markers you write. Nothing you type, scroll or hover."</p>
                <div class="working-tools">
                    <button
                        class="button" type="button" data-size="small" role="switch"
                        aria-checked=move || if paused.get() { "false" } else { "true" }
                        on:click=pause
                    >
                        <span class="switch" aria-hidden="true"></span>"Record pages"
                    </button>
                    <button
                        class="button" type="button" data-size="small" title="Drop a marker (Ctrl M)"
                        hidden=move || active.with(Option::is_none)
                        on:click=move |_| {
                            close();
                            #[cfg(feature = "hydrate")]
                            super::open_marker();
                        }
                    >
                        "Drop a marker"
                    </button>
                    <a class="button" data-size="small" data-look="quiet" href="/working-on" title="Your day (g w)">"Your day"</a>
                </div>
            </div>
        </div>
    }
}

/// A row in words.
fn words(row: &Row, naming: bool) -> (&'static str, String) {
    match row {
        Row::Task(task) => ("task", task.title.clone()),
        Row::Create(name) if name.is_empty() && naming => ("create", "Create and start".to_owned()),
        Row::Create(name) if name.is_empty() => ("create", "Create new task…".to_owned()),
        Row::Create(name) => ("create", format!("Create new task “{name}”")),
        Row::Stop => ("stop", "Stop working".to_owned()),
    }
}
