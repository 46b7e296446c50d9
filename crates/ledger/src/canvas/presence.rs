//! Where the participants of a canvas are. It is sent to those who follow the canvas, on all servers, and never stored.

use super::not_found;
use crate::{
    Error, Ledger, Result,
    guard::{Fields, require},
    live::written_presence,
    visibility::{canvas_role, require_visible},
};
use domain::{
    Caller, Scope,
    canvas::{Presence, SOURCE, Selection},
    id::SessionId,
    limit::{CANVAS_BYTES_MAX, CANVAS_KEY_BYTES_MAX, CANVAS_PEER_NAME_CHARS_MAX},
    role::Permission,
};
use store::{Conn, PresenceNotice, token, user};

/// Where the caller is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Id of the block, 1 to 200 bytes; `None` if the caller is at none.
    pub block: Option<String>,
    /// The selected part of its text.
    pub selection: Option<Selection>,
    /// Whether the caller leaves the canvas.
    pub leaves: bool,
}

/// Who is on a canvas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// Those who are there, as far as this server knows, in the order of their ids.
    pub peers: Vec<Presence>,
    /// Whether the report of the caller was sent. One that comes too early is not.
    pub is_sent: bool,
}

/// Sends where the caller is to the other participants, and returns who is there.
///
/// # Errors
/// [`Error::NotFound`] if there is no such canvas; [`Error::Forbidden`] if the caller takes no part in it;
/// [`Error::Invalid`] for an id of a block that is too long, and for a selection that ends before it begins.
pub async fn mark_presence(ledger: &Ledger, scope: &Scope, id: SessionId, place: Place) -> Result<Present> {
    require(scope, Permission::Read)?;
    check(&place)?;
    let name = name_of_participant(ledger, scope, id).await?;
    let name = name.ok_or(Error::Forbidden("only participants can report where they are on a canvas"))?;
    let (key, now, by) = ((scope.tenant_id, id), ledger.now(), scope.caller.to_string());
    let Place { block, selection, leaves } = place;
    let presence = Presence { by: by.clone(), name, block, selection, is_here: !leaves };
    let is_sent = ledger.hub().mark_presence(key, presence.clone(), now).is_ok();
    if is_sent {
        let (by, text) = (by.into(), written_presence(presence, now)?.into());
        ledger.store().announce(PresenceNotice { tenant_id: scope.tenant_id, session_id: id, by, text });
    }
    Ok(Present { peers: ledger.hub().peers(key, now), is_sent })
}

fn check(place: &Place) -> Result<()> {
    let mut fields = Fields::default();
    if place.block.as_ref().is_some_and(|block| block.is_empty() || block.len() > CANVAS_KEY_BYTES_MAX) {
        fields.refuse("block", format!("1 to {CANVAS_KEY_BYTES_MAX} bytes"));
    }
    if place.selection.is_some_and(|it| it.start > it.end || it.end as usize > CANVAS_BYTES_MAX) {
        fields.refuse("selection", format!("start, and an end after it, at most {CANVAS_BYTES_MAX}"));
    }
    fields.check()
}

/// What others call the caller; `None` if the caller takes no part in the canvas. The document, which can be large, is
/// not read: this runs for each report.
async fn name_of_participant(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Option<String>> {
    let caller = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, caller.tenant_id, id).await?;
        let session = match require_visible(conn, &caller, session).await {
            Err(Error::NotFound(_)) => return Err(not_found()),
            found => found?,
        };
        if session.source.as_deref() != Some(SOURCE) {
            return Err(not_found());
        }
        match canvas_role(conn, &caller, &session).await? {
            Some(_) => Ok(Some(name_of(conn, &caller).await?)),
            None => Ok(None),
        }
    });
    read.await
}

async fn name_of(conn: &mut Conn<'_>, scope: &Scope) -> Result<String> {
    let found = match scope.caller {
        Caller::User(id) => {
            user::find_member(conn, scope.tenant_id, id).await?.map(|member| member.display_name().to_owned())
        }
        Caller::Token(id) => token::find_by_id(conn, scope.tenant_id, id).await?.map(|token| token.name),
        Caller::Agent(slug) => Some(slug.to_owned()),
        Caller::Respondent(_) | Caller::Rule(_) | Caller::System => None,
    };
    let name = found.unwrap_or_else(|| scope.caller.to_string());
    Ok(name.chars().take(CANVAS_PEER_NAME_CHARS_MAX).collect())
}
