//! When a snapshot of a canvas is stored, so that reading a version reads few patches.

use crate::limit::{CANVAS_SNAPSHOT_BYTES, CANVAS_SNAPSHOT_PATCHES};

/// Whether a snapshot is due. `patches` and `bytes` count the patches since the last one, the newest included.
pub const fn is_snapshot_due(patches: u64, bytes: u64) -> bool {
    patches >= CANVAS_SNAPSHOT_PATCHES || bytes >= CANVAS_SNAPSHOT_BYTES
}
