//! The island of the rail: the buttons of the picker, the recorder, the marker dialog and the messages. A page has one.
//! The list of tasks is an island of its own, because few visits open it. The marker dialog is not: it takes the keys
//! that are pressed right after its shortcut.

use super::{Active, Work, WorkingOnContext, marker::MarkerDialog, messages::Messages, picker::Picker};
use leptos::prelude::*;

/// What a person works on. Without scripts it is a link to /working-on and a form that stops. The server provides
/// [`WorkingOnContext`].
#[island]
pub fn WorkingOn() -> impl IntoView {
    let WorkingOnContext { owner, may_create, active } = WorkingOnContext::of_page();
    let (of, lines) = (owner.clone(), active.as_ref().map(Active::to_lines));
    let work = Work::new(owner, may_create, active);
    #[cfg(feature = "hydrate")]
    {
        work.connect();
        super::channel::follow(work);
        // The first rendering must be the server's. What this browser knows beyond it is shown afterwards.
        Effect::new(move |_| {
            super::control::start(work);
            super::recorder::start(work);
        });
    }
    view! {
        <div class="working" data-owner=of data-may-create=may_create.then_some("") data-active=lines>
            <Picker work/>
            <MarkerDialog work/>
            <Messages work/>
        </div>
    }
}
