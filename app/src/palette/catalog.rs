//! All keyboard shortcuts, as data for the palette, the overlay and the settings page.

/// What a shortcut does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Opens the page with this path.
    Go(&'static str),
    /// Clicks the control of the page that has this `data-key`.
    Press(&'static str),
    /// Opens the palette.
    Palette,
    /// Opens the list of shortcuts.
    Keys,
    /// Moves the focus to the search field.
    Search,
    /// Moves the focus by this many rows.
    Step(i32),
    /// Opens the marker dialog, if a working session is active.
    Marker,
    /// Submits the open form of the inbox, or approves the item. Works inside text fields too.
    Decide,
}

/// Where a shortcut applies. A page states its scope in `data-keys`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShortcutScope {
    /// On every page.
    Everywhere,
    /// On the page of a session or a conversation.
    Session,
    /// On the pages below `/inbox`.
    Inbox,
    /// On the pages below `/failures`.
    Failures,
}

#[cfg(any(feature = "hydrate", test))]
impl ShortcutScope {
    /// The value of `data-keys`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Everywhere => "",
            Self::Session => "session",
            Self::Inbox => "inbox",
            Self::Failures => "failures",
        }
    }

    /// Whether both can apply on the same page.
    pub fn meets(self, other: Self) -> bool {
        self == other || self == Self::Everywhere || other == Self::Everywhere
    }
}

/// A key that works on some pages, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortcut {
    /// Id under which changes are stored.
    pub id: &'static str,
    /// The default bindings; each of them works. Empty for what is found in the palette alone. See `binding` for the
    /// notation.
    pub keys: &'static [&'static str],
    /// The description in the interface.
    pub words: &'static str,
    /// What it does.
    pub command: Command,
    /// Where it applies.
    pub scope: ShortcutScope,
}

/// The bindings of each shortcut, in the order of [`SHORTCUTS`].
pub type Bindings = Vec<Vec<String>>;

/// The bindings of someone who has changed none.
pub fn default_bindings() -> Bindings {
    SHORTCUTS.iter().map(|shortcut| shortcut.keys.iter().map(|&key| key.to_owned()).collect()).collect()
}

#[cfg(any(feature = "hydrate", test))]
impl Shortcut {
    /// Whether the palette offers it: moving by rows and deciding are for keys alone.
    pub const fn is_offered(self) -> bool {
        !matches!(self.command, Command::Palette | Command::Step(_) | Command::Decide)
    }

    /// The path that it opens, if it opens a page.
    pub const fn href(self) -> Option<&'static str> {
        match self.command {
            Command::Go(href) => Some(href),
            _ => None,
        }
    }
}

