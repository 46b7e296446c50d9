//! From a cookie or token to who calls. Answers are remembered for a second.

use super::{Secret, SecretKind, sign_in::IDLE_LIFE};
use crate::{
    Ledger,
    error::{Error, Result},
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    id::{TenantId, TokenId, UserId},
    role::{Role, may_give},
};
use quick_cache::sync::Cache;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Access, TenantRecord, TokenRecord};

/// How long an answer is trusted: the longest that a revocation by another process goes unnoticed here.
const TRUST: TimeDelta = TimeDelta::seconds(1);
/// Identities remembered at once.
const REMEMBERED_MAX: usize = 4_096;
/// "Last seen" is written at most this often.
const TOUCH_EVERY: TimeDelta = TimeDelta::seconds(60);

/// Who calls.
#[derive(Debug, Clone)]
pub struct Identity {
    /// What every use case asks for.
    pub scope: Scope,
    /// The workspace.
    pub tenant: TenantRecord,
    /// The person.
    pub user: Option<Person>,
    /// The token and its name.
    pub token: Option<(TokenId, String)>,
}

/// A person who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The person, in every workspace that they are a member of.
    pub id: UserId,
    /// Their address.
    pub email: String,
    /// Their name; empty until they say.
    pub name: String,
}

pub(super) fn identity_of_user(tenant: TenantRecord, role: Role, person: Person) -> Identity {
    let scope =
        Scope { tenant_id: tenant.id, caller: Caller::User(person.id), role, token_scope: None, on_behalf_of: None };
    Identity { scope, tenant, user: Some(person), token: None }
}

/// Recently seen secrets, by digest.
pub(crate) struct IdentityCache {
    known: Cache<[u8; 32], (Timestamp, Identity)>,
    /// How often something was forgotten.
    forgotten: AtomicU64,
}

impl IdentityCache {
    pub(crate) fn new() -> Self {
        Self { known: Cache::new(REMEMBERED_MAX), forgotten: AtomicU64::new(0) }
    }

    /// Counts what was forgotten so far. Taken before an identity is read, and given to [`Self::remember`].
    fn generation(&self) -> u64 {
        self.forgotten.load(Ordering::SeqCst)
    }

    /// Remembers an identity, unless something was forgotten since `moment`: it may have been read before access ended.
    fn remember(&self, digest: [u8; 32], now: Timestamp, identity: &Identity, generation: u64) {
        self.known.insert(digest, (now, identity.clone()));
        // Looked at after the insertion: what is forgotten from here on is removed by who forgets it.
        if self.generation() != generation {
            self.known.remove(&digest);
        }
    }

    fn get(&self, digest: [u8; 32], now: Timestamp) -> Option<Identity> {
        let (seen, identity) = self.known.get(&digest)?;
        let age = now - seen;
        (age >= TimeDelta::zero() && age < TRUST).then_some(identity)
    }

    pub(crate) fn forget(&self, digest: [u8; 32]) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.known.remove(&digest);
    }

    /// Forgets everybody: something about who may do what has changed.
    pub(crate) fn clear(&self) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        self.known.clear();
    }
}

/// Who holds this API token; `None` when nobody does (any more).
pub async fn by_token(ledger: &Ledger, secret: &str) -> Result<Option<Identity>> {
    let Some(secret) = Secret::parse(SecretKind::Token, secret) else { return Ok(None) };
    let (digest, now) = (secret.digest(), ledger.now());
    if let Some(known) = ledger.identities().get(digest, now) {
        return Ok(Some(known));
    }
    let generation = ledger.identities().generation();
    let found = ledger.store().read(Access::System, move |conn| Box::pin(store::token::find(conn, digest))).await?;
    let Some((tenant, token)) = found.filter(|(_, token)| token.revoked_at.is_none()) else { return Ok(None) };
    let Some(role) = role_now(ledger, tenant.id, &token).await? else { return Ok(None) };
    if token.last_used_at.is_none_or(|seen| now - seen > TOUCH_EVERY) {
        let (tenant_id, id) = (tenant.id, token.id);
        let touched = ledger.store().write::<_, Error, _>(Access::System, move |tx| {
            Box::pin(async move { Ok(store::token::touch(tx, tenant_id, id, now).await?) })
        });
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

/// What a token may as. One that speaks for a person may at most what they may now, whatever they were when it was made;
/// `None` when they are no longer a member, or when it was narrowed to work that their role has lost.
async fn role_now(ledger: &Ledger, tenant_id: TenantId, token: &TokenRecord) -> Result<Option<Role>> {
    let Some(user_id) = token.user_id else { return Ok(Some(token.role)) };
    let found = ledger.store().read(Access::System, move |conn| {
        Box::pin(async move { store::user::find_member(conn, tenant_id, user_id).await })
    });
    Ok(found.await?.and_then(|member| match (may_give(member.role, token.role, None), token.scope) {
        (true, _) => Some(token.role),
        // A narrowed token has the role of its person: a lower one is another person's to give it.
        (false, Some(_)) => None,
        (false, None) => Some(member.role),
    }))
}

/// Whose browser this is; `None` when the sign-in is over or the person is no longer a member.
pub async fn by_cookie(ledger: &Ledger, secret: &str) -> Result<Option<Identity>> {
    let Some(secret) = Secret::parse(SecretKind::Cookie, secret) else { return Ok(None) };
    let (digest, now) = (secret.digest(), ledger.now());
    if let Some(known) = ledger.identities().get(digest, now) {
        return Ok(Some(known));
    }
    let generation = ledger.identities().generation();
    let found =
        ledger.store().read(Access::System, move |conn| Box::pin(store::browser_session::find(conn, digest))).await?;
    let Some(session) = found.filter(|s| s.expires_at > now && now - s.last_seen_at < IDLE_LIFE) else {
        return Ok(None);
    };
    if now - session.last_seen_at > TOUCH_EVERY {
        let id = session.id;
        let touched = ledger.store().write::<_, Error, _>(Access::System, move |tx| {
            Box::pin(async move { Ok(store::browser_session::touch(tx, id, now).await?) })
        });
        log_failure(touched.await);
    }
    let person = Person { id: session.user_id, email: session.email, name: session.name };
    let identity = identity_of_user(session.tenant, session.role, person);
    ledger.identities().remember(digest, now, &identity, generation);
    Ok(Some(identity))
}

/// A "last seen" that could not be written must not keep anybody out.
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
        cache.forget(digest);
        assert!(cache.get(digest, now).is_none());
    }
}
