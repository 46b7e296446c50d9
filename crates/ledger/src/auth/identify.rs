//! Finds the caller of a cookie or token. Results are cached for one second.

use super::{Secret, SecretKind};
use crate::{Ledger, Result};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    id::{TenantId, TokenId, UserId},
    role::{Role, may_give},
};
use quick_cache::sync::Cache;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Access, Conn, TenantRecord, TokenRecord};

/// A sign-in ends when it is not used for this long.
pub(super) const IDLE_LIFE: TimeDelta = TimeDelta::hours(12);
/// How long a cached identity is valid. A revocation by another process can go unnoticed here for this long.
const TRUST: TimeDelta = TimeDelta::seconds(1);
/// Largest number of cached identities.
const REMEMBERED_MAX: usize = 4_096;
/// The "last seen" time is written at most once in this interval.
const TOUCH_EVERY: TimeDelta = TimeDelta::seconds(60);

/// An authenticated caller.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The scope that every use case takes.
    pub scope: Scope,
    /// The workspace of the scope.
    pub tenant: TenantRecord,
    /// The person; `None` for a token.
    pub user: Option<Person>,
    /// Id and name of the token; `None` for a person's browser.
    pub token: Option<(TokenId, String)>,
}

/// A person who has an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Id of the account. It is the same in every workspace.
    pub id: UserId,
    /// The person's e-mail address.
    pub email: String,
    /// The display name. Empty until the person sets it.
    pub name: String,
}

pub(super) fn identity_of_user(tenant: TenantRecord, role: Role, person: Person) -> Identity {
    let scope =
        Scope { tenant_id: tenant.id, caller: Caller::User(person.id), role, token_scope: None, on_behalf_of: None };
    Identity { scope, tenant, user: Some(person), token: None }
}

/// Cached identities, by the digest of the cookie or token.
pub(crate) struct IdentityCache {
    known: Cache<[u8; 32], (Timestamp, Identity)>,
    /// Number of invalidations, which [`Self::remember`] compares with an earlier value.
    forgotten: AtomicU64,
}

impl IdentityCache {
    pub(crate) fn new() -> Self {
        Self { known: Cache::new(REMEMBERED_MAX), forgotten: AtomicU64::new(0) }
    }

    /// Returns the number of invalidations so far. Call this before reading an identity from the store, and pass
    /// the result to [`Self::remember`].
    fn generation(&self) -> u64 {
        self.forgotten.load(Ordering::SeqCst)
    }

    /// Caches an identity, unless something was invalidated since `generation`: the identity may have been read
    /// before the caller lost access.
    fn remember(&self, digest: [u8; 32], now: Timestamp, identity: &Identity, generation: u64) {
        self.known.insert(digest, (now, identity.clone()));
        // The check is after the insertion. An invalidation from here on removes the entry itself.
        if self.generation() != generation {
            self.known.remove(&digest);
        }
    }

    fn get(&self, digest: [u8; 32], now: Timestamp) -> Option<Identity> {
        let (seen, identity) = self.known.get(&digest)?;
        let age = now - seen;
        (age >= TimeDelta::zero() && age < TRUST).then_some(identity)
    }

    /// Removes all identities. Called when permissions have changed.
    pub(crate) fn clear(&self) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.known.clear();
    }
}

