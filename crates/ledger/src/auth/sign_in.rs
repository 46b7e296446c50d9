//! Signing in and out with e-mail and password.

use super::{
    Address, Secret, SecretKind,
    identify::{Identity, identity_of_user},
    password::verify_password,
};
use crate::{
    Ledger,
    error::{Error, Result},
};
use chrono::TimeDelta;
use domain::{Timestamp, id::BrowserSessionId, id::UserId, role::Role};
use sha2::{Digest as _, Sha256};
use store::{Access, TenantRecord, browser_session::NewBrowserSession};

/// A sign-in ends after this, however much it is used.
pub(super) const ABSOLUTE_LIFE: TimeDelta = TimeDelta::days(7);
/// A sign-in ends when unused for this long.
pub(super) const IDLE_LIFE: TimeDelta = TimeDelta::hours(12);
/// Failures in a row before attempts are slowed down.
const FREE_FAILURES: u64 = 5;
/// Longest slow-down, seconds.
const BLOCK_SECONDS_MAX: i64 = 300;

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
    let email_digest: [u8; 32] = Sha256::digest(email.as_bytes()).into();
    let now = ledger.now();
    let (attempts, user) = ledger
        .store()
        .read(Access::System, move |conn| {
            Box::pin(async move {
                let attempts = store::sign_in_attempts(conn, email_digest).await?;
                Ok((attempts, store::user::find_by_email(conn, &email).await?))
            })
        })
        .await?;
    if let Some(attempts) = attempts.filter(|a| a.blocked_until > now) {
        let seconds = (attempts.blocked_until - now).num_seconds().max(1);
        return Err(Error::TooManyAttempts { retry_after_seconds: seconds.cast_unsigned() });
    }
    let failures = attempts.map_or(0, |a| a.failures);
    let right = verify_password(ledger, password, user.as_ref().map(|u| u.password_hash.clone())).await?;
    let Some(user) = user.filter(|_| right) else {
        let blocked_until = now + slow_down(failures + 1);
        ledger
            .store()
            .write::<_, Error, _>(Access::System, move |tx| {
                Box::pin(async move { Ok(store::record_sign_in_failure(tx, email_digest, blocked_until).await?) })
            })
            .await?;
        return Err(Error::BadCredentials);
    };
    let workspaces =
        ledger.store().read(Access::System, move |conn| Box::pin(store::user::workspaces(conn, user.id))).await?;
    let (tenant, role) =
        workspaces.into_iter().next().ok_or(Error::Forbidden("this account belongs to no workspace"))?;
    let cleared = (failures > 0).then_some(email_digest);
    start(ledger, tenant, role, user.id, user.email, cleared).await
}

/// How long to wait after this many failures in a row.
fn slow_down(failures: u64) -> TimeDelta {
    let over = failures.saturating_sub(FREE_FAILURES).min(9);
    let seconds = if over == 0 { 0 } else { (1_i64 << over).min(BLOCK_SECONDS_MAX) };
    TimeDelta::seconds(seconds)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failures_cost_nothing_and_later_ones_ever_more_up_to_a_bound() {
        assert_eq!(slow_down(5), TimeDelta::zero());
        assert_eq!(slow_down(6), TimeDelta::seconds(2));
        assert_eq!(slow_down(9), TimeDelta::seconds(16));
        assert_eq!(slow_down(10_000), TimeDelta::seconds(BLOCK_SECONDS_MAX));
    }
}
