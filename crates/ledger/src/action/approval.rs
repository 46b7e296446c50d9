//! Checks that the people and groups in an action's approval settings exist.

use crate::{ActionRecord, Result, guard::Fields};
use domain::{
    gate::{Policy, Principal},
    id::TenantId,
};
use serde_json::{Map, Value};
use store::Conn;

/// The key in an action's metadata that says whether its output waits for approval.
pub const REQUIRES_APPROVAL: &str = "requiresApproval";
/// The key in an action's metadata that holds the reviewers, how many must decide, and the time limit.
pub const APPROVAL: &str = "approval";

/// Refuses reviewers and groups that are not in the workspace.
pub(super) async fn check_references(conn: &mut Conn<'_>, tenant_id: TenantId, action: &ActionRecord) -> Result<()> {
    let mut fields = Fields::default();
    // Invalid settings were refused by `check` before, so falling back to the default loses nothing.
    let metadata: Map<String, Value> = serde_json::from_str(&action.metadata).unwrap_or_default();
    let policy = Policy::of(&metadata).unwrap_or_default();
    let named =
        policy.reviewers.iter().enumerate().map(|(index, who)| (format!("metadata.approval.reviewers[{index}]"), who));
    let escalate = policy.escalate_to.iter().map(|who| ("metadata.approval.escalateTo".to_owned(), who));
    for (field, who) in named.chain(escalate) {
        let missing = match who {
            Principal::Anyone => None,
            Principal::User(id) => {
                let found = store::user::find_member(conn, tenant_id, *id).await?;
                found.is_none().then(|| "no one in this workspace has this id".to_owned())
            }
            Principal::Group(slug) => {
                let found = store::group::find_by_slug(conn, tenant_id, slug).await?;
                found.is_none().then(|| format!("there is no group `{slug}`"))
            }
        };
        if let Some(message) = missing {
            fields.refuse(&field, message);
        }
    }
    fields.check()
}
