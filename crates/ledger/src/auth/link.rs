//! Using a single-use link to join a workspace or to set a new password.

use super::{
    Secret, SecretKind, SignedIn, hash_password,
    link_maker::may_still,
    password::verify_password,
    sign_in::{NewSignIn, start},
    throttle::{email_digest, reserve},
};
use crate::{
    Ledger,
    audit::Act,
    error::{Error, Result},
    guard::Fields,
};
use domain::{
    Caller, Timestamp,
    audit::{Kind, TargetKind},
    id::UserId,
    limit::NAME_CHARS_MAX,
    member::MemberStatus,
    role::Role,
};
use serde_json::json;
use store::{Access, AccessLinkRecord, LinkPurpose, TenantRecord, UserRecord, WriteTx};

/// What a link permits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkUse {
    /// A new person joins with this role, and sets a name and a password.
    Join(Role),
    /// A person who has an account joins with this role, and proves the identity with the account's password.
    JoinWithAccount(Role),
    /// A person sets a new password.
    Reset,
}

/// A link that is valid now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLink {
    /// What the link permits.
    pub to: LinkUse,
    /// The workspace that created the link.
    pub tenant: TenantRecord,
    /// E-mail address of the person for whom the link was created.
    pub email: String,
    /// When the link stops working.
    pub expires_at: Timestamp,
}

/// Returns the link with this secret, or `None` if it is not valid (any more): it has expired, was used, replaced or
/// withdrawn, or who made it may not make it now. This does not use the link up.
pub async fn find_link(ledger: &Ledger, secret: &str) -> Result<Option<OpenLink>> {
    let Some(secret) = Secret::parse(SecretKind::Link, secret) else { return Ok(None) };
    let Some((link, user)) = read(ledger, secret.digest()).await? else { return Ok(None) };
    let to = match (link.purpose, user) {
        (LinkPurpose::Invitation(role), None) => LinkUse::Join(role),
        (LinkPurpose::Invitation(role), Some(_)) => LinkUse::JoinWithAccount(role),
        (LinkPurpose::Reset { .. }, _) => LinkUse::Reset,
    };
    Ok(Some(OpenLink { to, tenant: link.tenant, email: link.email, expires_at: link.expires_at }))
}

/// Uses a link up and signs its person in. `password` is the new password, or the existing one of an account
/// that joins. `name` is only used for new people.
///
/// # Errors
/// [`Error::NotFound`] if the link is not valid (any more), or if its person is a member already; [`Error::Invalid`]
/// for a wrong name, a new password that is too short or too long, or a password that is not the account's;
/// [`Error::TooManyAttempts`] while the address is blocked; [`Error::Busy`] if the password queue is full;
/// [`Error::BadCredentials`] if the password was changed or the access ended meanwhile.
pub async fn use_link(ledger: &Ledger, secret: &str, name: &str, password: &str, browser: &str) -> Result<SignedIn> {
    let gone = || Error::NotFound("link");
    let digest = Secret::parse(SecretKind::Link, secret).ok_or_else(gone)?.digest();
    let (link, user) = read(ledger, digest).await?.ok_or_else(gone)?;
    let user = match (link.purpose, user) {
        (LinkPurpose::Invitation(role), None) => join_new(ledger, digest, &link, role, name, password).await?,
        (LinkPurpose::Invitation(role), Some(user)) => join(ledger, digest, &link, role, user, password).await?,
        (LinkPurpose::Reset { by_operator, .. }, Some(user)) => {
            reset(ledger, digest, &link, by_operator, user, password).await?
        }
        (LinkPurpose::Reset { .. }, None) => return Err(gone()),
    };
    ledger.access_changed().await;
    let tenant_id = Some(link.tenant.id);
    start(ledger, NewSignIn { user, tenant_id, cleared: Some(email_digest(&link.email)), browser }).await
}

/// Returns a valid link and the account with its address, if there is one.
async fn read(ledger: &Ledger, digest: [u8; 32]) -> Result<Option<(AccessLinkRecord, Option<UserRecord>)>> {
    let now = ledger.now();
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(link) = store::access_link::find(conn, digest, now).await? else { return Ok(None) };
        if !may_still(conn, &link).await? {
            return Ok(None);
        }
        let user = store::user::find_by_email(conn, &link.email).await?;
        Ok(Some((link, user)))
    });
    Ok(read.await?)
}

/// Uses the link up inside a transaction. If several callers do so at the same time, one succeeds. The rights of who
/// made the link may have ended since it was read.
async fn take(tx: &mut WriteTx<'_>, link: &AccessLinkRecord, digest: [u8; 32], now: Timestamp) -> Result<()> {
    let works = store::access_link::take(tx, digest, now).await? && may_still(tx.conn(), link).await?;
    if works { Ok(()) } else { Err(Error::NotFound("link")) }
}

