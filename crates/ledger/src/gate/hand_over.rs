//! Handing an item over to another person or a group. The session's log records it, and the item shows it.

use super::{
    announce::announce_among,
    by_role,
    item::{GateItem, MayDecide, load, may_decide},
    open::reviewer,
    person,
    snooze::set_aside,
    visibility::lock,
};
use crate::{
    Error, Ledger, Result,
    commit::{Minter, append_server_events},
    guard::{Fields, require},
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    event::{
        Body, Known,
        kind::{NoticeReason, WaitingApproval},
    },
    gate::{Gate, GateKind, Principal},
    id::{GateId, UserId},
    limit::REASON_CHARS_MAX,
    member::MemberStatus,
    notification::Topic,
    role::Permission,
    session::Session,
};
use store::{Conn, ReviewerRecord};

/// For how long an item is hidden from the person who handed it over, seconds.
const ASIDE_SECONDS: i64 = 7 * 24 * 3_600;
/// Number of notices of a session that are read for those of one gate: the newest.
const NOTICES_READ: u32 = 100;

/// A gate that was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handover {
    /// E-mail address of the person who handed it over, or the actor if there is no such person any more.
    pub by: String,
    /// E-mail address of the person or name of the group that was asked; `user:…` or `group:…` if there is none any
    /// more.
    pub to: String,
    /// What the person wrote about it.
    pub note: Option<String>,
    /// When (UTC).
    pub at: Timestamp,
}

/// Who is asked.
struct Target {
    reviewer: ReviewerRecord,
    /// The person, or the members of the group.
    people: Vec<UserId>,
}

/// Hands an open gate over: the person or group may decide it from now on, and gets a message as for an escalation. It
/// returns to the lists of those who snoozed it among them. It is hidden from the caller's inbox for a week, as by a
/// snooze, unless the caller is among those who are asked. No one loses the right to decide it.
///
/// Can be repeated: the same request of the same caller within a week changes nothing, unless the gate came back to the
/// caller in between.
///
/// # Errors
/// [`Error::NotFound`] if there is no such gate or the caller may not see it; [`Error::Forbidden`] if the caller may
/// not decide it; [`Error::GateClosed`] if it is not open; [`Error::Invalid`] for the field `to` if it names no one
/// else of the workspace who may see and decide it, and for a note that is too long.
pub async fn hand_over(
    ledger: &Ledger,
    scope: &Scope,
    id: GateId,
    to: Principal,
    note: Option<String>,
) -> Result<GateItem> {
    require(scope, Permission::Read)?;
    let user_id = person(scope)?;
    let mut fields = Fields::default();
    fields.text("note", note.as_deref(), REASON_CHARS_MAX);
    fields.check()?;
    let (caller, now) = (*scope, ledger.now());
    let mut minter = Minter::new(ledger, now);
    let loaded = ledger
        .write(scope.into(), async move |tx| {
            let (session, gate) = lock(tx, &caller, id).await?;
            if is_repeat(tx.conn(), &gate, user_id, (&to, note.as_deref()), now).await? {
                return Ok(load(tx.conn(), &caller, vec![gate], now).await?);
            }
            let named = store::gate::is_reviewer(tx.conn(), gate.tenant_id, id, user_id, by_role(&caller)).await?;
            match may_decide(&caller, &gate, named) {
                MayDecide::Yes => {}
                MayDecide::NotOpen => return Err(Error::GateClosed { state: gate.state.name() }),
                refused => return Err(Error::Forbidden(refused.reason().unwrap_or_default())),
            }
            let Target { reviewer, people } = target(tx.conn(), &session, &gate, &to, user_id).await?;
            store::gate::add_reviewer(tx, gate.tenant_id, id, &reviewer).await?;
            for member in &people {
                store::gate::unsnooze(tx, gate.tenant_id, id, *member).await?;
            }
            if !people.contains(&user_id) {
                set_aside(tx, &gate, user_id, ASIDE_SECONDS, now).await?;
            }
            let others: Vec<UserId> = people.into_iter().filter(|member| *member != user_id).collect();
            announce_among(tx, &minter, Topic::ApprovalEscalated, &gate, None, Some(&others)).await?;
            let text = match &reviewer {
                ReviewerRecord::Group { name, .. } => format!("it was handed over to the group {name}"),
                _ => "it was handed over to another person".to_owned(),
            };
            let reason = NoticeReason::HandedOver { handed_to: to.to_string(), note };
            let event = minter.event(&WaitingApproval::new(id, &text, reason));
            append_server_events(tx, session, vec![event], caller.caller, now).await?;
            Ok(load(tx.conn(), &caller, vec![gate], now).await?)
        })
        .await?;
    loaded.item(scope)
}

