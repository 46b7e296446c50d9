//! API tokens of a workspace.

use crate::{
    Error, Ledger, Result, TokenRecord,
    audit::Act,
    auth::{Address, Secret, SecretKind},
    guard::{Fields, require},
    member::ensure_tenant,
};
use domain::{
    Caller, Scope,
    audit::{Kind, TargetKind},
    id::{TenantId, TokenId, UserId},
    limit::{NAME_CHARS_MAX, TOKENS_MAX, TOKENS_OF_PERSON_MAX},
    role::{Permission, Role, TokenScope, may_give},
};
use serde_json::json;
use store::Access;

/// Creates a token of the workspace and returns its secret, which is not stored in plain text.
///
/// # Errors
/// [`Error::Invalid`] for a wrong name; [`Error::LimitReached`] if the workspace has too many tokens.
pub async fn create(
    ledger: &Ledger,
    scope: &Scope,
    name: &str,
    role: Role,
    token_scope: Option<TokenScope>,
) -> Result<(TokenRecord, String)> {
    require(scope, Permission::Administer)?;
    make(ledger, (scope.tenant_id, scope.caller), name, (role, token_scope), None).await
}

/// Creates a token for the caller, who must be a person. The token can read the person's recent activity, and
/// sessions that it starts belong to the person. It never has more rights than the person.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person; [`Error::Invalid`] for a wrong name, or if the token would allow
/// more than the caller's role; [`Error::LimitReached`] if the caller has too many tokens.
pub async fn create_personal(
    ledger: &Ledger,
    scope: &Scope,
    name: &str,
    role: Role,
    token_scope: Option<TokenScope>,
) -> Result<(TokenRecord, String)> {
    let user_id = person(scope)?;
    if !may_give(scope.role, role, token_scope) {
        return Err(Error::invalid("role", "your token cannot allow more than your own role"));
    }
    // The rights of a limited token do not depend on its role. It gets the person's role, so that it stops
    // working when the person's role is lowered.
    let role = if token_scope.is_some() { scope.role } else { role };
    make(ledger, (scope.tenant_id, scope.caller), name, (role, token_scope), Some(user_id)).await
}

fn person(scope: &Scope) -> Result<UserId> {
    scope.user_id().ok_or(Error::Forbidden("only a person has tokens of their own"))
}

/// Does the same as [`create`] for the operator of the server. With an e-mail address, the token acts for that
/// member of the workspace.
///
/// # Errors
/// [`Error::Invalid`] for a wrong name, a text that is not the slug of a workspace, or an address of no member. A
/// workspace that does not exist is created.
pub async fn create_by_operator(
    ledger: &Ledger,
    tenant_slug: &str,
    name: &str,
    role: Role,
    token_scope: Option<TokenScope>,
    email: Option<&str>,
) -> Result<(TokenRecord, String)> {
    let tenant = ensure_tenant(ledger, tenant_slug, tenant_slug).await?;
    let user_id = match email {
        Some(email) => Some(member_by_address(ledger, tenant.id, email).await?),
        None => None,
    };
    make(ledger, (tenant.id, Caller::System), name, (role, token_scope), user_id).await
}

async fn member_by_address(ledger: &Ledger, tenant_id: TenantId, email: &str) -> Result<UserId> {
    let address = Address::parse(email)?.into_string();
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(user) = store::user::find_by_email(conn, &address).await? else { return Ok(None) };
        store::user::find_member(conn, tenant_id, user.id).await
    });
    Ok(read.await?.ok_or_else(|| Error::invalid("user", "not a member of this workspace"))?.user_id)
}

/// Returns at most 1,000 tokens. Those that work come before revoked ones, those of the workspace before those of its
/// people, and newer ones before older ones. Admins get all tokens, other people their own.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is neither an admin nor a person.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<TokenRecord>> {
    let (tenant_id, whose) = (scope.tenant_id, whose(scope)?);
    Ok(ledger.store().read(scope.into(), async move |conn| store::token::list(conn, tenant_id, whose).await).await?)
}

/// Revokes a token: at once in this process, within one second in others. Admins may revoke all tokens, other
/// people their own.
///
/// # Errors
/// [`Error::NotFound`] if there is no such token, or it is not the caller's; [`Error::Forbidden`] if the caller is
/// neither an admin nor a person.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: TokenId) -> Result<()> {
    let (tenant_id, whose, now) = (scope.tenant_id, whose(scope)?, ledger.now());
    let revoked = Act::new(Kind::TokenRevoked, scope.caller, now).on(TargetKind::Token, id.0);
    let known = ledger
        .write(scope.into(), async move |tx| {
            let changed = store::token::revoke(tx, tenant_id, id, whose, now).await?;
            if changed == Some(true) {
                revoked.record(tx, tenant_id).await?;
            }
            Ok(changed.is_some())
        })
        .await?;
    ledger.access_changed().await;
    if known { Ok(()) } else { Err(Error::NotFound("token")) }
}

/// Returns whose tokens the caller manages; `None` for all tokens.
pub(crate) fn whose(scope: &Scope) -> Result<Option<UserId>> {
    if scope.may(Permission::Administer) { Ok(None) } else { person(scope).map(Some) }
}

async fn make(
    ledger: &Ledger,
    (tenant_id, by): (TenantId, Caller),
    name: &str,
    (role, scope): (Role, Option<TokenScope>),
    user_id: Option<UserId>,
) -> Result<(TokenRecord, String)> {
    let mut fields = Fields::default();
    fields.name("name", name, NAME_CHARS_MAX);
    fields.check()?;
    let now = ledger.now();
    let secret = Secret::generate(SecretKind::Token, ledger.entropy());
    let token = TokenRecord {
        id: TokenId::new(now, ledger.entropy()),
        name: name.to_owned(),
        hint: secret.hint(),
        role,
        scope,
        created_at: now,
        last_used_at: None,
        revoked_at: None,
        user_id,
    };
    let (row, digest) = (token.clone(), secret.digest());
    ledger
        .write(Access::System, async move |tx| {
            // A token that no list shows cannot be revoked. People cannot use up what the workspace needs.
            store::user::lock_admins(tx, tenant_id).await?;
            let working = store::token::count_working(tx.conn(), tenant_id, user_id).await?;
            let (most, whose) = match user_id {
                None => (TOKENS_MAX, "a workspace"),
                Some(_) => (TOKENS_OF_PERSON_MAX, "a person"),
            };
            if working >= most {
                let text = format!("{whose} has at most {most} tokens that are not revoked: revoke unused ones");
                return Err(Error::LimitReached(text));
            }
            store::token::insert(tx, tenant_id, &row, digest).await?;
            let act = Act::new(Kind::TokenCreated, by, now).on(TargetKind::Token, row.id.0);
            act.with(json!({ "role": role, "scope": scope, "user": user_id })).record(tx, tenant_id).await
        })
        .await?;
    Ok((token, secret.into_string()))
}
