//! What a person works on: the picker in the rail, the recorder, and the marker dialog.
//!
//! A working session is an ordinary session that a person starts. The browser calls the server functions of
//! `api`; the forms of /working-on post to the same functions where scripts are off.

mod active;
mod api;
mod island;

#[cfg(any(feature = "hydrate", test))]
mod choice;
#[cfg(feature = "hydrate")]
mod chooser;
#[cfg(feature = "hydrate")]
mod control;
#[cfg(any(feature = "hydrate", test))]
mod elapsed;
#[cfg(any(feature = "hydrate", test))]
mod entity_ref;
#[cfg(feature = "hydrate")]
mod flush;
#[cfg(feature = "hydrate")]
mod marker;
#[cfg(feature = "hydrate")]
mod queue;
#[cfg(feature = "hydrate")]
mod recorder;
#[cfg(feature = "hydrate")]
mod state;
#[cfg(feature = "hydrate")]
mod widget;

#[cfg(feature = "ssr")]
mod picker;

pub use active::Active;
#[cfg(feature = "ssr")]
pub use api::WorkingOnBackend;
pub use api::{CreateTask, Marker, StartWork, StopWork, Task, Tasks};
#[cfg(feature = "hydrate")]
pub use control::start;
pub use island::WorkingOn;
#[cfg(feature = "hydrate")]
pub use marker::open as open_marker;
#[cfg(feature = "ssr")]
pub use picker::{Picker, picker_view};
#[cfg(feature = "hydrate")]
use state::owner_of;
#[cfg(feature = "hydrate")]
pub use state::watch_waiting;
