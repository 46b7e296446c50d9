//! Signing in and out with e-mail and password.

use super::{
    Address, Secret, SecretKind,
    identify::{IDLE_LIFE, Identity, Person, identity_of_user},
    password::verify_password,
    throttle::{block_of, email_digest, reserve},
};
use crate::{
    Ledger,
    audit::Act,
    error::{Error, Result},
};
use chrono::TimeDelta;
use domain::{
    Caller, Timestamp,
    audit::Kind,
    id::{BrowserSessionId, TenantId},
    limit::BROWSER_CHARS_MAX,
};
use serde_json::json;
use std::net::IpAddr;
use store::{Access, UserRecord, browser_session::NewBrowserSession};

/// Longest duration of a sign-in, even if it is used all the time.
pub(super) const ABSOLUTE_LIFE: TimeDelta = TimeDelta::days(7);

/// A new sign-in.
pub struct SignedIn {
    /// The value of the cookie.
    pub secret: String,
    /// When the sign-in ends at the latest.
    pub expires_at: Timestamp,
    /// The person and the workspace.
    pub identity: Identity,
}

/// Signs a person in. An unknown address and a wrong password give the same error after the same time. After
/// repeated failures the address is blocked for an increasing time. `browser` is a description of the browser.
///
/// # Errors
/// [`Error::BadCredentials`], [`Error::TooManyAttempts`] while the address is blocked, [`Error::Busy`] if the password
/// queue is full, or [`Error::Forbidden`] if the person belongs to no workspace.
pub async fn sign_in(ledger: &Ledger, email: &str, password: &str, browser: &str) -> Result<SignedIn> {
    let email = Address::parse(email).map_err(|_| Error::BadCredentials)?.into_string();
    let email_digest = email_digest(&email);
    // The queue place is reserved first: an attempt that is refused as busy must not count as a failure.
    let place = ledger.passwords().acquire()?;
    reserve(ledger, email_digest).await?;
    let user =
        ledger.store().read(Access::System, async move |conn| store::user::find_by_email(conn, &email).await).await?;
    let right = verify_password(place, password, user.as_ref().map(|u| u.password_hash.clone())).await?;
    let Some(user) = user.filter(|_| right) else { return Err(Error::BadCredentials) };
    start(ledger, NewSignIn { user, tenant_id: None, cleared: Some(email_digest), browser }).await
}

/// Records that a sign-in to the account with this e-mail address was refused, in the audit lists of all workspaces of
/// its person. `from` is the address of the network that it came from. If it has blocked the account for a time, that
/// is recorded too, once for each block. Nothing is recorded for an unknown account.
///
/// [`sign_in`] does not do this itself: who waits for its answer could tell known accounts by the time that it takes.
pub async fn record_refused_sign_in(ledger: &Ledger, email: &str, from: IpAddr) -> Result<()> {
    let Ok(email) = Address::parse(email).map(Address::into_string) else { return Ok(()) };
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(user) = store::user::find_by_email(conn, &email).await? else { return Ok(None) };
        Ok(Some((user, store::sign_in_attempts(conn, email_digest(&email)).await?)))
    });
    let Some((user, attempts)) = read.await? else { return Ok(()) };
    let now = ledger.now();
    let refused = Act::refused_sign_in(Kind::SignInRefused, user.id, now);
    let blocked = attempts.and_then(|attempts| block_of(attempts, now)).map(|block| {
        let detail = json!({ "address": from, "attempts": block.attempts, "seconds": block.seconds });
        Act::refused_sign_in(Kind::SignInBlocked, user.id, now).with(detail)
    });
    let written = ledger.write(Access::System, async move |tx| {
        let mut tenants: Vec<_> =
            store::user::workspaces(tx.conn(), user.id).await?.into_iter().map(|(tenant, _)| tenant.id).collect();
        tenants.sort_unstable();
        for tenant_id in tenants {
            if let Some(unlisted) = store::audit::count_refusal(tx, tenant_id, now).await? {
                let detail = match unlisted {
                    0 => json!({ "address": from }),
                    _ => json!({ "address": from, "unlistedBefore": unlisted }),
                };
                refused.clone().with(detail).record(tx, tenant_id).await?;
                if let Some(blocked) = &blocked {
                    blocked.record(tx, tenant_id).await?;
                }
            }
        }
        Ok(())
    });
    written.await
}

