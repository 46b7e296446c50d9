//! Signing in and out with e-mail and password.

use super::{
    Address, Secret, SecretKind,
    identify::{Identity, identity_of_user},
    password::verify_password,
    throttle::{email_digest, reserve},
};
use crate::{
    Ledger,
    error::{Error, Result},
};
use chrono::TimeDelta;
use domain::{Timestamp, id::BrowserSessionId, id::UserId, role::Role};
use store::{Access, TenantRecord, browser_session::NewBrowserSession};

/// A sign-in ends after this, however much it is used.
pub(super) const ABSOLUTE_LIFE: TimeDelta = TimeDelta::days(7);
/// A sign-in ends when unused for this long.
pub(super) const IDLE_LIFE: TimeDelta = TimeDelta::hours(12);

/// A fresh sign-in.
pub struct SignedIn {
    /// The cookie's value.
    pub secret: String,
    /// Its absolute end.
    pub expires_at: Timestamp,
    /// Who signed in, and where.
    pub identity: Identity,
}

/// Signs in. Wrong address and wrong password look and take the same; repeated failures slow down.
pub async fn sign_in(ledger: &Ledger, email: &str, password: &str) -> Result<SignedIn> {
    let email = Address::parse(email).map_err(|_| Error::BadCredentials)?.into_string();
    let email_digest = email_digest(&email);
    // A place first: an attempt that is not checked must not count.
    let place = ledger.passwords().enter()?;
    reserve(ledger, email_digest).await?;
    let user = ledger
        .store()
        .read(Access::System, move |conn| Box::pin(async move { store::user::find_by_email(conn, &email).await }))
        .await?;
    let right = verify_password(place, password, user.as_ref().map(|u| u.password_hash.clone())).await?;
    let Some(user) = user.filter(|_| right) else { return Err(Error::BadCredentials) };
    let workspaces =
        ledger.store().read(Access::System, move |conn| Box::pin(store::user::workspaces(conn, user.id))).await?;
    let (tenant, role) =
        workspaces.into_iter().next().ok_or(Error::Forbidden("this account belongs to no workspace"))?;
    start(ledger, tenant, role, user.id, user.email, Some(email_digest)).await
}

/// Stores a sign-in of a known person. The id is new at every sign-in.
pub(super) async fn start(
    ledger: &Ledger,
    tenant: TenantRecord,
    role: Role,
    user_id: UserId,
    email: String,
    cleared: Option<[u8; 32]>,
) -> Result<SignedIn> {
    let now = ledger.now();
    let secret = Secret::generate(SecretKind::Cookie, ledger.entropy());
    let new = NewBrowserSession {
        id: BrowserSessionId::new(now, ledger.entropy()),
        secret_digest: secret.digest(),
        tenant_id: tenant.id,
        user_id,
        at: now,
        expires_at: now + ABSOLUTE_LIFE,
    };
    ledger
        .store()
        .write::<_, Error, _>(Access::System, move |tx| {
            Box::pin(async move {
                if let Some(email_digest) = cleared {
                    store::clear_sign_in_attempts(tx, email_digest).await?;
                }
                store::browser_session::delete_expired(tx, now, now - IDLE_LIFE).await?;
                Ok(store::browser_session::insert(tx, &new).await?)
            })
        })
        .await?;
    Ok(SignedIn {
        secret: secret.into_string(),
        expires_at: new.expires_at,
        identity: identity_of_user(tenant, role, user_id, email),
    })
}

/// Ends a sign-in. A cookie that is not known changes nothing.
pub async fn sign_out(ledger: &Ledger, secret: &str) -> Result<()> {
    let Some(secret) = Secret::parse(SecretKind::Cookie, secret) else { return Ok(()) };
    let digest = secret.digest();
    ledger
        .store()
        .write::<_, Error, _>(Access::System, move |tx| {
            Box::pin(async move { Ok(store::browser_session::delete(tx, digest).await?) })
        })
        .await?;
    ledger.identities().forget(digest);
    Ok(())
}
