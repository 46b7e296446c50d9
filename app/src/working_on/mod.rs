//! What a person works on: the picker in the rail, the recorder, and the marker dialog.
//!
//! A working session is an ordinary session that a person starts. The browser calls the server functions of `api`;
//! the forms of /working-on post to the same functions where scripts are off. The components share one state, `work`.

mod active;
mod api;
mod choice;
mod chooser;
mod context;
mod elapsed;
mod focus;
mod island;
mod marker;
mod marking;
mod messages;
mod picker;
mod work;

#[cfg(feature = "hydrate")]
mod add_marker;
#[cfg(feature = "hydrate")]
mod channel;
#[cfg(feature = "hydrate")]
mod control;
#[cfg(feature = "hydrate")]
mod draft;
#[cfg(any(feature = "hydrate", test))]
mod entity_ref;
#[cfg(feature = "hydrate")]
mod flush;
#[cfg(feature = "hydrate")]
mod left;
#[cfg(feature = "hydrate")]
mod queue;
#[cfg(feature = "hydrate")]
mod recorder;
#[cfg(feature = "hydrate")]
mod tab;

pub use active::Active;
#[cfg(feature = "ssr")]
pub use api::WorkingOnBackend;
pub use api::{CreateTask, Marker, StartWork, StopWork, Task, Tasks};
pub use chooser::TaskChooser;
pub use context::WorkingOnContext;
pub use island::WorkingOn;
pub use work::{Work, owner_of};
