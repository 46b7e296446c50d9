//! Making a link to a tool.

use super::open::runner_scope;
use crate::{
    Error, Ledger, Result, ToolLinkRecord,
    audit::Act,
    auth::{Secret, SecretKind},
    guard::{Fields, require},
    tool::{published_on, require_audience},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{RespondentId, ToolLinkId},
    limit::{TOOL_LINK_DAYS_MAX, TOOL_LINKS_MAX},
    role::Permission,
};
use serde_json::json;
use uuid::Uuid;

/// Creates a link to a tool that works for `days`, and returns its secret, which is not stored.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::WrongState`] if it is not published;
/// [`Error::Forbidden`] for callers who may not change tools, for programs, and if the published version of the tool or
/// of one that it runs does not allow links; [`Error::Invalid`] for days out of range; [`Error::LimitReached`] if there
/// are too many links that work; [`Error::NoInstanceKey`] if there is no key to sign with.
pub async fn create(ledger: &Ledger, scope: &Scope, slug: &str, days: u32) -> Result<(ToolLinkRecord, String)> {
    require(scope, Permission::ManageTools)?;
    if scope.user_id().is_none() {
        return Err(Error::Forbidden("only people can make links to tools; tokens cannot"));
    }
    ledger.instance_key()?;
    let mut fields = Fields::default();
    if !(1..=TOOL_LINK_DAYS_MAX).contains(&days) {
        fields.refuse("days", format!("1 to {TOOL_LINK_DAYS_MAX}"));
    }
    fields.check()?;
    let (now, tenant_id, caller, slug) = (ledger.now(), scope.tenant_id, *scope, slug.to_owned());
    let secret = Secret::generate(SecretKind::Tool, ledger.entropy());
    let (digest, hint) = (secret.digest(), secret.hint());
    let id = ToolLinkId::new(now, ledger.entropy());
    let made = ledger.write(scope.into(), async move |tx| {
        // The lock keeps two requests from exceeding the limit together.
        let tool = store::tool::find_locked(tx, tenant_id, &slug).await?.ok_or(Error::NotFound("tool"))?;
        let (_, version) = published_on(tx.conn(), tenant_id, &slug).await?;
        if !version.definition.audience.link {
            return Err(Error::Forbidden("the published version does not allow links: set `link` in its audience"));
        }
        let anyone = runner_scope(tenant_id, RespondentId(Uuid::nil()));
        require_audience(tx.conn(), &anyone, &version.definition).await?;
        if store::tool_link::working(tx.conn(), (tenant_id, tool.id), now).await? >= u64::from(TOOL_LINKS_MAX) {
            return Err(Error::LimitReached(format!("a tool has at most {TOOL_LINKS_MAX} links that work")));
        }
        let link = ToolLinkRecord {
            tenant_id,
            id,
            tool_id: tool.id,
            hint,
            created_by: caller.caller.to_string(),
            created_at: now,
            expires_at: now + TimeDelta::days(i64::from(days)),
            revoked_at: None,
            uses: 0,
            last_used_at: None,
            runs: 0,
        };
        store::tool_link::insert(tx, &link, digest).await?;
        let act = Act::new(Kind::ToolLinkCreated, caller.caller, now).on(TargetKind::Tool, tool.id.0);
        act.with(json!({ "link": id, "days": days })).record(tx, tenant_id).await?;
        Ok(link)
    });
    Ok((made.await?, secret.into_string()))
}
