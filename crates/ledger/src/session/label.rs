//! Tags of a session, and the member who looks after it. Both are events of its log, and columns of its row.
//!
//! They can change in every status: people sort failed sessions above all. What the session is bound to by its final
//! digest does not change.

use crate::{
    Error, Ledger, Result,
    commit::{Minter, append_server_events},
    guard::{Fields, require},
    outbox::announce_assigned,
    visibility::{own_or_managed, require_visible},
};
use domain::{
    Scope,
    event::{
        Body, Known,
        kind::{AssigneeChange, TagsChange},
    },
    id::{SessionId, UserId},
    limit::{SESSION_TAGS_MAX, TAG_CHARS_MAX},
    role::Permission,
    session::{
        Session,
        tag::{Retagged, is_tag, retag},
    },
};
use store::{Conn, PreparedEvent, WriteTx};

/// Why an erased session takes neither.
pub(crate) const CONTENT_ERASED: &str = "the content of this session was erased";

/// Tags to add and to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tagging {
    /// Tags to add, at most [`SESSION_TAGS_MAX`]. Those that the session has are left out.
    pub add: Vec<String>,
    /// Tags to remove, at most [`SESSION_TAGS_MAX`]. Those that it has not are left out.
    pub remove: Vec<String>,
}

impl Tagging {
    /// Refuses what no session can have as a tag.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the field.
    pub(crate) fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        if self.add.is_empty() && self.remove.is_empty() {
            fields.refuse("add", "a tag to add or to remove");
        }
        for (name, tags) in [("add", &self.add), ("remove", &self.remove)] {
            if tags.len() > SESSION_TAGS_MAX {
                fields.refuse(name, format!("at most {SESSION_TAGS_MAX} tags"));
            }
            if tags.iter().any(|tag| !is_tag(tag)) {
                fields.refuse(name, bad_tag());
            }
        }
        fields.check()
    }

    /// What would change of a session; `None` for nothing.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it would have too many tags.
    pub(crate) fn of(&self, session: &Session) -> Result<Option<Retagged>> {
        retag(&session.tags, &self.add, &self.remove).map_err(|why| Error::invalid("add", why.to_string()))
    }
}

/// What a tag is, as the refusal of one that is none.
pub(crate) fn bad_tag() -> String {
    format!("lower-case letters, digits and single hyphens, at most {TAG_CHARS_MAX} characters")
}

/// Whether the caller may change tags and assignee of a session that they see.
pub fn may_label(scope: &Scope, session: &Session) -> bool {
    scope.may(Permission::StartSession) && own_or_managed(scope, session).is_ok()
}

/// Adds tags to a session and removes others. What it has or lacks already is no change, so a repeat writes nothing.
/// Allowed for the person who started it, and for operators and admins.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Forbidden`] if it is not the
/// caller's and the caller may not manage others; [`Error::Invalid`] for a wrong tag or too many;
/// [`Error::NotNow`] if its content was erased.
pub async fn tag(ledger: &Ledger, scope: &Scope, id: SessionId, tagging: Tagging) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    tagging.check()?;
    let (scope, mut minter) = (*scope, Minter::new(ledger, ledger.now()));
    ledger
        .write((&scope).into(), async move |tx| {
            let before = locked(tx, &scope, id).await?;
            let Some(Retagged { tags, added, removed }) = tagging.of(&before)? else { return Ok(before) };
            let event = minter.event(&TagsChange { added, removed });
            record(tx, &scope, Session { tags, ..before }, event, &minter).await
        })
        .await
}

/// Assigns a session to a member of the workspace, or to no one. A repeat writes nothing. Allowed for the person who
/// started it, and for operators and admins.
///
/// # Errors
/// As [`tag`]; [`Error::Invalid`] for someone who is no active member, and for an incognito session, which only its own
/// person can see.
pub async fn assign(ledger: &Ledger, scope: &Scope, id: SessionId, to: Option<UserId>) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    let (scope, mut minter) = (*scope, Minter::new(ledger, ledger.now()));
    ledger
        .write((&scope).into(), async move |tx| {
            let before = locked(tx, &scope, id).await?;
            if before.assignee == to {
                return Ok(before);
            }
            require_assignable(tx.conn(), &scope, to).await?;
            may_be_assigned(&before, to)?;
            reassign(tx, &scope, before, to, &mut minter).await
        })
        .await
}

