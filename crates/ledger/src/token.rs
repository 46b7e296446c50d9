//! API tokens of a workspace.

use crate::{
    Error, Ledger, Result, TokenRecord,
    auth::{Address, Secret, SecretKind},
    guard::{Fields, require},
    member::ensure_tenant,
};
use domain::{
    Scope,
    id::{TenantId, TokenId, UserId},
    limit::NAME_CHARS_MAX,
    role::{Permission, Role, TokenScope, may_give},
};
use store::Access;

/// Makes a token. The secret is in the answer and nowhere else.
pub async fn create(
    ledger: &Ledger,
    scope: &Scope,
    name: &str,
    role: Role,
    token_scope: Option<TokenScope>,
) -> Result<(TokenRecord, String)> {
    require(scope, Permission::Administer)?;
    make(ledger, scope.tenant_id, name, (role, token_scope), None).await
}

/// One for the caller themselves, who is a person: it may read what they did, and what it starts is theirs. It may
/// nothing that they may not.
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
    // What a narrowed token may does not follow from its role; its person's own says when they lose it.
    let role = if token_scope.is_some() { scope.role } else { role };
    make(ledger, scope.tenant_id, name, (role, token_scope), Some(user_id)).await
}

fn person(scope: &Scope) -> Result<UserId> {
    scope.user_id().ok_or(Error::Forbidden("only a person has tokens of their own"))
}

/// The same from the server's own machine, for a member of the workspace where their address is given.
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
    make(ledger, tenant.id, name, (role, token_scope), user_id).await
}

async fn member_by_address(ledger: &Ledger, tenant_id: TenantId, email: &str) -> Result<UserId> {
    let address = Address::parse(email)?.into_string();
    let read = ledger.store().read(Access::System, move |conn| {
        Box::pin(async move {
            let Some(user) = store::user::find_by_email(conn, &address).await? else { return Ok(None) };
            store::user::find_member(conn, tenant_id, user.id).await
        })
    });
    Ok(read.await?.ok_or_else(|| Error::invalid("user", "not a member of this workspace"))?.user_id)
}

/// The tokens, newest first, revoked ones included: all of them for admins, their own for other people.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<TokenRecord>> {
    let (tenant_id, whose) = (scope.tenant_id, whose(scope)?);
    Ok(ledger.store().read(scope.into(), move |conn| Box::pin(store::token::list(conn, tenant_id, whose))).await?)
}

/// Stops a token at once in this process, within a second in others. Admins stop any, other people their own.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: TokenId) -> Result<()> {
    let (tenant_id, whose, now) = (scope.tenant_id, whose(scope)?, ledger.now());
    let known = ledger
        .store()
        .write::<_, Error, _>(scope.into(), move |tx| {
            Box::pin(async move { Ok(store::token::revoke(tx, tenant_id, id, whose, now).await?) })
        })
        .await?;
    ledger.access_changed();
    if known { Ok(()) } else { Err(Error::NotFound("token")) }
}

/// Whose tokens the caller looks after; `None` for everybody's.
fn whose(scope: &Scope) -> Result<Option<UserId>> {
    if scope.may(Permission::Administer) { Ok(None) } else { person(scope).map(Some) }
}

async fn make(
    ledger: &Ledger,
    tenant_id: TenantId,
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
        .store()
        .write::<_, Error, _>(Access::System, move |tx| {
            Box::pin(async move { Ok(store::token::insert(tx, tenant_id, &row, digest).await?) })
        })
        .await?;
    Ok((token, secret.into_string()))
}
