//! Setting up a new installation with its first workspace and admin.

use super::{
    Address, hash_password,
    link::joined,
    sign_in::{NewSignIn, SignedIn, start},
};
use crate::{
    Ledger,
    error::{Error, Result},
    guard::Fields,
};
use domain::{
    id::{TenantId, UserId},
    limit::NAME_CHARS_MAX,
    role::Role,
    slug::slugify,
};
use store::{Access, TenantRecord, UserRecord};

/// Returns whether no account exists yet.
pub async fn needs_setup(ledger: &Ledger) -> Result<bool> {
    let any = ledger.store().read(Access::System, async |conn| store::user::any(conn).await).await?;
    Ok(!any)
}

/// Creates the first workspace and its admin, and signs the admin in. `browser` is a description of the browser.
///
/// # Errors
/// [`Error::SetupDone`] if an account exists already; [`Error::Invalid`] for a wrong name, address or password;
/// [`Error::Busy`] if the password queue is full.
pub async fn setup(ledger: &Ledger, workspace: &str, email: &str, password: &str, browser: &str) -> Result<SignedIn> {
    if !needs_setup(ledger).await? {
        return Err(Error::SetupDone);
    }
    let mut fields = Fields::default();
    fields.name("workspace", workspace, NAME_CHARS_MAX);
    let slug = slugify(workspace);
    if slug.is_none() {
        fields.refuse(
            "workspace",
            "a name with at least one Latin letter or digit, because the address is created from it",
        );
    }
    fields.check()?;
    let now = ledger.now();
    let email = Address::parse(email)?.into_string();
    let password_hash = hash_password(ledger, password).await?;
    let user = UserRecord { id: UserId::new(now, ledger.entropy()), email, name: String::new(), password_hash };
    let tenant = TenantRecord {
        id: TenantId::new(now, ledger.entropy()),
        slug: slug.unwrap_or_default(),
        name: workspace.trim().to_owned(),
    };
    let (row, owner) = (tenant.clone(), user.clone());
    ledger
        .write(Access::System, async move |tx| {
            // Two people may submit the set-up page at the same time. The second one is refused.
            store::user::lock_setup(tx).await?;
            if store::user::any(tx.conn()).await? {
                return Err(Error::SetupDone);
            }
            store::tenant::insert(tx, &row, now).await?;
            store::user::insert(tx, &owner, now).await?;
            store::user::join(tx, row.id, owner.id, Role::Admin, now).await?;
            joined(owner.id, Role::Admin, None, now).record(tx, row.id).await
        })
        .await?;
    start(ledger, NewSignIn { user, tenant_id: Some(tenant.id), cleared: None, browser }).await
}
