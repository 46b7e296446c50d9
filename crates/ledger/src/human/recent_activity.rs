//! Context for an agent about its person's recent work.

use crate::{Error, Ledger, Result, guard::require};
use domain::{
    Scope, Timestamp, canvas,
    event::{
        Body, Known,
        kind::{EntityView, Marker, Navigate, TaskSwitch, Writer},
    },
    id::{EntityId, SessionId, TenantId, UserId},
    limit::ACTIVITY_LINES_MAX,
    recent_activity::{Activity, Item, Observed, render_within},
    role::Permission,
    untrusted::Delimiter,
};
use std::collections::HashMap;
use store::Conn;

/// What the block calls a canvas, in the place of the slug of an entity's type.
const CANVAS: &str = "canvas";

/// A block of text for a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The text, including a random delimiter.
    pub text: String,
    /// The human session that it describes.
    pub session_id: SessionId,
    /// When it was created (UTC).
    pub at: Timestamp,
}

/// Returns the block about the caller, or about the person for whom a token acts. `None` if that person has no
/// running human session.
///
/// # Errors
/// [`Error::Forbidden`] if the caller acts for no person.
pub async fn block(ledger: &Ledger, scope: &Scope) -> Result<Option<String>> {
    Ok(recent_activity(ledger, scope).await?.map(|block| block.text))
}

/// Does the same as [`block`], and also returns the session that it describes.
///
/// # Errors
/// [`Error::Forbidden`] if the caller acts for no person.
pub async fn recent_activity(ledger: &Ledger, scope: &Scope) -> Result<Option<Block>> {
    recent_activity_within(ledger, scope, |_| true).await
}

/// Does the same as [`recent_activity`] with as many of the newest events as fit. `None` also if the frame does not
/// fit.
///
/// # Errors
/// [`Error::Forbidden`] if the caller acts for no person.
pub(crate) async fn recent_activity_within(
    ledger: &Ledger,
    scope: &Scope,
    fits: impl Fn(&str) -> bool,
) -> Result<Option<Block>> {
    require(scope, Permission::Read)?;
    let whose = scope.acting_user().ok_or(Error::Forbidden(
        "this token belongs to no person: create one with `shiftbook token add --user`, or for yourself in the settings",
    ))?;
    let (tenant_id, at) = (scope.tenant_id, ledger.now());
    let read = ledger.store().read(scope.into(), async move |conn| gather(conn, tenant_id, whose).await);
    let gathered = read.await?;
    Ok(gathered.and_then(|(session_id, activity)| {
        let text = render_within(&activity, &Delimiter::new(ledger.entropy()), fits)?;
        Some(Block { text, session_id, at })
    }))
}

/// Reads the activity in a person's running human session. Titles are resolved with one query. `None` without a
/// running session.
pub(crate) async fn gather(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    whose: UserId,
) -> store::Result<Option<(SessionId, Activity)>> {
    let Some(session) = store::human::active(conn, tenant_id, whose).await? else { return Ok(None) };
    // An event that is shown can hide one other event, so twice the number of lines is always enough.
    let limit = u32::try_from(2 * ACTIVITY_LINES_MAX).unwrap_or(u32::MAX);
    let of_people = Known::ALL.into_iter().filter(|kind| kind.writer() == Writer::Owner);
    let kinds: Vec<String> = of_people.map(|kind| kind.as_str().to_owned()).collect();
    let page = store::event::before(conn, tenant_id, session.id, session.head_sequence + 1, &kinds, limit).await?;
    let activities: Vec<(Timestamp, Body)> = page.items.iter().map(|event| (event.at, event.body())).collect();
    let titles = titles(conn, tenant_id, &activities).await?;
    let events = activities.into_iter().filter_map(|(at, event)| observed(at, event, &titles)).collect();
    let started_at = session.started_at.unwrap_or(session.created_at);
    Ok(Some((session.id, Activity { title: session.title, started_at, events })))
}

/// Titles of what the person looked at.
#[derive(Default)]
struct Titles {
    /// Titles and slugs of types.
    entities: HashMap<EntityId, (String, String)>,
    canvases: HashMap<SessionId, String>,
}

async fn titles(conn: &mut Conn<'_>, tenant_id: TenantId, activities: &[(Timestamp, Body)]) -> store::Result<Titles> {
    let mut titles = Titles::default();
    let viewed = |(_, event): &(Timestamp, Body)| match event {
        Body::HumanEntityView(view) => Some(view.entity_id),
        _ => None,
    };
    let mut ids: Vec<EntityId> = activities.iter().filter_map(viewed).collect();
    ids.sort_unstable();
    ids.dedup();
    if !ids.is_empty() {
        let found = store::entity::titles(conn, tenant_id, &ids).await?;
        titles.entities = found.into_iter().map(|found| (found.id, (found.title, found.type_slug))).collect();
    }
    let opened = |(_, event): &(Timestamp, Body)| match event {
        Body::HumanNavigate(Navigate { pathname, .. }) => canvas_at(pathname),
        _ => None,
    };
    let mut ids: Vec<SessionId> = activities.iter().filter_map(opened).collect();
    ids.sort_unstable();
    ids.dedup();
    if !ids.is_empty() {
        let found = store::session::list_by_ids(conn, tenant_id, &ids).await?;
        let canvases = found.into_iter().filter(|session| session.source.as_deref() == Some(canvas::SOURCE));
        titles.canvases = canvases.map(|session| (session.id, session.title)).collect();
    }
    Ok(titles)
}

/// The canvas of a page; `None` for pages of other things.
fn canvas_at(pathname: &str) -> Option<SessionId> {
    pathname.strip_prefix("/canvases/")?.split('/').next()?.parse().ok()
}

/// Converts an event to an item; `None` for an event that cannot be read. An entity or a canvas that is not in the
/// workspace (any more) is shown as the page that it was on.
fn observed(recorded: Timestamp, event: Body, titles: &Titles) -> Option<Observed> {
    let (at, item) = match event {
        Body::HumanNavigate(Navigate { at, pathname }) => {
            match canvas_at(&pathname).and_then(|id| titles.canvases.get(&id).cloned()) {
                Some(title) => (at, Item::Viewed { title, type_slug: CANVAS.to_owned(), pathname }),
                None => (at, Item::Navigate { pathname }),
            }
        }
        Body::HumanEntityView(EntityView { at, entity_id, pathname, .. }) => {
            match titles.entities.get(&entity_id).cloned() {
                Some((title, type_slug)) => (at, Item::Viewed { title, type_slug, pathname }),
                None => (at, Item::Navigate { pathname }),
            }
        }
        Body::HumanMarker(Marker { at, note }) => (at, Item::Marker { note }),
        Body::HumanTaskSwitch(TaskSwitch { at, title }) => (at, Item::TaskSwitch { title }),
        _ => return None,
    };
    Some(Observed { at: at.unwrap_or(recorded), item })
}