/// Returns the identity of an API token, or `None` if the token does not exist or is not valid any more.
pub async fn by_token(ledger: &Ledger, secret: &str) -> Result<Option<Identity>> {
    let Some(secret) = Secret::parse(SecretKind::Token, secret) else { return Ok(None) };
    let (digest, now) = (secret.digest(), ledger.now());
    if let Some(known) = ledger.identities().get(digest, now) {
        return Ok(Some(known));
    }
    let generation = ledger.identities().generation();
    let found = ledger.store().read(Access::System, async move |conn| {
        let found = store::token::find(conn, digest).await?;
        let Some((tenant, token)) = found.filter(|(_, token)| token.revoked_at.is_none()) else { return Ok(None) };
        let role = role_now(conn, tenant.id, &token).await?;
        Ok(role.map(|role| (tenant, token, role)))
    });
    let Some((tenant, token, role)) = found.await? else { return Ok(None) };
    if token.last_used_at.is_none_or(|seen| now - seen > TOUCH_EVERY) {
        let (tenant_id, id) = (tenant.id, token.id);
        let touched =
            ledger.write(Access::System, async move |tx| Ok(store::token::touch(tx, tenant_id, id, now).await?));
        log_failure(touched.await);
    }
    let scope = Scope {
        tenant_id: tenant.id,
        caller: Caller::Token(token.id),
        role,
        token_scope: token.scope,
        on_behalf_of: token.user_id,
    };
    let identity = Identity { scope, tenant, user: None, token: Some((token.id, token.name)) };
    ledger.identities().remember(digest, now, &identity, generation);
    Ok(Some(identity))
}

/// Returns the present role of a token. A token that acts for a person never has more rights than that person
/// has now. `None` if the person is no longer a member, or if the token has a limited scope and the person's
/// role no longer permits it.
pub(super) async fn role_now(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    token: &TokenRecord,
) -> store::Result<Option<Role>> {
    let Some(user_id) = token.user_id else { return Ok(Some(token.role)) };
    Ok(store::user::find_member(conn, tenant_id, user_id).await?.and_then(|member| {
        match (may_give(member.role, token.role, None), token.scope) {
            (true, _) => Some(token.role),
            // A limited token is refused instead of lowered: the person's lower role may not permit its scope.
            (false, Some(_)) => None,
            (false, None) => Some(member.role),
        }
    }))
}

/// Returns the identity of a browser cookie. `None` if the sign-in has ended or the person is no longer a
/// member.
pub async fn by_cookie(ledger: &Ledger, secret: &str) -> Result<Option<Identity>> {
    let Some(secret) = Secret::parse(SecretKind::Cookie, secret) else { return Ok(None) };
    let (digest, now) = (secret.digest(), ledger.now());
    if let Some(known) = ledger.identities().get(digest, now) {
        return Ok(Some(known));
    }
    let generation = ledger.identities().generation();
    let found =
        ledger.store().read(Access::System, async move |conn| store::browser_session::find(conn, digest).await).await?;
    let Some(session) = found.filter(|s| s.expires_at > now && now - s.last_seen_at < IDLE_LIFE) else {
        return Ok(None);
    };
    if now - session.last_seen_at > TOUCH_EVERY {
        let id = session.id;
        let touched =
            ledger.write(Access::System, async move |tx| Ok(store::browser_session::touch(tx, id, now).await?));
        log_failure(touched.await);
    }
    let person = Person { id: session.user_id, email: session.email, name: session.name };
    let identity = identity_of_user(session.tenant, session.role, person);
    ledger.identities().remember(digest, now, &identity, generation);
    Ok(Some(identity))
}

/// Logs a failed write of the "last seen" time. Such a failure must not refuse the caller.
fn log_failure(result: Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%error, "last-seen time not written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_that_was_read_before_access_ended_is_not_remembered() {
        let (cache, digest, now) = (IdentityCache::new(), [7; 32], Timestamp::default());
        let id = "01a20a70-53e8-79de-a498-a750e904f691";
        let tenant = TenantRecord { id: id.parse().unwrap(), slug: "acme".into(), name: "Acme".into() };
        let person = Person { id: id.parse().unwrap(), email: "ada@acme.test".into(), name: String::new() };
        let identity = identity_of_user(tenant, Role::Member, person);
        let before = cache.generation();
        cache.clear();
        cache.remember(digest, now, &identity, before);
        assert!(cache.get(digest, now).is_none(), "what was read may be out of date");
        cache.remember(digest, now, &identity, cache.generation());
        assert!(cache.get(digest, now).is_some());
        cache.clear();
        assert!(cache.get(digest, now).is_none());
    }
}
