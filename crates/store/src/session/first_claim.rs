//! Claims of sessions that were never claimed before: one round trip on PostgreSQL.
//!
//! The function `shiftbook_claim` locks the sessions, changes them and writes their events in one
//! statement. Only that function knows which sessions it takes, so it computes the digests of their events
//! from data that the statement passes ([`domain::chain::tail`]). The digests are computed again here and
//! must be equal.

use super::Row;
use crate::{
    engine::{Access, Error, Result, is_constraint_violation, spanned, statements},
    event::{Head, NewRow, Notice, PreparedEvent, link},
    lease::LeaseTime,
};
use domain::{
    Timestamp,
    chain::{Digest, Link, TAG, tail},
    clock::to_micros,
    id::TenantId,
    limit::CLAIM_MAX,
    session::{Session, Status},
};
use sqlx::{FromRow as _, PgConnection, Row as _};
use uuid::Uuid;

statements! {
    const CLAIM_POSTGRES: &str = "SELECT (c.taken).*, c.digest_before FROM shiftbook_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
         $11, $12, $13, $14, $15, $16, $17, $18, $19) AS c";

    const NOTHING_POSTGRES: &str = "SELECT 1";
}

/// A claim of sessions that are queued for the first time, decided beforehand.
#[derive(Debug, Clone)]
pub struct FirstClaim {
    /// Which sessions may be taken, and how they change.
    pub terms: ClaimTerms,
    /// Time of the claim (UTC).
    pub at: Timestamp,
    /// The two events of each session that may be taken. Between sessions they differ only in their ids.
    pub events: Vec<[PreparedEvent; 2]>,
}

/// The terms of a claim. Claims with equal terms may share a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimTerms {
    /// Only sessions of this agent; sessions of any agent if `None`.
    pub agent_slug: Option<String>,
    /// Attempt that the sessions must have before the claim.
    pub attempt_before: u32,
    /// Status that the sessions get.
    pub status: Status,
    /// Attempt that the sessions get.
    pub attempt: u32,
    /// Length of the lease, in seconds.
    pub lease_seconds: u32,
    /// Clock by which the lease is measured.
    pub lease_time: LeaseTime,
    /// Who claims: stored as actor of the events.
    pub actor: String,
}

/// The claimed sessions with their notices. `None` if nothing was taken because one of the sessions needs
/// the general path.
pub(crate) type ClaimedSessions = Option<Vec<(Session, Notice)>>;

impl FirstClaim {
    /// Whether another claim may share this one's statement.
    pub(crate) fn can_merge(&self, other: &Self) -> bool {
        self.terms == other.terms && self.events.len() + other.events.len() <= CLAIM_MAX as usize
    }

    /// Adds another claim with the same terms. Both are recorded with the later of their times.
    pub(crate) fn merge(&mut self, other: Self) {
        self.at = self.at.max(other.at);
        self.events.extend(other.events);
    }

    /// Claims in its own transaction, oldest sessions first.
    pub(crate) async fn execute(&self, connection: &mut PgConnection, access: Access) -> Result<ClaimedSessions> {
        let (Access::Tenant { tenant_id, user_id }, Some(events)) = (access, self.events.first()) else {
            return Ok(None);
        };
        let terms = &self.terms;
        let ids: Vec<Uuid> = self.events.iter().flatten().map(|event| event.id.0).collect();
        let lease_from = match terms.lease_time {
            LeaseTime::Database => None,
            LeaseTime::Given(now) => Some(to_micros(now)),
        };
        let query = sqlx::query(CLAIM_POSTGRES)
            .bind(tenant_id.0)
            .bind(user_id.map(|id| id.0))
            .bind(terms.agent_slug.as_deref())
            .bind(i64::try_from(self.events.len()).unwrap_or(i64::MAX))
            .bind(i64::from(terms.attempt_before))
            .bind(terms.status.as_str())
            .bind(i64::from(terms.attempt))
            .bind(i64::from(terms.lease_seconds))
            .bind(lease_from)
            .bind(to_micros(self.at))
            .bind(terms.actor.as_str())
            .bind(TAG)
            .bind(ids)
            .bind(events.each_ref().map(|event| event.kind.as_str()))
            .bind(events.each_ref().map(|event| event.role.as_str()))
            .bind(events.each_ref().map(|event| event.content.as_str()))
            .bind(events.each_ref().map(|event| event.metadata.as_str()))
            .bind(events.each_ref().map(|event| event.body.0.to_vec()))
            .bind(events.each_ref().map(|event| tail(&claim_link(event, tenant_id, self))));
        let mut taken = Vec::with_capacity(self.events.len());
        let rows = match spanned!(CLAIM_POSTGRES, fetch_all, query.fetch_all(&mut *connection).await) {
            Err(error) if is_constraint_violation(&error) => {
                // The error is sent before the rows are unlocked, and the general path skips locked rows. The server
                // answers this afterwards.
                sqlx::query(NOTHING_POSTGRES).execute(connection).await?;
                return Ok(None);
            }
            rows => rows?,
        };
        for (row, events) in rows.iter().zip(&self.events) {
            let Some(before) = row.try_get::<Option<Vec<u8>>, _>("digest_before")? else { return Ok(None) };
            let session = Session::try_from(Row::from_row(row)?)?;
            let notice = claim_notice(&session, &before, self, events)?;
            taken.push((session, notice));
        }
        Ok(Some(taken))
    }
}

/// The chain link of a claim event, before its session is known.
fn claim_link<'e>(event: &'e PreparedEvent, tenant_id: TenantId, claim: &'e FirstClaim) -> Link<'e> {
    Link {
        tenant_id: tenant_id.0,
        session_id: Uuid::nil(),
        sequence: 0,
        event_id: event.id.0,
        kind: event.kind.as_str(),
        role: event.role.as_str(),
        actor: &claim.terms.actor,
        attempt: Some(claim.terms.attempt),
        thread_id: None,
        external_event_id: None,
        at: claim.at,
        recorded_at: claim.at,
        body: event.body,
    }
}

/// The notice for watchers of a claimed session.
fn claim_notice(
    session: &Session,
    digest_before: &[u8],
    claim: &FirstClaim,
    events: &[PreparedEvent; 2],
) -> Result<Notice> {
    let mut head = Head::of(session);
    head.head_sequence = session.head_sequence.saturating_sub(events.len() as u64);
    let wrong = || Error::inconsistent("sessions", "head_digest", session.id);
    head.head_digest = Digest::from_slice(digest_before).ok_or_else(wrong)?;
    let rows: Vec<NewRow> = events
        .iter()
        .map(|event| link(&mut head, event, Some(claim.terms.attempt), &claim.terms.actor, claim.at))
        .collect();
    if head.head_digest != session.head_digest {
        return Err(wrong());
    }
    Ok(Notice::of_change(session, rows.into_iter().map(|row| row.record).collect()))
}
