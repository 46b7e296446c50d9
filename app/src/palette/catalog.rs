//! What can be reached by keyboard, as data: the palette, the overlay and the settings page show the same list.

/// One shortcut. `keys` are pressed one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcut {
    /// As shown, separated by spaces.
    pub keys: &'static str,
    /// What happens.
    pub does: &'static str,
    /// Where it leads, if it leads somewhere.
    pub href: Option<&'static str>,
}

const fn go(keys: &'static str, does: &'static str, href: &'static str) -> Shortcut {
    Shortcut { keys, does, href: Some(href) }
}

const fn act(keys: &'static str, does: &'static str) -> Shortcut {
    Shortcut { keys, does, href: None }
}

/// Every shortcut.
pub const SHORTCUTS: [Shortcut; 14] = [
    go("g t", "Go to Today", "/today"),
    go("g s", "Go to Sessions", "/sessions"),
    go("g a", "Go to Actions", "/actions"),
    go("g ,", "Go to Settings", "/settings"),
    go("g d", "Go to API docs", "/api/docs"),
    go("c", "New action", "/actions#new"),
    act("Ctrl K", "Go to or find"),
    act("/", "Search sessions"),
    act("j", "Next row"),
    act("k", "Previous row"),
    act("e", "Jump to the newest event"),
    act("x", "Fold or unfold all"),
    act("r", "Show or hide raw JSON"),
    act("?", "Show these keys"),
];

/// Entries whose words all begin with, or contain, what was typed.
pub fn matching(typed: &str) -> Vec<Shortcut> {
    let typed = typed.trim().to_lowercase();
    SHORTCUTS
        .into_iter()
        .filter(|s| s.href.is_some())
        .filter(|s| typed.split_whitespace().all(|word| s.does.to_lowercase().contains(word)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_narrows_the_list() {
        assert_eq!(matching("").len(), 6);
        let found: Vec<_> = matching("go sess").into_iter().map(|s| s.does).collect();
        assert_eq!(found, ["Go to Sessions"]);
        assert!(matching("zebra").is_empty());
    }

    #[test]
    fn no_keys_mean_two_things() {
        let mut keys: Vec<_> = SHORTCUTS.iter().map(|s| s.keys).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), SHORTCUTS.len());
    }
}
