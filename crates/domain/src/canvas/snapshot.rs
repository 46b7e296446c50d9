//! When the document of a canvas is kept as it is, so that opening it reads few patches.

use crate::limit::{CANVAS_SNAPSHOT_BYTES, CANVAS_SNAPSHOT_PATCHES};

/// Whether the document is kept now. `patches` and `bytes` count those since it was kept last, the newest included.
pub const fn is_snapshot_due(patches: u64, bytes: u64) -> bool {
    patches >= CANVAS_SNAPSHOT_PATCHES || bytes >= CANVAS_SNAPSHOT_BYTES
}