/// A person whose identity is proven, and who is to be signed in.
pub(super) struct NewSignIn<'a> {
    /// The person, with the password hash that proved the identity.
    pub(super) user: UserRecord,
    /// The workspace to show first. If it is `None` or the person is not a member of it, their first workspace
    /// is shown.
    pub(super) tenant_id: Option<TenantId>,
    /// Digest of the address whose failed attempts are cleared.
    pub(super) cleared: Option<[u8; 32]>,
    /// Description of the browser, such as its name and system.
    pub(super) browser: &'a str,
}

/// Stores a sign-in with a new id and secret.
///
/// # Errors
/// [`Error::BadCredentials`] if the password was changed or the person's access ended since the identity was proven.
pub(super) async fn start(ledger: &Ledger, new_sign_in: NewSignIn<'_>) -> Result<SignedIn> {
    let NewSignIn { user, tenant_id, cleared, browser } = new_sign_in;
    let (user_id, proven_hash) = (user.id, user.password_hash.clone());
    let workspaces =
        ledger.store().read(Access::System, async move |conn| store::user::workspaces(conn, user_id).await).await?;
    let wanted = workspaces.iter().position(|(tenant, _)| Some(tenant.id) == tenant_id).unwrap_or_default();
    let (tenant, role) =
        workspaces.into_iter().nth(wanted).ok_or(Error::Forbidden("this account belongs to no workspace"))?;
    let now = ledger.now();
    let secret = Secret::generate(SecretKind::Cookie, ledger.entropy());
    let expires_at = now + ABSOLUTE_LIFE;
    let new = NewBrowserSession {
        id: BrowserSessionId::new(now, ledger.entropy()),
        secret_digest: secret.digest(),
        tenant_id: tenant.id,
        user_id,
        at: now,
        expires_at,
        browser: browser.chars().take(BROWSER_CHARS_MAX).collect(),
    };
    let signed_in = Act::new(Kind::SignInAccepted, Caller::User(user_id), now);
    ledger
        .write(Access::System, async move |tx| {
            // A change of the password ends the sign-ins that exist. This one would be stored after it: the
            // identity was proven before, and the hash may have waited in the queue.
            let known = store::user::find_locked(tx, user_id).await?;
            if known.is_none_or(|known| known.password_hash != proven_hash) {
                return Err(Error::BadCredentials);
            }
            if store::user::find_member_locked(tx, new.tenant_id, user_id).await?.is_none() {
                return Err(Error::BadCredentials);
            }
            if let Some(email_digest) = cleared {
                store::clear_sign_in_attempts(tx, email_digest).await?;
            }
            store::browser_session::delete_expired(tx, now, now - IDLE_LIFE).await?;
            store::browser_session::insert(tx, &new).await?;
            signed_in.record(tx, new.tenant_id).await
        })
        .await?;
    let person = Person { id: user.id, email: user.email, name: user.name };
    Ok(SignedIn { secret: secret.into_string(), expires_at, identity: identity_of_user(tenant, role, person) })
}

/// Ends a sign-in and its open streams. An unknown cookie is ignored: whoever invents one must not make all streams
/// check their access.
pub async fn sign_out(ledger: &Ledger, secret: &str) -> Result<()> {
    let Some(secret) = Secret::parse(SecretKind::Cookie, secret) else { return Ok(()) };
    let (digest, now) = (secret.digest(), ledger.now());
    let ended = ledger.write(Access::System, async move |tx| {
        let Some((tenant_id, user_id)) = store::browser_session::delete(tx, digest).await? else {
            return Ok(false);
        };
        Act::new(Kind::SignInEnded, Caller::User(user_id), now).record(tx, tenant_id).await?;
        Ok(true)
    });
    if ended.await? {
        ledger.access_changed().await;
    }
    Ok(())
}
