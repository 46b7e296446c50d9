//! The palette: a dialog, closed until asked for; and every shortcut of the page behind it.

use super::catalog::{matching, shown as keys_of};
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

/// The dialog and every shortcut of the page.
#[island]
pub fn Palette() -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let found = RwSignal::new(Vec::<(String, String, String)>::new());
    let chosen = RwSignal::new(0_usize);
    let dialog = NodeRef::<html::Dialog>::new();
    let input = NodeRef::<html::Input>::new();
    let shown = move || lines(&typed.get(), &found.get());

    #[cfg(feature = "hydrate")]
    super::keyboard::start(dialog, input, (typed, found, chosen));

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
    }
}
