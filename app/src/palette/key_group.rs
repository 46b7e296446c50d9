//! The groups in which the list of shortcuts shows them.

use super::catalog::{Command, SHORTCUTS, Shortcut, ShortcutScope};

/// Headings of the groups, in their order on a page without shortcuts of its own. The words of a group's shortcuts may
/// begin with its heading.
const GROUPS: [&str; 5] = ["Everywhere", "Go to", "Session", "Inbox", "Failures"];

/// Index of a shortcut's group.
const fn group_of(shortcut: Shortcut) -> usize {
    match (shortcut.scope, shortcut.command) {
        (ShortcutScope::Everywhere, Command::Go(_)) => 1,
        (ShortcutScope::Everywhere, _) => 0,
        (ShortcutScope::Session, _) => 2,
        (ShortcutScope::Inbox, _) => 3,
        (ShortcutScope::Failures, _) => 4,
    }
}

/// The headings of the groups, each with the indexes of its shortcuts and their words. The group of the page with this
/// `data-keys` comes first.
pub fn groups(here: &str) -> Vec<(&'static str, Vec<(usize, String)>)> {
    let own = match here {
        "session" => 2,
        "inbox" => 3,
        "failures" => 4,
        _ => 0,
    };
    let mut groups = Vec::new();
    for (at, &title) in GROUPS.iter().enumerate() {
        let mut rows = Vec::new();
        for (index, shortcut) in SHORTCUTS.iter().enumerate() {
            if group_of(*shortcut) == at {
                rows.push((index, below(title, shortcut.words)));
            }
        }
        groups.insert(if at == own { 0 } else { at }, (title, rows));
    }
    groups
}

/// The keys of a group that are fixed, with their words: the settings cannot change them, and the palette does not
/// offer them.
pub fn fixed_keys(title: &str) -> &'static [(&'static str, &'static str)] {
    match title {
        "Session" => &[
            ("f", "Find in this log"),
            ("n", "Next match, while a search in the log is shown"),
            ("N", "Previous match, while a search in the log is shown"),
        ],
        "Failures" => &[
            ("x", "Select the row"),
            ("X", "Select all rows up to it"),
            ("*", "Select all of the list"),
            ("a", "Mark the selected causes as seen, or else this one"),
            ("R", "Show what running the sessions of a cause again would do"),
            ("z", "Undo the last decision"),
        ],
        _ => &[],
    }
}

/// The words of a shortcut below a heading: without the heading, and with a capital letter at the beginning.
fn below(title: &str, words: &str) -> String {
    let rest = words.strip_prefix(title).unwrap_or(words).trim_start_matches([':', ' ']);
    let mut rest = rest.to_owned();
    if let Some(first) = rest.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortcuts_of_the_page_come_first_and_each_is_in_one_group() {
        let titles = |here| groups(here).into_iter().map(|(title, _)| title).collect::<Vec<_>>();
        let (inbox, session) = (ShortcutScope::Inbox.as_str(), ShortcutScope::Session.as_str());
        assert_eq!(titles(inbox), ["Inbox", "Everywhere", "Go to", "Session", "Failures"]);
        assert_eq!(titles(session), ["Session", "Everywhere", "Go to", "Inbox", "Failures"]);
        assert_eq!(titles(""), GROUPS);
        let mut all: Vec<_> = groups("").into_iter().flat_map(|(_, rows)| rows).map(|(at, _)| at).collect();
        all.sort_unstable();
        assert_eq!(all, (0..SHORTCUTS.len()).collect::<Vec<_>>());
    }

    #[test]
    fn fixed_keys_belong_to_groups_and_none_is_in_a_group_twice() {
        let with_fixed: Vec<_> = GROUPS.into_iter().filter(|title| !fixed_keys(title).is_empty()).collect();
        assert_eq!(with_fixed, ["Session", "Failures"]);
        for title in with_fixed {
            let keys: std::collections::BTreeSet<_> = fixed_keys(title).iter().map(|(key, _)| key).collect();
            assert_eq!(keys.len(), fixed_keys(title).len(), "{title}");
        }
    }

    #[test]
    fn the_heading_of_a_group_is_not_repeated_in_its_rows() {
        let words: Vec<_> = groups("").into_iter().flat_map(|(_, rows)| rows).map(|(_, words)| words).collect();
        for shown in
            ["Go to or search", "Today", "Your day", "Jump to the newest event", "Rating: it helped", "Approve"]
        {
            assert!(words.iter().any(|words| words == shown), "{shown}: {words:?}");
        }
    }
}
