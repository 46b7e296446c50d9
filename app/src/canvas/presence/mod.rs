//! Who else is on a canvas, and at which block: reports to the server and from it, and the names that are shown.

mod model;
#[cfg(feature = "hydrate")]
mod reporter;
#[cfg(feature = "hydrate")]
mod view;

#[cfg(feature = "hydrate")]
pub use view::{AtBlock, Presence, WhoIsHere};