/// The act of a person who joins a workspace: by an invitation, or by setting the server up.
pub(super) fn joined(user_id: UserId, role: Role, invitation: Option<&AccessLinkRecord>, at: Timestamp) -> Act {
    let act = Act::new(Kind::MemberJoined, Caller::User(user_id), at).on(TargetKind::User, user_id.0);
    act.with(match invitation {
        Some(link) => json!({ "role": role, "invitation": link.id, "invitedBy": link.created_by }),
        None => json!({ "role": role }),
    })
}

async fn join_new(
    ledger: &Ledger,
    digest: [u8; 32],
    link: &AccessLinkRecord,
    role: Role,
    name: &str,
    password: &str,
) -> Result<UserRecord> {
    let mut fields = Fields::default();
    fields.name("name", name, NAME_CHARS_MAX);
    fields.check()?;
    let now = ledger.now();
    let password_hash = hash_password(ledger, password).await?;
    let id = UserId::new(now, ledger.entropy());
    let user = UserRecord { id, email: link.email.clone(), name: name.trim().to_owned(), password_hash };
    let (row, tenant_id, link) = (user.clone(), link.tenant.id, link.clone());
    ledger
        .write(Access::System, async move |tx| {
            // Adding the same person takes this lock and then deletes the link.
            store::user::lock_admins(tx, tenant_id).await?;
            take(tx, &link, digest, now).await?;
            store::user::insert(tx, &row, now).await?;
            store::user::join(tx, tenant_id, row.id, role, now).await?;
            joined(row.id, role, Some(&link), now).record(tx, tenant_id).await
        })
        .await?;
    Ok(user)
}

/// Adds a person with an account to the workspace. The person's password stays: the link was created by an admin
/// of another workspace, who must not be able to replace it. A member has the role that an admin gave them since, and
/// a deactivated one is activated by an admin alone, so the link does not work for them.
async fn join(
    ledger: &Ledger,
    digest: [u8; 32],
    link: &AccessLinkRecord,
    role: Role,
    user: UserRecord,
    password: &str,
) -> Result<UserRecord> {
    let place = ledger.passwords().acquire()?;
    reserve(ledger, email_digest(&user.email)).await?;
    let wrong = || Error::invalid("password", "is not the password of this account");
    if !verify_password(place, password, Some(user.password_hash.clone())).await? {
        return Err(wrong());
    }
    let (id, now, proven_hash) = (user.id, ledger.now(), user.password_hash.clone());
    let (tenant_id, link) = (link.tenant.id, link.clone());
    ledger
        .write(Access::System, async move |tx| {
            store::user::lock_admins(tx, tenant_id).await?;
            // The password may have changed while the hash waited in the queue.
            let known = store::user::find_locked(tx, id).await?;
            if known.is_none_or(|known| known.password_hash != proven_hash) {
                return Err(wrong());
            }
            let member = store::user::find_any_member(tx.conn(), tenant_id, id).await?;
            if member.is_some_and(|member| member.status != MemberStatus::Removed) {
                return Err(Error::NotFound("link"));
            }
            take(tx, &link, digest, now).await?;
            store::user::join(tx, tenant_id, id, role, now).await?;
            joined(id, role, Some(&link), now).record(tx, tenant_id).await
        })
        .await?;
    Ok(user)
}

/// Sets a new password and ends every sign-in of the person.
async fn reset(
    ledger: &Ledger,
    digest: [u8; 32],
    link: &AccessLinkRecord,
    by_operator: bool,
    user: UserRecord,
    password: &str,
) -> Result<UserRecord> {
    let password_hash = hash_password(ledger, password).await?;
    let (id, now, new_hash) = (user.id, ledger.now(), password_hash.clone());
    let (tenant_id, link) = (link.tenant.id, link.clone());
    ledger
        .write(Access::System, async move |tx| {
            // In the order of the others that take these locks. A join of another workspace holds the person's.
            store::user::lock_admins(tx, tenant_id).await?;
            store::user::find_locked(tx, id).await?;
            take(tx, &link, digest, now).await?;
            // The person may have joined another workspace since an admin of this one created the link.
            if !by_operator && store::user::is_member_elsewhere(tx.conn(), tenant_id, id).await? {
                return Err(Error::NotFound("link"));
            }
            store::user::set_password(tx, id, &new_hash).await?;
            store::access_link::delete_resets(tx, id).await?;
            store::browser_session::delete_of_user(tx, id, None).await?;
            let reset = Act::new(Kind::PasswordReset, Caller::User(id), now).on(TargetKind::User, id.0);
            reset.with(json!({ "linkBy": link.created_by })).record_for(tx, id).await
        })
        .await?;
    Ok(UserRecord { password_hash, ..user })
}
