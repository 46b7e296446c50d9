//! The approval settings of an action: that whom they name exists.

use crate::{ActionRecord, Result, guard::Fields};
use domain::{
    gate::{Policy, Principal},
    id::TenantId,
};
use serde_json::{Map, Value};
use store::Conn;

/// The key of an action's metadata that says whether its output waits for people.
pub const REQUIRES_APPROVAL: &str = "requiresApproval";
/// The key of an action's metadata that says who decides, how many of them and by when.
pub const APPROVAL: &str = "approval";

/// Refuses reviewers and groups that are not in the workspace.
pub(super) async fn check_references(conn: &mut Conn<'_>, tenant_id: TenantId, action: &ActionRecord) -> Result<()> {
    let mut fields = Fields::default();
    // Settings that cannot be followed were refused before.
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
