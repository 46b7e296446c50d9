//! Recording that someone downloads the responses to a view.

use crate::{Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::ViewId,
    role::Permission,
};

/// Records in the audit list that the caller downloads the responses to this view. A download whose entry cannot be
/// written is not to begin.
pub async fn record_download(ledger: &Ledger, scope: &Scope, view: ViewId) -> Result<()> {
    require(scope, Permission::Read)?;
    let downloaded = Act::new(Kind::ResponsesDownloaded, scope.caller, ledger.now());
    downloaded.on(TargetKind::View, view.0).write(ledger, scope).await
}
