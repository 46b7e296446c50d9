//! Events: appending, reading and following.

mod append;
mod delta;
mod distinct;
mod find;
mod follow;
mod holder;
mod progress;
mod read;

pub use append::{Append, Appended, append};
pub use delta::{Delta, send_delta};
pub use domain::event::NewEvent;
pub use find::{Find, FoundEvent, FoundInLog, Items, Place, find};
pub use follow::{Follow, Following, follow};
pub use progress::{Progress, send_progress};
pub(crate) use read::{CountedKinds, KindCounts, counted, counted_kinds, kind_counts_on, read_on, remember, timeline};
pub use read::{Read, Slice, events_of_page, kind_counts, read};