/// Takes the last assignment of a session back, if the session is still assigned to `from`: it is assigned to the
/// member before, or to no one. A repeat writes nothing. Allowed as [`assign`].
///
/// # Errors
/// As [`assign`]; [`Error::Invalid`] also if the member before is no active member any more.
pub async fn assign_back(ledger: &Ledger, scope: &Scope, id: SessionId, from: Option<UserId>) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    let (scope, mut minter) = (*scope, Minter::new(ledger, ledger.now()));
    ledger
        .write((&scope).into(), async move |tx| {
            let session = locked(tx, &scope, id).await?;
            if session.assignee != from {
                return Ok(session);
            }
            let to = assigned_before(tx.conn(), &session).await?;
            if to == from {
                return Ok(session);
            }
            require_assignable(tx.conn(), &scope, to).await?;
            may_be_assigned(&session, to)?;
            reassign(tx, &scope, session, to, &mut minter).await
        })
        .await
}

/// To whom a session was assigned before its last change of the assignee.
async fn assigned_before(conn: &mut Conn<'_>, session: &Session) -> Result<Option<UserId>> {
    let kinds = [Known::SessionAssigneeChange.as_str().to_owned()];
    let newest = i64::MAX.cast_unsigned();
    let last = store::event::before(conn, session.tenant_id, session.id, newest, &kinds, 1).await?.items.pop();
    Ok(match last.map(|event| event.body()) {
        Some(Body::SessionAssigneeChange(change)) => change.from,
        _ => None,
    })
}

/// Refuses someone who is no active member of the workspace.
///
/// # Errors
/// [`Error::Invalid`] for the field `userId`.
pub(crate) async fn require_assignable(conn: &mut Conn<'_>, scope: &Scope, to: Option<UserId>) -> Result<()> {
    let Some(user_id) = to else { return Ok(()) };
    match store::user::find_member(conn, scope.tenant_id, user_id).await? {
        Some(_) => Ok(()),
        None => Err(Error::invalid("userId", "no active member of this workspace")),
    }
}

/// Refuses to assign an incognito session.
///
/// # Errors
/// [`Error::Invalid`] for the field `userId`.
pub(crate) fn may_be_assigned(session: &Session, to: Option<UserId>) -> Result<()> {
    if to.is_some() && session.private_to.is_some() {
        return Err(Error::invalid("userId", "only its own person can see an incognito conversation"));
    }
    Ok(())
}

/// The session under its lock, if the caller may change it.
async fn locked(tx: &mut WriteTx<'_>, scope: &Scope, id: SessionId) -> Result<Session> {
    let found = store::session::find_locked(tx, scope.tenant_id, id).await?;
    let session = require_visible(tx.conn(), scope, found).await?;
    own_or_managed(scope, &session)?;
    // What is written about it later would outlive the erasure.
    if store::retention::of_session(tx.conn(), scope.tenant_id, id).await?.is_some() {
        return Err(Error::NotNow(CONTENT_ERASED));
    }
    Ok(session)
}

/// Assigns a locked session, with the messages about it.
async fn reassign(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    before: Session,
    to: Option<UserId>,
    minter: &mut Minter,
) -> Result<Session> {
    let event = minter.event(&AssigneeChange { from: before.assignee, to });
    let session = record(tx, scope, Session { assignee: to, ..before }, event, minter).await?;
    announce_assigned(tx, &session, scope.caller, (minter.messages(), minter.at())).await?;
    Ok(session)
}

/// Writes the columns and the event.
async fn record(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: Session,
    event: PreparedEvent,
    minter: &Minter,
) -> Result<Session> {
    store::session::relabel(tx, &session).await?;
    append_server_events(tx, session, vec![event], scope.caller, minter.at()).await
}
