//! Key bindings: key presses as text, and what a person has changed.
//!
//! A binding is one key press or a sequence: `k`, `g t`, `Mod+k` (Ctrl, or Cmd on a Mac), `Alt+m`, `Mod+Shift+x`. A
//! person's changes are stored as lines of `id binding`.

use super::catalog::{Bindings, SHORTCUTS, ShortcutScope, default_bindings};
use crate::lowercase::lowercase;

/// One key press, as the browser reports it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Press<'a> {
    /// The character or key name (`KeyboardEvent.key`).
    pub key: &'a str,
    /// The physical key (`KeyboardEvent.code`).
    pub code: &'a str,
    /// Whether Ctrl is held.
    pub ctrl: bool,
    /// Whether Cmd or the Windows key is held.
    pub meta: bool,
    /// Whether the keyboard is a Mac's.
    pub is_mac: bool,
    /// Whether Alt or Option is held.
    pub alt: bool,
    /// Whether Shift is held.
    pub shift: bool,
}

/// What a key press matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Match {
    /// No shortcut; the browser handles the key.
    #[default]
    Nothing,
    /// The first key of a sequence.
    Begun,
    /// A shortcut, by its index in [`SHORTCUTS`].
    Shortcut(usize),
}

/// A key press in the notation of bindings. `None` for a modifier alone, composed characters, and Ctrl with Cmd. Also
/// `None` with the Windows key, which belongs to the operating system.
pub fn token(press: &Press<'_>) -> Option<String> {
    let Press { key, code, ctrl, meta, is_mac, alt, shift } = *press;
    if matches!(key, "" | "Control" | "Meta" | "Alt" | "Shift" | "AltGraph" | "Dead" | "Process" | "Unidentified")
        || (meta && (ctrl || !is_mac))
    {
        return None;
    }
    let held = ctrl || meta || alt;
    let plain = if key == " " { "Space" } else { key };
    if !held && plain.chars().count() == 1 {
        // Shift is part of the character.
        return Some(plain.to_owned());
    }
    // On a Mac, Option changes the character, so the physical key is used.
    let by_place = code.strip_prefix("Key").or_else(|| code.strip_prefix("Digit"));
    let name = match (plain.is_ascii(), by_place) {
        (false, Some(place)) => lowercase(place),
        _ if plain.chars().count() == 1 => lowercase(plain),
        _ => plain.to_owned(),
    };
    let mut token = String::new();
    for (is_held, word) in [(ctrl || meta, "Mod+"), (alt, "Alt+"), (shift, "Shift+")] {
        if is_held {
            token.push_str(word);
        }
    }
    token.push_str(&name);
    Some(token)
}

/// Finds what `token` matches on a page of this scope (see [`ShortcutScope`]). `begun` holds the earlier keys of a
/// sequence, or is empty.
pub fn match_key(bindings: &Bindings, here: &str, begun: &str, token: &str) -> Match {
    let pressed = if begun.is_empty() { token.to_owned() } else { [begun, " ", token].concat() };
    let mut is_begun = false;
    for (at, keys) in bindings.iter().enumerate() {
        let scope = SHORTCUTS.get(at).map_or(ShortcutScope::Everywhere, |shortcut| shortcut.scope);
        if scope != ShortcutScope::Everywhere && scope.as_str() != here {
            continue;
        }
        if keys.contains(&pressed) {
            return Match::Shortcut(at);
        }
        is_begun |= keys.iter().any(|binding| follows(binding, &pressed));
    }
    if is_begun {
        return Match::Begun;
    }
    // The sequence does not match, so the key is looked up alone.
    if begun.is_empty() { Match::Nothing } else { match_key(bindings, here, "", token) }
}

/// Whether `binding` is a sequence that begins with `first`.
fn follows(binding: &str, first: &str) -> bool {
    binding.strip_prefix(first).is_some_and(|rest| rest.starts_with(' '))
}

/// The default bindings with a person's stored changes. Unknown ids are ignored.
pub fn read(stored: &str) -> Bindings {
    let mut bindings = default_bindings();
    for line in stored.lines() {
        let Some((id, keys)) = line.split_once(' ') else { continue };
        let known = SHORTCUTS.iter().position(|shortcut| shortcut.id == id);
        if let Some(bound) = known.and_then(|at| bindings.get_mut(at)) {
            *bound = vec![keys.to_owned()];
        }
    }
    bindings
}

/// The bindings that differ from the defaults, in the stored form.
pub fn write(bindings: &Bindings) -> String {
    let changed = SHORTCUTS.iter().zip(bindings).filter(|(shortcut, keys)| !shortcut.keys.iter().eq(keys.iter()));
    changed.filter_map(|(shortcut, keys)| Some([shortcut.id, " ", keys.first()?, "\n"].concat())).collect()
}

/// The other shortcut that already uses `token`, alone or as the first key of a sequence, in a scope that overlaps.
pub fn conflict(bindings: &Bindings, at: usize, token: &str) -> Option<usize> {
    let scope = |at: usize| SHORTCUTS.get(at).map_or(ShortcutScope::Everywhere, |shortcut| shortcut.scope);
    bindings.iter().enumerate().find_map(|(other, keys)| {
        let clashes = |key: &String| key == token || follows(key, token) || follows(token, key);
        (other != at && scope(at).meets(scope(other)) && keys.iter().any(clashes)).then_some(other)
    })
}

