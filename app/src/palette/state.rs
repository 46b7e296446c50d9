//! What the keys, the palette and the list of bindings share on one page.

#[cfg(feature = "hydrate")]
use super::{
    catalog::{Bindings, Command},
    user_bindings,
};
use leptos::{ev::KeyboardEvent, html, prelude::*};
#[cfg(feature = "hydrate")]
use std::{collections::VecDeque, sync::OnceLock};

/// What a person does with the palette or the list of shortcuts. Both are loaded late: what is done until then is kept,
/// and played to them in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Opened the palette.
    #[cfg(feature = "hydrate")]
    Opened,
    /// Typed; the whole text of the field.
    Typed(String),
    /// Moved the selection by this many rows.
    Moved(isize),
    /// Pressed Enter.
    Chose,
    /// Asked for the list of shortcuts.
    #[cfg(feature = "hydrate")]
    KeysRequested,
}

/// The state of keys and palette. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Keys {
    /// Operations that the palette's list has not handled yet, oldest first.
    pub operations: RwSignal<Vec<Operation>>,
    /// Id of the selected option, for screen readers.
    pub selected_id: RwSignal<Option<String>>,
    /// Element of the open or closed dialog, once it is mounted.
    pub dialog: NodeRef<html::Dialog>,
    /// The search field in it.
    pub field: NodeRef<html::Input>,
    /// Where the list is shown.
    pub place: NodeRef<html::Div>,
    /// The person's bindings.
    #[cfg(feature = "hydrate")]
    pub bindings: RwSignal<Bindings>,
    /// Shortcuts that wait until the islands that handle them work.
    #[cfg(feature = "hydrate")]
    pub waiting: StoredValue<VecDeque<Command>>,
    /// Loads the list, which plays the operations. Later calls do nothing.
    load_list: fn(Self),
    /// Whether the list was asked for.
    #[cfg(feature = "hydrate")]
    pub is_part_wanted: StoredValue<bool>,
}

/// The state of this page. Only the palette's island makes one, and a page has one palette.
#[cfg(feature = "hydrate")]
static OF_PAGE: OnceLock<Keys> = OnceLock::new();

impl Keys {
    /// The state of a page that was just opened. `load_list` loads the list when it is first needed.
    pub fn new(load_list: fn(Self)) -> Self {
        Self {
            operations: RwSignal::new(Vec::new()),
            selected_id: RwSignal::new(None),
            dialog: NodeRef::new(),
            field: NodeRef::new(),
            place: NodeRef::new(),
            #[cfg(feature = "hydrate")]
            bindings: RwSignal::new(user_bindings::stored()),
            #[cfg(feature = "hydrate")]
            waiting: StoredValue::new(VecDeque::new()),
            load_list,
            #[cfg(feature = "hydrate")]
            is_part_wanted: StoredValue::new(false),
        }
    }

    /// A key was pressed in the search field.
    pub fn press(self, event: &KeyboardEvent) {
        if event.is_composing() {
            return;
        }
        let operation = match event.key().as_str() {
            "ArrowDown" => Some(Operation::Moved(1)),
            "ArrowUp" => Some(Operation::Moved(-1)),
            "Enter" => Some(Operation::Chose),
            "Escape" => None,
            _ => return,
        };
        event.prevent_default();
        match operation {
            Some(operation) => self.play(operation),
            None => self.close(),
        }
    }

    /// Passes an operation to the list, which is loaded for the first one.
    pub fn play(self, operation: Operation) {
        self.operations.update(|operations| operations.push(operation));
        (self.load_list)(self);
    }

    /// Hides the dialog. The field gives the focus back at once: a browser would keep it there until the next frame,
    /// and a shortcut before that would count as typed into the field.
    pub fn close(self) {
        #[cfg(feature = "hydrate")]
        if let (Some(dialog), Some(field)) = (self.dialog.get_untracked(), self.field.get_untracked()) {
            let _ = field.blur();
            dialog.close();
        }
    }
}

#[cfg(feature = "hydrate")]
impl Keys {
    /// Makes this the state of the page.
    pub fn connect(self) {
        let _ = OF_PAGE.set(self);
    }

    /// The state of this page. `None` on a page without the palette.
    pub fn of_page() -> Option<Self> {
        OF_PAGE.get().copied()
    }

    /// Opens the dialog at once, with an empty search field.
    pub fn open(self) {
        if let (Some(dialog), Some(field)) = (self.dialog.get_untracked(), self.field.get_untracked())
            && !dialog.open()
        {
            field.set_value("");
            let _ = dialog.show_modal();
            self.play(Operation::Opened);
        }
    }
}
