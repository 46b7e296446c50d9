//! The state of the picker on one page: one value of signals, which the components and the recorder share.

use super::{Active, marking::Marking};
use leptos::prelude::*;
use std::sync::OnceLock;

/// The number of queued events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Queued events of this person.
    pub count: u32,
    /// Whether the queue is full.
    pub full: bool,
}

/// A message of the picker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What happened, in one or two sentences.
    pub text: String,
    /// Whether it is about a failure. A failure stays until it is dismissed.
    pub is_bad: bool,
}

/// What the picker shows, and what the recorder works with. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Work {
    /// Workspace and person, see [`owner_of`].
    owner: StoredValue<String>,
    /// Whether the person may create tasks.
    pub may_create: bool,
    /// The active working session.
    pub active: RwSignal<Option<Active>>,
    /// The start in flight whose session is to end as soon as the server confirms it.
    pub stop_wanted: StoredValue<Option<Active>>,
    /// Whether recording is paused in this browser.
    pub paused: RwSignal<bool>,
    /// The number of queued events.
    pub waiting: RwSignal<Waiting>,
    /// The message shown.
    pub message: RwSignal<Option<Message>>,
    /// Events that the server refused, as JSON.
    pub refused: RwSignal<Vec<String>>,
    /// The marker dialog, whose element knows whether it is open.
    pub marker: Marking,
    /// What the recorder of this tab knows.
    #[cfg(feature = "hydrate")]
    pub tab: StoredValue<super::tab::Tab, LocalStorage>,
}

/// The state of this page. Only the picker's island creates one, and a page has one picker.
static OF_PAGE: OnceLock<Work> = OnceLock::new();

/// Workspace and person in one text.
pub fn owner_of(tenant_id: &str, user_id: &str) -> String {
    [tenant_id, "/", user_id].concat()
}

impl Work {
    /// The state as the server rendered it.
    pub fn new(owner: String, may_create: bool, active: Option<Active>) -> Self {
        Self {
            owner: StoredValue::new(owner),
            may_create,
            active: RwSignal::new(active),
            stop_wanted: StoredValue::new(None),
            paused: RwSignal::new(false),
            waiting: RwSignal::new(Waiting::default()),
            message: RwSignal::new(None),
            refused: RwSignal::new(Vec::new()),
            marker: Marking::default(),
            #[cfg(feature = "hydrate")]
            tab: StoredValue::new_local(super::tab::Tab::default()),
        }
    }

    /// The state of this page, for other islands. `None` on the server, and on a page without the picker.
    pub fn of_page() -> Option<Self> {
        OF_PAGE.get().copied()
    }

    /// The state of this page, or an idle one to render from.
    pub fn of_page_or_idle() -> Self {
        Self::of_page().unwrap_or_else(|| Self::new(String::new(), false, None))
    }

    /// Workspace and person.
    pub fn owner(self) -> String {
        self.owner.get_value()
    }

    /// The active working session, without following it.
    pub fn active_now(self) -> Option<Active> {
        self.active.get_untracked()
    }

    /// The active working session if the server has confirmed it, without following it.
    pub fn confirmed(self) -> Option<Active> {
        self.active_now().filter(Active::is_confirmed)
    }

    /// Shows a message.
    pub fn say(self, text: String, is_bad: bool) {
        self.message.set(Some(Message { text, is_bad }));
    }
}

#[cfg(feature = "hydrate")]
impl Work {
    /// Makes this the state of the page.
    pub fn connect(self) {
        let _ = OF_PAGE.set(self);
    }

    /// Opens the marker dialog. Without a working session it opens the list of tasks, because a marker belongs to one.
    /// Returns false while the server has not confirmed the session.
    pub fn open_marker(self) -> bool {
        if self.confirmed().is_some() {
            self.marker.open();
            return true;
        }
        let is_idle = self.active_now().is_none();
        if is_idle {
            self.say("Choose a task first. A marker belongs to a task.".to_owned(), false);
            let button = crate::browser::dom::root()
                .and_then(|root| crate::browser::dom::find(&root, ".working [data-part=idle] button"));
            if let Some(button) = button {
                button.click();
            }
        }
        is_idle
    }

    /// Shows this working session, whatever was shown before.
    pub fn show(self, now: Option<Active>) {
        if self.active.read_untracked() != now {
            self.active.set(now);
        }
    }
}
