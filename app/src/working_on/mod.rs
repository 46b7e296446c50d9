//! What a person works on: the picker in the rail, the recorder behind it, the marker, and their day.
//!
//! A working session is a session like any other; this is how a person makes one. The server's half is
//! `/api/sessions/human/*`, and plain forms on /working-on where scripts do not run.

mod active;
mod choice;
mod elapsed;
mod entity_ref;
mod marker;
mod picker;
mod said;

#[cfg(feature = "hydrate")]
mod control;
#[cfg(feature = "hydrate")]
mod flush;
#[cfg(feature = "hydrate")]
mod hooks;
#[cfg(feature = "hydrate")]
mod queue;
#[cfg(feature = "hydrate")]
mod recorder;
#[cfg(feature = "hydrate")]
mod state;

#[cfg(feature = "ssr")]
mod day;
#[cfg(feature = "ssr")]
mod page;

pub use active::Active;
#[cfg(feature = "ssr")]
pub use day::{Day, day_fragment, day_section};
#[cfg(feature = "hydrate")]
use hooks::{on_open_marker, opens, owner_of, show_option};
#[cfg(feature = "hydrate")]
pub use hooks::{open_marker, watch_waiting};
#[cfg(feature = "ssr")]
pub use page::{Props, page};
pub use picker::WorkingOn;
