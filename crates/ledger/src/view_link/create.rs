//! Making a link to a form.

use crate::{
    Error, Ledger, Result, ViewLinkRecord,
    audit::Act,
    auth::{Secret, SecretKind},
    guard::{Fields, require},
    visibility::require_visible,
};
use chrono::TimeDelta;
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{FeedbackRequestId, ViewId, ViewLinkId},
    limit::{REQUEST_LINKS_MAX, VIEW_LINK_DAYS_MAX, VIEW_LINK_NOTE_CHARS_MAX, VIEW_LINKS_MAX},
    role::Permission,
    view::State,
};
use serde_json::json;

/// A link to create.
#[derive(Debug, Clone, Default)]
pub struct NewViewLink {
    /// The question of an agent that its responses answer; `None` for a plain form.
    pub request_id: Option<FeedbackRequestId>,
    /// For how many days it works, 1 to [`VIEW_LINK_DAYS_MAX`].
    pub days: u32,
    /// What it is for: one line, at most [`VIEW_LINK_NOTE_CHARS_MAX`] characters; may be empty.
    pub note: String,
}

/// Creates a link to a form and returns its secret, which is not stored. The link works for `days`.
///
/// # Errors
/// As [`create_noted`].
pub async fn create(ledger: &Ledger, scope: &Scope, view_id: ViewId, days: u32) -> Result<(ViewLinkRecord, String)> {
    create_noted(ledger, scope, view_id, NewViewLink { days, ..NewViewLink::default() }).await
}

/// Creates a link to the form of a question of an agent. What is answered there reaches the agent.
///
/// # Errors
/// As [`create_noted`].
pub async fn create_of_request(
    ledger: &Ledger,
    scope: &Scope,
    view_id: ViewId,
    request_id: FeedbackRequestId,
    days: u32,
) -> Result<(ViewLinkRecord, String)> {
    let new = NewViewLink { request_id: Some(request_id), days, note: String::new() };
    create_noted(ledger, scope, view_id, new).await
}

/// Creates a link with all its options: the question that it is for, its days and its note.
///
/// # Errors
/// [`Error::NotFound`] for an unknown view, for one that was made for a question if `new` names none, and for a
/// question that does not use this view or whose session the caller cannot see; [`Error::WrongState`] for a draft;
/// [`Error::Invalid`] for days out of range or a note that is too long; [`Error::LimitReached`] if there are too many
/// links that work; [`Error::NoInstanceKey`] if there is no key to sign with.
pub async fn create_noted(
    ledger: &Ledger,
    scope: &Scope,
    view_id: ViewId,
    new: NewViewLink,
) -> Result<(ViewLinkRecord, String)> {
    require(scope, Permission::ManageViews)?;
    ledger.instance_key()?;
    let NewViewLink { request_id, days, note } = new;
    let note = note.trim().to_owned();
    let mut fields = Fields::default();
    if !(1..=VIEW_LINK_DAYS_MAX).contains(&days) {
        fields.refuse("days", format!("1 to {VIEW_LINK_DAYS_MAX}"));
    }
    if note.chars().count() > VIEW_LINK_NOTE_CHARS_MAX || note.contains(char::is_control) {
        fields.refuse("note", format!("one line of at most {VIEW_LINK_NOTE_CHARS_MAX} characters"));
    }
    fields.check()?;
    let (now, tenant_id) = (ledger.now(), scope.tenant_id);
    let secret = Secret::generate(SecretKind::Form, ledger.entropy());
    let digest = secret.digest();
    let link = ViewLinkRecord {
        tenant_id,
        id: ViewLinkId::new(now, ledger.entropy()),
        view_id,
        request_id: request_id.map(|id| id.0),
        hint: secret.hint(),
        created_by: scope.caller.to_string(),
        created_at: now,
        expires_at: now + TimeDelta::days(i64::from(days)),
        revoked_at: None,
        uses: 0,
        note,
        last_used_at: None,
    };
    let created = Act::new(Kind::LinkCreated, scope.caller, now)
        .on(TargetKind::ViewLink, link.id.0)
        .with(json!({ "view": view_id, "days": days }));
    let asker = *scope;
    let made = ledger.write(scope.into(), async move |tx| {
        // The lock keeps two requests from exceeding the limit together.
        let view = store::view::find_locked(tx, tenant_id, view_id).await?;
        // A link to the form of one question answers that question, or nothing.
        let view = view.filter(|view| view.listed || request_id.is_some()).ok_or(Error::NotFound("view"))?;
        if view.state == State::Draft {
            return Err(Error::WrongState {
                what: "view",
                rule: "only a form that was published has links",
                state: view.state,
            });
        }
        if let Some(id) = request_id {
            let request = store::feedback_request::find(tx.conn(), tenant_id, id).await?;
            let request = request.filter(|request| request.view_id == view_id).ok_or(Error::NotFound("request"))?;
            let session = store::session::find(tx.conn(), tenant_id, request.session_id).await?;
            require_visible(tx.conn(), &asker, session).await.map_err(|_| Error::NotFound("request"))?;
        }
        let place = (tenant_id, view_id);
        match request_id {
            None => {
                let working = store::view_link::of_form(tx.conn(), place, now, VIEW_LINKS_MAX).await?;
                if working.len() >= VIEW_LINKS_MAX as usize {
                    let text = format!("a view has at most {VIEW_LINKS_MAX} links that work");
                    return Err(Error::LimitReached(text));
                }
            }
            // Questions do not use up the links of the form that they are asked with.
            Some(id) => {
                let working = store::view_link::count_of_request(tx.conn(), place, id.0, now).await?;
                if working >= u64::from(REQUEST_LINKS_MAX) {
                    let text = format!("a question has at most {REQUEST_LINKS_MAX} links that work");
                    return Err(Error::LimitReached(text));
                }
            }
        }
        store::view_link::insert(tx, &link, digest).await?;
        created.record(tx, tenant_id).await?;
        Ok(link)
    });
    Ok((made.await?, secret.into_string()))
}
