//! The island of the rail: the buttons of the picker, the recorder, the marker dialog and the messages. A page has one.
//! The list of tasks is an island of its own, because few visits open it. The marker dialog is not: it takes the keys
//! that are pressed right after its shortcut.

use super::{Active, Work, marker::MarkerDialog, messages::Messages, picker::Picker, work::owner_of};
use leptos::prelude::*;

/// What a person works on. Without scripts it is a link to /working-on and a form that stops.
#[island]
pub fn WorkingOn(
    /// The active working session.
    active: Option<Active>,
    /// Id of the person.
    user_id: String,
    /// Id of the workspace.
    tenant_id: String,
    /// Whether the person may create tasks.
    may_create: bool,
) -> impl IntoView {
    let work = Work::new(owner_of(&tenant_id, &user_id), may_create, active);
    #[cfg(feature = "hydrate")]
    {
        work.connect();
        // The first rendering must be the server's. What this browser knows beyond it is shown afterwards.
        Effect::new(move |_| {
            super::control::start(work);
            super::recorder::start(work);
        });
    }
    provide_context(work);
    view! {
        <div class="working">
            <Picker/>
            <MarkerDialog/>
            <Messages/>
        </div>
    }
}
