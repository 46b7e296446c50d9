//! What others changed in a canvas, for the tools that read one, change one and wait.

use super::super::adapter::JobContext;
use domain::{
    canvas::changes::{ShownPatch, render},
    id::SessionId,
};
use serde_json::{Value, json};

/// Changes of others after a version.
pub struct Changes {
    /// The newest version of the canvas.
    pub head: u64,
    /// The version of the last patch that was looked at, or the newest one.
    pub last: u64,
    /// The changes as a block of untrusted text; `None` without any.
    pub block: Option<String>,
    /// Whether there are more changes than one answer of the server lists.
    pub has_more: bool,
}

impl Changes {
    /// Adds the changes to the answer of a tool.
    pub fn add_to(self, answer: &mut Value) {
        if let Some(block) = self.block {
            answer["changes"] = json!(block);
        }
        if self.has_more {
            answer["moreChanges"] = json!(true);
        }
    }
}

/// Id of a new patch of the session. The text before the last colon is the same for all of them.
pub fn own_id(context: &JobContext) -> String {
    format!("{}:{}", context.lease.session_id, context.events.fresh_key())
}

/// Reads what others changed after a version. Patches of the session itself are left out.
///
/// # Errors
/// Those of the API.
pub async fn since(id: SessionId, after: u64, context: &JobContext) -> client::Result<Changes> {
    wait_since(id, after, 0, context).await
}

/// The same. If there is no patch after the version, it waits for one.
///
/// # Errors
/// Those of the API.
pub async fn wait_since(id: SessionId, after: u64, wait_seconds: u32, context: &JobContext) -> client::Result<Changes> {
    let lease = &context.lease;
    let read = |_| context.api.canvas_patches(id, after, wait_seconds);
    let found = lease.retry_while_held(lease.backoff(), read).await?;
    let own = format!("{}:", lease.session_id);
    let others = found.patches.iter().filter(|patch| !patch.op_id.starts_with(&own));
    let shown: Vec<_> =
        others.map(|patch| ShownPatch { version: patch.sequence, by: &patch.by, ops: &patch.ops }).collect();
    let block = render(&shown, &context.events.delimiter());
    let last = found.patches.last().map_or(found.head, |patch| patch.sequence);
    Ok(Changes { head: found.head, last, block, has_more: found.has_more })
}
