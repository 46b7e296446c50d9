//! The state of the marker dialog.

use leptos::{html, prelude::*};

/// The state of the dialog. A copy is the same state.
#[derive(Clone, Copy, Default)]
pub struct Marking {
    /// Element of the open or closed dialog, once it is mounted.
    pub dialog: NodeRef<html::Dialog>,
    /// The field of the note in it.
    pub field: NodeRef<html::Textarea>,
    /// The text that was typed.
    pub note: RwSignal<String>,
    /// Why the note was not recorded; empty if nothing is wrong.
    pub problem: RwSignal<String>,
    /// Whether the note is being sent.
    pub is_sending: RwSignal<bool>,
}

impl Marking {
    /// Shows the dialog at once, with the note that was being written.
    pub fn open(self) {
        #[cfg(feature = "hydrate")]
        if let (Some(dialog), Some(field)) = (self.dialog.get_untracked(), self.field.get_untracked()) {
            self.note.set(super::draft::text());
            self.problem.set(String::new());
            if !dialog.open() {
                let _ = dialog.show_modal();
            }
            let _ = field.focus();
        }
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
