//! Making a link to a session.

use crate::{
    Error, Ledger, Result, ShareLinkRecord,
    audit::Act,
    auth::{Secret, SecretKind},
    guard::{Fields, require, require_for},
    retention::is_erased,
    visibility::{is_own, require_visible},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{SessionId, ShareLinkId},
    limit::{SHARE_LINK_DAYS_MAX, SHARE_LINKS_MAX},
    role::Permission,
    session::Session,
    share_link::Audience,
};
use serde_json::json;
use store::Conn;

/// Creates a link to a session that works for `days`, and returns its secret, which is not stored.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Forbidden`] if the caller may
/// not share it, or if nobody may; [`Error::Invalid`] for days out of range; [`Error::LimitReached`] if there are too
/// many links that work; [`Error::NoInstanceKey`] if there is no key to sign with.
pub async fn create(
    ledger: &Ledger,
    scope: &Scope,
    session_id: SessionId,
    days: u32,
) -> Result<(ShareLinkRecord, String)> {
    require_person(scope)?;
    ledger.instance_key()?;
    let mut fields = Fields::default();
    if !(1..=SHARE_LINK_DAYS_MAX).contains(&days) {
        fields.refuse("days", format!("1 to {SHARE_LINK_DAYS_MAX}"));
    }
    fields.check()?;
    let (now, tenant_id, caller) = (ledger.now(), scope.tenant_id, *scope);
    let secret = Secret::generate(SecretKind::Share, ledger.entropy());
    let (digest, hint) = (secret.digest(), secret.hint());
    let id = ShareLinkId::new(now, ledger.entropy());
    let made = ledger.write(scope.into(), async move |tx| {
        // The lock keeps two requests from exceeding the limit together.
        let found = store::session::find_locked(tx, tenant_id, session_id).await?;
        let session = require_visible(tx.conn(), &caller, found).await?;
        let audience = shareable(tx.conn(), &caller, &session).await?;
        let place = (tenant_id, session_id);
        if store::share_link::working(tx.conn(), place, now).await? >= u64::from(SHARE_LINKS_MAX) {
            return Err(Error::LimitReached(format!("a session has at most {SHARE_LINKS_MAX} links that work")));
        }
        let link = ShareLinkRecord {
            tenant_id,
            id,
            session_id,
            audience,
            hint,
            created_by: caller.caller.to_string(),
            created_at: now,
            expires_at: now + TimeDelta::days(i64::from(days)),
            revoked_at: None,
            uses: 0,
            last_used_at: None,
        };
        store::share_link::insert(tx, &link, digest).await?;
        let act = Act::new(Kind::ShareCreated, caller.caller, now).on(TargetKind::Session, session_id.0);
        act.with(json!({ "link": id, "audience": audience, "days": days })).record(tx, tenant_id).await?;
        Ok(link)
    });
    Ok((made.await?, secret.into_string()))
}

/// Refuses programs: what a link shows leaves the workspace, and a person decides that.
fn require_person(scope: &Scope) -> Result<()> {
    require(scope, Permission::Converse)?;
    match scope.user_id() {
        Some(_) => Ok(()),
        None => Err(Error::Forbidden("only people can share sessions; tokens cannot")),
    }
}

/// Whether the caller may share a session that they can see.
pub fn may_share(scope: &Scope, session: &Session) -> bool {
    audience_for(scope, session).is_ok() && !is_erased(session)
}

/// Returns what a link to a visible session shows, if the caller may share it.
///
/// # Errors
/// [`Error::Forbidden`] if the caller may not share it, or if nobody may.
pub(crate) async fn shareable(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> Result<Audience> {
    let of = audience_for(scope, session)?;
    match store::retention::of_session(conn, session.tenant_id, session.id).await? {
        None => Ok(of),
        Some(_) => Err(Error::Forbidden("the content of this session was erased")),
    }
}

/// Returns what a link to a session shows, unless its content is erased.
fn audience_for(scope: &Scope, session: &Session) -> Result<Audience> {
    require_person(scope)?;
    if !is_own(scope, session) {
        require_for(scope, Permission::Administer, "only the person whose session it is, and admins, can share it")?;
    }
    Audience::of(session).ok_or(Error::Forbidden(match session.is_private() {
        true => "private sessions cannot be shared",
        false => "only sessions of agents and people, and runs of tools, can be shared",
    }))
}