const fn shortcut(id: &'static str, keys: &'static [&'static str], words: &'static str, command: Command) -> Shortcut {
    Shortcut { id, keys, words, command, scope: ShortcutScope::Everywhere }
}

/// A shortcut that clicks the control whose `data-key` is its id, in one scope.
const fn press(scope: ShortcutScope, id: &'static str, keys: &'static [&'static str], words: &'static str) -> Shortcut {
    Shortcut { id, keys, words, command: Command::Press(id), scope }
}

/// All shortcuts.
pub const SHORTCUTS: [Shortcut; 42] = [
    shortcut("today", &["g t"], "Go to Today", Command::Go("/today")),
    shortcut("inbox", &["g i"], "Go to Inbox", Command::Go("/inbox")),
    shortcut("sessions", &["g s"], "Go to Sessions", Command::Go("/sessions")),
    shortcut("chat", &["g c"], "Go to Chat", Command::Go("/chat")),
    shortcut("actions", &["g a"], "Go to Tasks", Command::Go("/actions")),
    shortcut("entities", &["g e"], "Go to Entities", Command::Go("/entities")),
    shortcut("agents", &["g o"], "Go to Agents", Command::Go("/agents")),
    shortcut("memory", &["g m"], "Go to Memory", Command::Go("/memory")),
    shortcut("forms", &["g f"], "Go to Forms", Command::Go("/views")),
    shortcut("working-on", &["g w"], "Go to your day", Command::Go("/working-on")),
    shortcut("insights", &["g n"], "Go to Insights", Command::Go("/insights")),
    shortcut("settings", &["g ,"], "Go to Settings", Command::Go("/settings")),
    shortcut("docs", &["g d"], "Go to API docs", Command::Go("/api/docs")),
    shortcut("new-action", &["c"], "New task", Command::Go("/actions#new")),
    shortcut("marker", &["Mod+m", "Alt+m"], "Add a marker while you work on a task", Command::Marker),
    shortcut("palette", &["Mod+k"], "Go to or search", Command::Palette),
    shortcut("search", &["/"], "Search sessions", Command::Search),
    shortcut("next", &["j"], "Next row", Command::Step(1)),
    shortcut("previous", &["k"], "Previous row", Command::Step(-1)),
    press(ShortcutScope::Session, "newest", &["e"], "Session: jump to the newest event"),
    press(ShortcutScope::Session, "fold", &["x"], "Session: fold or unfold all"),
    press(ShortcutScope::Session, "raw", &["r"], "Session: show or hide raw JSON"),
    press(ShortcutScope::Session, "helped", &["y"], "Rating: it helped"),
    press(ShortcutScope::Session, "unhelped", &["n"], "Rating: it did not help"),
    press(ShortcutScope::Session, "unsaid", &["s"], "Rating: skip the question"),
    press(ShortcutScope::Session, "unasked", &["d"], "Rating: dismiss the question"),
    press(ShortcutScope::Session, "unrate", &["z"], "Rating: undo it"),
    press(ShortcutScope::Inbox, "approve", &["a"], "Inbox: approve"),
    press(ShortcutScope::Inbox, "edit", &["e"], "Inbox: edit the values"),
    press(ShortcutScope::Inbox, "deny", &["r"], "Inbox: deny, with a reason"),
    press(ShortcutScope::Inbox, "respond", &["i"], "Inbox: answer"),
    press(ShortcutScope::Inbox, "snooze", &["h"], "Inbox: snooze"),
    press(ShortcutScope::Inbox, "hand-over", &["m"], "Inbox: hand over"),
    press(ShortcutScope::Inbox, "select", &["x"], "Inbox: select"),
    press(ShortcutScope::Inbox, "range", &["X"], "Inbox: select up to here"),
    press(ShortcutScope::Inbox, "undo", &["z"], "Inbox: undo"),
    Shortcut {
        scope: ShortcutScope::Inbox,
        ..shortcut("decide", &["Mod+Enter"], "Inbox: decide and continue", Command::Decide)
    },
    press(ShortcutScope::Failures, "seen", &["e"], "Failures: mark the cause as seen"),
    shortcut("keys", &["?"], "Show keyboard shortcuts", Command::Keys),
    press(ShortcutScope::Everywhere, "run", &[], "Run this task"),
    press(ShortcutScope::Everywhere, "theme", &[], "Change the theme"),
    press(ShortcutScope::Everywhere, "sign-out", &[], "Sign out"),
];

/// The keys of a binding for display: `Mod+m` becomes `Ctrl`, `M`.
pub fn display_keys(binding: &str) -> Vec<String> {
    let press = |press: &str| -> Vec<String> {
        if press.chars().count() <= 1 {
            return vec![press.to_owned()];
        }
        let part = |part: &str| match part {
            "Mod" => "Ctrl".to_owned(),
            one if one.chars().count() == 1 => one.to_uppercase(),
            other => other.to_owned(),
        };
        press.split('+').filter(|p| !p.is_empty()).map(part).collect()
    };
    binding.split(' ').flat_map(press).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_used_twice() {
        let mut ids: Vec<_> = SHORTCUTS.iter().map(|s| s.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), SHORTCUTS.len());
    }

    #[test]
    fn keys_are_shown_as_they_stand_on_the_keyboard() {
        assert_eq!(display_keys("Mod+m"), ["Ctrl", "M"]);
        assert_eq!(display_keys("g t"), ["g", "t"]);
        assert_eq!(display_keys("Alt+Shift+F2"), ["Alt", "Shift", "F2"]);
        assert_eq!(display_keys("+"), ["+"]);
    }
}
