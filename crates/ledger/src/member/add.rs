//! Adding members by the operator of the server.

use crate::{
    Error, Ledger, MemberRecord, Result, TenantRecord,
    audit::Act,
    auth::{Address, hash_password},
    guard::Fields,
};
use domain::{
    Caller,
    audit::{Kind, TargetKind},
    id::{TenantId, UserId},
    limit::NAME_CHARS_MAX,
    member::{MemberStatus, leaves_no_admin},
    role::Role,
    slug::is_slug,
};
use serde_json::json;
use store::{Access, UserRecord};

/// Adds a person to a workspace, which is created if it does not exist. If the person has an account, sets its
/// role and password, and ends all of its sign-ins. Invitations of the person to the workspace stop working: they
/// would replace the role.
///
/// # Errors
/// [`Error::Invalid`] for a wrong slug, address or password; [`Error::Busy`] if the password queue is full;
/// [`Error::LastAdmin`] if the new role would leave the workspace without an admin.
pub async fn add_by_operator(
    ledger: &Ledger,
    tenant_slug: &str,
    email: &str,
    role: Role,
    password: &str,
) -> Result<MemberRecord> {
    let tenant = ensure_tenant(ledger, tenant_slug, tenant_slug).await?;
    join(ledger, tenant.id, email, role, password).await
}

/// Returns the workspace with this slug, and creates it if it does not exist.
pub(crate) async fn ensure_tenant(ledger: &Ledger, slug: &str, name: &str) -> Result<TenantRecord> {
    let mut fields = Fields::default();
    fields.name("workspace", name, NAME_CHARS_MAX);
    if !is_slug(slug) {
        fields.refuse("tenant", "lower-case letters, digits and single hyphens, at most 64 characters");
    }
    fields.check()?;
    let now = ledger.now();
    let tenant =
        TenantRecord { id: TenantId::new(now, ledger.entropy()), slug: slug.to_owned(), name: name.to_owned() };
    ledger
        .write(Access::System, async move |tx| {
            if let Some(existing) = store::tenant::find_by_slug(tx.conn(), &tenant.slug).await? {
                return Ok(existing);
            }
            store::tenant::insert(tx, &tenant, now).await?;
            Ok(tenant)
        })
        .await
}

async fn join(ledger: &Ledger, tenant_id: TenantId, email: &str, role: Role, password: &str) -> Result<MemberRecord> {
    let email = Address::parse(email)?.into_string();
    let password_hash = hash_password(ledger, password).await?;
    let now = ledger.now();
    let fresh = UserRecord { id: UserId::new(now, ledger.entropy()), email, name: String::new(), password_hash };
    let joined = ledger
        .write(Access::System, async move |tx| {
            let admins = store::user::lock_admins(tx, tenant_id).await?;
            let known = store::user::find_by_email(tx.conn(), &fresh.email).await?;
            let has_account = known.is_some();
            let user_id = match known {
                Some(user) => {
                    if leaves_no_admin(&admins, &user.id, MemberStatus::Active, role) {
                        return Err(Error::LastAdmin);
                    }
                    store::user::set_password(tx, user.id, &fresh.password_hash).await?;
                    store::access_link::delete_resets(tx, user.id).await?;
                    store::browser_session::delete_of_user(tx, user.id, None).await?;
                    user.id
                }
                None => {
                    store::user::insert(tx, &fresh, now).await?;
                    fresh.id
                }
            };
            store::access_link::delete_invitations_of(tx, tenant_id, &fresh.email).await?;
            store::user::join(tx, tenant_id, user_id, role, now).await?;
            let member = store::user::find_member(tx.conn(), tenant_id, user_id).await?;
            let by_operator = |kind| Act::new(kind, Caller::System, now).on(TargetKind::User, user_id.0);
            by_operator(Kind::MemberAdded).with(json!({ "role": role })).record(tx, tenant_id).await?;
            if has_account {
                by_operator(Kind::PasswordChanged).record_for(tx, user_id).await?;
            }
            member.ok_or(Error::NotFound("member"))
        })
        .await?;
    ledger.access_changed().await;
    Ok(joined)
}
