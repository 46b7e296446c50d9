//! The palette and the keyboard overlay: two dialogs, closed until asked for.

use super::{
    binding::{defaults, shown as keys_of},
    catalog::{SHORTCUTS, matching},
    keys_view::keys_view,
};
use leptos::{ev, html, prelude::*};

/// One line of the palette.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    text: String,
    hint: String,
    href: String,
}

fn lines(typed: &str, found: &[(String, String, String)]) -> Vec<Line> {
    let mut lines: Vec<_> = matching(typed)
        .into_iter()
        .filter_map(|s| {
            let hint = s.keys.first().map(|keys| keys_of(keys).join(" ")).unwrap_or_default();
            Some(Line { text: s.words.to_owned(), hint, href: s.href()?.to_owned() })
        })
        .collect();
    lines.extend(found.iter().map(|(id, title, status)| Line {
        text: title.clone(),
        hint: status.replace('_', " "),
        href: format!("/sessions/{id}"),
    }));
    lines
}

/// The two dialogs and every shortcut of the page.
#[island]
pub fn Palette() -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let found = RwSignal::new(Vec::<(String, String, String)>::new());
    let chosen = RwSignal::new(0_usize);
    let dialog = NodeRef::<html::Dialog>::new();
    let keys = NodeRef::<html::Dialog>::new();
    let input = NodeRef::<html::Input>::new();
    let bindings = RwSignal::new(defaults());
    let shown = move || lines(&typed.get(), &found.get());

    #[cfg(feature = "hydrate")]
    {
        super::keyboard::start(dialog, keys, input, (typed, found, chosen));
        super::custom::watch(move |now| bindings.set(now.clone()));
    }

    let on_input = move |event: ev::Event| {
        typed.set(event_target_value(&event));
        chosen.set(0);
        #[cfg(feature = "hydrate")]
        super::keyboard::find(typed, found);
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let count = lines(&typed.get_untracked(), &found.get_untracked()).len().max(1);
        match event.key().as_str() {
            "ArrowDown" => chosen.update(|at| *at = (*at + 1) % count),
            "ArrowUp" => chosen.update(|at| *at = (*at + count - 1) % count),
            "Enter" => {
                let target =
                    lines(&typed.get_untracked(), &found.get_untracked()).into_iter().nth(chosen.get_untracked());
                if let Some(line) = target {
                    let _ = window().location().set_href(&line.href);
                }
            }
            _ => return,
        }
        event.prevent_default();
    };
    let items = move || {
        shown()
            .into_iter()
            .enumerate()
            .map(|(at, line)| {
                let href = line.href;
                view! {
                    <li
                        class="palette-item"
                        role="option"
                        id=format!("palette-{at}")
                        aria-selected=move || if chosen.get() == at { "true" } else { "false" }
                        on:click=move |_| {
                            let _ = window().location().set_href(&href);
                        }
                    >
                        <span class="palette-text">{line.text}</span>
                        <span class="palette-hint">{line.hint}</span>
                    </li>
                }
            })
            .collect_view()
    };
    view! {
        <dialog class="dialog" node_ref=dialog aria-label="Go to or find">
            <input
                class="palette-input"
                node_ref=input
                type="text"
                role="combobox"
                aria-label="Go to a page, or find a session by its title"
                aria-expanded="true"
                aria-controls="palette-list"
                aria-activedescendant=move || format!("palette-{}", chosen.get())
                placeholder="Go to, or find a session by title"
                autocomplete="off"
                spellcheck="false"
                on:input=on_input
                on:keydown=on_key
            />
            <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results">{items}</ul>
        </dialog>
        <dialog class="dialog" node_ref=keys aria-labelledby="keys-title">
            <div class="dialog-head">
                <h2 id="keys-title">"Keyboard"</h2>
                <form method="dialog">
                    <button class="button" data-size="small">"Close"</button>
                </form>
            </div>
            <div class="dialog-body">
                <p class="meta"><a href="/settings#keyboard">"Change them in the settings"</a></p>
                <dl class="keys">
                    {SHORTCUTS
                        .into_iter()
                        .enumerate()
                        .map(|(at, s)| {
                            view! {
                                <dt>
                                    {move || keys_view(bindings.with(|all| all.get(at).cloned()).as_deref().unwrap_or_default())}
                                </dt>
                                <dd>{s.words}</dd>
                            }
                        })
                        .collect_view()}
                </dl>
            </div>
        </dialog>
    }
}
