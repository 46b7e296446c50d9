//! The palette as HTML: the commands of every page, and the search results of the server.

use super::{
    catalog::{Command, SHORTCUTS},
    shortcut_list::keys_view,
};
use crate::render::to_html;
use leptos::prelude::*;

/// Sections of the settings page that have no shortcut.
const SETTINGS: [(&str, &str); 6] = [
    ("Settings: members", "/settings#members"),
    ("Settings: groups", "/settings#groups"),
    ("Settings: tokens", "/settings#tokens"),
    ("Settings: notifications", "/settings#notifications"),
    ("Settings: appearance", "/settings#appearance"),
    ("Settings: keyboard", "/settings#keyboard"),
];

/// A record that matches what was typed, as a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// Its name.
    pub title: String,
    /// What it is, e.g. `Task`.
    pub kind: String,
    /// Its address.
    pub href: String,
}

/// The dialog, the same on every page. The browser hides commands whose control is not on the page.
pub fn palette_dialog() -> impl IntoView {
    let commands = SHORTCUTS
        .into_iter()
        .filter(|shortcut| !matches!(shortcut.command, Command::Palette | Command::Step(_) | Command::Decide))
        .map(|shortcut| {
            let hint = view! { <span class="palette-hint" data-keys-of=shortcut.id>{keys_view(shortcut.keys)}</span> };
            let (id, href) = (format!("palette-{}", shortcut.id), shortcut.href());
            option(id, href.map(str::to_owned), Some(shortcut.id), false, shortcut.words.to_owned(), hint)
        })
        .collect::<Vec<_>>();
    let settings = SETTINGS
        .into_iter()
        .enumerate()
        .map(|(at, (words, href))| {
            option(format!("palette-settings-{at}"), Some(href.to_owned()), None, false, words.to_owned(), ())
        })
        .collect::<Vec<_>>();
    view! {
        <dialog class="dialog" id="palette" aria-label="Go to or search">
            <input
                class="palette-input" id="palette-input" type="text" role="combobox" aria-expanded="true"
                aria-label="Go to a page, run a command, or find a session, task, entity or agent" aria-controls="palette-list"
                placeholder="Pages, commands, or names" autocomplete="off" spellcheck="false" maxlength="200"
            />
            <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results">{commands}{settings}</ul>
            <p class="palette-none" id="palette-none" role="status"></p>
        </dialog>
    }
}

/// Search results as options of the list.
pub fn results_fragment(found: &[SearchResult]) -> String {
    let rows = found.iter().enumerate().map(|(at, found)| {
        let SearchResult { title, kind, href } = found.clone();
        let hint = view! { <span class="palette-hint">{kind}</span> };
        option(format!("palette-found-{at}"), Some(href), None, true, title, hint)
    });
    to_html(rows.collect::<Vec<_>>())
}

fn option(
    id: String,
    href: Option<String>,
    shortcut: Option<&'static str>,
    is_found: bool,
    words: String,
    hint: impl IntoView,
) -> impl IntoView {
    view! {
        <li
            class="palette-item" role="option" id=id aria-selected="false" data-href=href data-shortcut=shortcut
            data-found=is_found.then_some("")
        >
            <span class="palette-text" dir="auto">{words}</span>
            {hint}
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_offers_pages_and_commands_and_shows_their_keys() {
        let html = to_html(palette_dialog());
        for part in
            ["data-href=\"/today\"", "data-shortcut=\"approve\"", "data-shortcut=\"marker\"", "data-keys-of=\"keys\""]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("data-shortcut=\"next\""), "moving by rows is no command of a dialog");
    }

    #[test]
    fn what_is_found_is_text() {
        let found = SearchResult { title: "<b>Acme</b>".into(), kind: "entity".into(), href: "/entities/1".into() };
        let html = results_fragment(&[found]);
        assert!(html.contains("&lt;b&gt;Acme") && html.contains("data-found") && !html.contains("<b>"), "{html}");
    }
}