/// Why this key cannot be bound; `None` if it can.
pub fn why_not_bindable(token: &str) -> Option<&'static str> {
    match token {
        "Escape" | "Enter" | "Tab" | "Shift+Tab" | "Space" | "Backspace" | "Delete" => {
            Some("That key is needed to move around the page.")
        }
        "Mod+c" | "Mod+v" | "Mod+x" | "Mod+z" | "Mod+a" | "Mod+t" | "Mod+w" | "Mod+n" | "Mod+r" | "Mod+l" => {
            Some("The browser uses that key.")
        }
        _ if token.contains("Arrow") || token.contains("Page") || token.ends_with("Home") || token.ends_with("End") => {
            Some("That key is needed to move around the page.")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(id: &str) -> usize {
        SHORTCUTS.iter().position(|shortcut| shortcut.id == id).unwrap()
    }

    fn press(modifiers: &str, key: &'static str) -> Option<String> {
        let has = |word: &str| modifiers.contains(word);
        let (ctrl, meta, alt, shift) = (has("ctrl"), has("meta"), has("alt"), has("shift"));
        token(&Press { key, code: "KeyM", ctrl, meta, is_mac: has("mac"), alt, shift })
    }

    #[test]
    fn only_the_exact_modifiers_mean_the_marker() {
        let marker = Match::Shortcut(at("marker"));
        let means = |modifiers: &str, key| press(modifiers, key).map(|t| match_key(&default_bindings(), "", "", &t));
        for (modifiers, key) in
            [("ctrl", "m"), ("mac meta", "m"), ("mac ctrl", "m"), ("ctrl", "M"), ("alt", "m"), ("alt", "µ")]
        {
            assert_eq!(means(modifiers, key), Some(marker), "{modifiers} {key}");
        }
        for (modifiers, key) in [
            ("", "m"),
            ("ctrl shift", "M"),
            ("mac meta shift", "m"),
            ("ctrl alt", "m"),
            ("mac meta alt", "µ"),
            ("alt shift", "M"),
        ] {
            assert_eq!(means(modifiers, key), Some(Match::Nothing), "{modifiers} {key}");
        }
        assert_eq!((means("mac ctrl meta", "m"), means("ctrl", "Control")), (None, None));
        assert_eq!(means("meta", "m"), None, "the Windows key is no Cmd");
    }

    #[test]
    fn the_second_key_of_a_sequence_is_awaited() {
        let keys = default_bindings();
        assert_eq!(match_key(&keys, "", "", "g"), Match::Begun);
        assert_eq!(match_key(&keys, "", "g", "t"), Match::Shortcut(at("today")));
        assert_eq!(match_key(&keys, "", "g", "j"), Match::Shortcut(at("next")), "what was begun is over");
        assert_eq!((match_key(&keys, "", "", "G"), match_key(&keys, "", "", "z")), (Match::Nothing, Match::Nothing));
        assert_eq!(match_key(&keys, "", "", "?"), Match::Shortcut(at("keys")));
    }

    #[test]
    fn a_new_key_replaces_every_default_and_survives_being_stored() {
        let mut keys = default_bindings();
        keys[at("marker")] = vec!["Mod+Shift+y".to_owned()];
        let stored = write(&keys);
        assert_eq!(stored, "marker Mod+Shift+y\n");
        assert_eq!(read(&stored), keys);
        assert_eq!(match_key(&read(&stored), "", "", "Mod+m"), Match::Nothing);
        assert_eq!(read("no-such-shortcut q\nnonsense"), default_bindings());
        assert_eq!(write(&default_bindings()), "");
    }

    #[test]
    fn conflicts_are_found_whole_and_in_part() {
        let keys = default_bindings();
        assert_eq!(conflict(&keys, at("marker"), "j"), Some(at("next")));
        assert!(conflict(&keys, at("marker"), "g").is_some(), "it would swallow every `g …`");
        assert_eq!(conflict(&keys, at("marker"), "Mod+m"), None, "its own key");
        assert!(
            why_not_bindable("Escape").is_some()
                && why_not_bindable("Mod+w").is_some()
                && why_not_bindable("Mod+y").is_none()
        );
    }

    #[test]
    fn a_key_can_have_different_meanings_in_a_session_and_the_inbox() {
        let keys = default_bindings();
        let means = |here| match_key(&keys, here, "", "x");
        assert_eq!((means("session"), means("inbox")), (Match::Shortcut(at("fold")), Match::Shortcut(at("select"))));
        assert_eq!(means(""), Match::Nothing);
        assert_eq!(conflict(&keys, at("select"), "r"), Some(at("deny")));
        assert_eq!(conflict(&keys, at("marker"), "r"), Some(at("raw")), "the marker is everywhere");
    }

    #[test]
    fn the_products_own_keys_can_all_be_pressed() {
        let keys = default_bindings();
        for (index, bound) in keys.iter().enumerate() {
            for binding in bound {
                assert_eq!(conflict(&keys, index, binding), None, "{binding}");
                let (begun, last) = binding.rsplit_once(' ').unwrap_or(("", binding));
                let here = SHORTCUTS[index].scope.as_str();
                assert_eq!(match_key(&keys, here, begun, last), Match::Shortcut(index), "{binding}");
            }
        }
    }
}
