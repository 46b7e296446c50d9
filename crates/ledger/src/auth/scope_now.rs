//! The current rights of the caller of an operation that runs later.

use super::identify::role_now;
use domain::{
    Caller, Scope,
    id::{TenantId, TokenId, UserId},
};
use store::Conn;

/// Returns the scope that a person (`user:…`) or a token (`token:…`) has now. `None` if the person is no longer a
/// member of the workspace, or the token is revoked or has no rights any more.
pub(crate) async fn scope_now(conn: &mut Conn<'_>, tenant_id: TenantId, caller: &str) -> store::Result<Option<Scope>> {
    let of = |caller, role| Scope { tenant_id, caller, role, token_scope: None, on_behalf_of: None };
    match caller.split_once(':') {
        Some(("user", id)) => {
            let Ok(id) = id.parse::<UserId>() else { return Ok(None) };
            let member = store::user::find_member(conn, tenant_id, id).await?;
            Ok(member.map(|member| of(Caller::User(id), member.role)))
        }
        Some(("token", id)) => {
            let Ok(id) = id.parse::<TokenId>() else { return Ok(None) };
            let token = store::token::find_by_id(conn, tenant_id, id).await?;
            let Some(token) = token.filter(|token| token.revoked_at.is_none()) else { return Ok(None) };
            let role = role_now(conn, tenant_id, &token).await?;
            let (token_scope, on_behalf_of) = (token.scope, token.user_id);
            Ok(role.map(|role| Scope { token_scope, on_behalf_of, ..of(Caller::Token(id), role) }))
        }
        _ => Ok(None),
    }
}
