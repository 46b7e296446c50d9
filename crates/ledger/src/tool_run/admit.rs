//! Whether a link to a tool may begin a run.

use crate::{Error, Result};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    id::{TenantId, ToolLinkId},
    limit::TOOL_LINK_RUNS_PER_HOUR_MAX,
};
use store::WriteTx;

/// Refuses a run by a link that does not work any more or has begun too many runs. The link is locked until the
/// transaction ends, so that runs at the same time do not exceed the limit together.
///
/// # Errors
/// [`Error::NotFound`] and [`Error::LimitReached`].
pub(super) async fn admit(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ToolLinkId, now: Timestamp) -> Result<()> {
    let link = store::tool_link::find_locked(tx, id).await?;
    link.filter(|link| link.tenant_id == tenant_id && link.works(now)).ok_or(Error::NotFound("page"))?;
    let begun = store::tool_link::runs_since(tx.conn(), tenant_id, id, now - TimeDelta::hours(1)).await?;
    if begun >= u64::from(TOOL_LINK_RUNS_PER_HOUR_MAX) {
        let text =
            format!("At most {TOOL_LINK_RUNS_PER_HOUR_MAX} runs are begun by one link in an hour. Try again later.");
        return Err(Error::LimitReached(text));
    }
    Ok(())
}