/// Finds who is asked, and checks that they may see and decide the gate.
async fn target(conn: &mut Conn<'_>, session: &Session, gate: &Gate, to: &Principal, by: UserId) -> Result<Target> {
    let refused = |why: &str| Error::invalid("to", why);
    if gate.kind == GateKind::Question && session.private_to.is_some() {
        return Err(refused("only the person of this conversation may see the item"));
    }
    let found = match to {
        Principal::Anyone => None,
        Principal::User(_) | Principal::Group(_) => reviewer(conn, session, to).await?,
    };
    let reviewer = found.ok_or_else(|| refused("a person or a group of this workspace"))?;
    let people = match &reviewer {
        ReviewerRecord::User { id, .. } => vec![*id],
        ReviewerRecord::Group { id, .. } => {
            let group = store::group::find(conn, gate.tenant_id, *id).await?;
            let members = store::user::members(conn, gate.tenant_id).await?;
            let is_active = |id: &UserId| {
                members.iter().any(|member| member.user_id == *id && member.status == MemberStatus::Active)
            };
            let all = group.into_iter().flat_map(|group| group.members);
            all.map(|(id, _)| id).filter(is_active).collect()
        }
        ReviewerRecord::Anyone | ReviewerRecord::Admins => Vec::new(),
    };
    let may = |id: &UserId| gate.self_approval || gate.requester_id != Some(*id);
    if people == [by] {
        return Err(refused("someone else than you"));
    }
    if !people.iter().any(|id| *id != by && may(id)) {
        return Err(refused(match &reviewer {
            ReviewerRecord::Group { .. } => "the group has no member who may decide this, except you",
            _ => "this person started the session, and its task requires that someone else decides",
        }));
    }
    Ok(Target { reviewer, people })
}

/// Whether the gate was handed over like this before: the caller's newest hand-over of it is less than
/// [`ASIDE_SECONDS`] old and has the same recipient and note, and no one has handed it to the caller since.
async fn is_repeat(
    conn: &mut Conn<'_>,
    gate: &Gate,
    user_id: UserId,
    (to, note): (&Principal, Option<&str>),
    now: Timestamp,
) -> store::Result<bool> {
    let (by, to) = (Principal::User(user_id).to_string(), to.to_string());
    for record in records(conn, gate).await?.into_iter().rev() {
        if record.by == by {
            let is_recent = record.at > now - TimeDelta::seconds(ASIDE_SECONDS);
            return Ok(is_recent && record.to == to && record.note.as_deref() == note);
        }
        if reaches(conn, gate, &record.to, user_id).await? {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Whether a person is, or belongs to, the party of this name.
async fn reaches(conn: &mut Conn<'_>, gate: &Gate, to: &str, user_id: UserId) -> store::Result<bool> {
    match Principal::parse(to) {
        Some(Principal::User(id)) => Ok(id == user_id),
        Some(Principal::Group(slug)) => {
            let group = store::group::find_by_slug(conn, gate.tenant_id, &slug).await?;
            Ok(group.is_some_and(|group| group.members.iter().any(|(id, _)| *id == user_id)))
        }
        Some(Principal::Anyone) | None => Ok(false),
    }
}

/// Returns how a gate was handed over, oldest first.
pub(super) async fn handovers(conn: &mut Conn<'_>, gate: &Gate) -> store::Result<Vec<Handover>> {
    let mut found = Vec::new();
    for Handover { by, to, note, at } in records(conn, gate).await? {
        let by = name(conn, gate, &by).await?;
        found.push(Handover { by, to: name(conn, gate, &to).await?, note, at });
    }
    Ok(found)
}

/// The same with parties as the log names them: `user:…` or `group:…`.
async fn records(conn: &mut Conn<'_>, gate: &Gate) -> store::Result<Vec<Handover>> {
    let kinds = [Known::SessionWaitingApproval.as_str().to_owned()];
    let newest = i64::MAX.cast_unsigned();
    let (tenant_id, session_id) = (gate.tenant_id, gate.session_id);
    let read = store::event::before(conn, tenant_id, session_id, newest, &kinds, NOTICES_READ).await?;
    let mut found = Vec::new();
    for event in read.items {
        let Body::SessionWaitingApproval(WaitingApproval { about, .. }) = event.body() else { continue };
        if let NoticeReason::HandedOver { handed_to, note } = about.reason
            && about.gate_id == gate.id
        {
            found.push(Handover { by: event.actor, to: handed_to, note, at: event.at });
        }
    }
    Ok(found)
}

/// The e-mail address of a person or the name of a group; `text` itself if there is none.
async fn name(conn: &mut Conn<'_>, gate: &Gate, text: &str) -> store::Result<String> {
    let named = match Principal::parse(text) {
        Some(Principal::User(id)) => {
            store::user::find_any_member(conn, gate.tenant_id, id).await?.map(|member| member.email)
        }
        Some(Principal::Group(slug)) => {
            store::group::find_by_slug(conn, gate.tenant_id, &slug).await?.map(|group| group.name)
        }
        Some(Principal::Anyone) | None => None,
    };
    Ok(named.unwrap_or_else(|| text.to_owned()))
}
