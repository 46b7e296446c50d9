//! Retention: erases the content of old sessions. The record of what happened is kept and can still be verified.
//!
//! Erased are: content and metadata of events, and their ids in the systems they came from; title, input, metadata,
//! result and error message of a session; the content of its gates and the texts of reviewers; its questions with the
//! texts of the forms that were made for them, and the answers; the message of its failure; messages that were
//! delivered or given up; and its prompts and answers in the training data. Kept are: statuses, times, actors, kinds,
//! decisions, usage, and all digests. Entities and forms that people made are not content of a session and are kept.
//! The entity of a lead is what a stranger typed: it is erased with the last response of the lead, unless a member has
//! changed it.

use crate::{
    Error, InstanceKey, Ledger, Result, audit::Act, commit::bound_row, entity::erase_on, outbox::prune_before,
};
use chrono::TimeDelta;
use domain::{
    Caller, Timestamp,
    audit::Kind,
    chain::{Digest, Link, extend_erased},
    clock::to_micros,
    event::Event,
    id::{EntityId, SessionId, TenantId},
    limit::ERASED_AT_ONCE,
    session::Session,
};
use serde_json::json;
pub use store::retention::ErasureState;
use store::{
    Access,
    retention::{ERASED, ErasureCandidate, ErasureRecord},
};

/// Number of sessions, and of leads, that one read returns.
const SESSIONS: u32 = 500;
/// Number of events that one read returns.
const EVENTS: u32 = 1_000;
/// Sessions that ended less than this ago are not erased, because people may still be working with them.
const AGE_MIN: TimeDelta = TimeDelta::days(1);

/// Counts of an erasure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of events of these sessions.
    pub events: u64,
    /// Number of outbox messages.
    pub messages: u64,
    /// Number of leads: people without an account who gave a name and an address before a form.
    pub leads: u64,
}

/// Reports how much content would be erased from sessions that ended before `older_than`. For the server's
/// operator.
///
/// # Errors
/// [`Error::Invalid`] if `older_than` is less than a day ago.
pub async fn preview_by_operator(ledger: &Ledger, older_than: Timestamp) -> Result<Erased> {
    check(ledger, older_than)?;
    let mut found = Erased::default();
    let mut after = None;
    loop {
        let due = due(ledger, older_than, after).await?;
        let Some(last) = due.last() else { break };
        after = Some((last.tenant_id, last.session_id));
        found.sessions += due.len() as u64;
        found.events += due.iter().map(|due| due.head_sequence).sum::<u64>();
    }
    let mut after = None;
    loop {
        let due = due_leads(ledger, older_than, after).await?;
        let Some(last) = due.last() else { return Ok(found) };
        after = Some(*last);
        found.leads += due.len() as u64;
    }
}

/// Erases the content of sessions that ended before `older_than`, in all workspaces, and removes it from the
/// database file. Calls `progress` with the counts so far. If it is interrupted, the next call continues.
///
/// # Errors
/// [`Error::Invalid`] if `older_than` is less than a day ago.
pub async fn erase_by_operator(
    ledger: &Ledger,
    key: &InstanceKey,
    older_than: Timestamp,
    mut progress: impl FnMut(&Erased),
) -> Result<Erased> {
    check(ledger, older_than)?;
    let mut erased = Erased::default();
    let (mut after, mut workspace) = (None, None);
    loop {
        let due = due(ledger, older_than, after).await?;
        let Some(last) = due.last() else { break };
        after = Some((last.tenant_id, last.session_id));
        for due in due {
            // Sessions come workspace by workspace.
            if workspace.replace(due.tenant_id) != Some(due.tenant_id) {
                record_run(ledger, due.tenant_id, older_than).await?;
            }
            erased.events += erase(ledger, key, due, older_than).await?;
            erased.sessions += 1;
            progress(&erased);
        }
    }
    erased.leads = erase_leads(ledger, older_than).await?;
    // Their text quotes sessions.
    loop {
        match prune_before(ledger, older_than).await? {
            0 => break,
            removed => erased.messages += removed,
        }
    }
    ledger.store().scrub().await?;
    Ok(erased)
}

/// Records in the audit list that a run begins to erase sessions of a workspace. A run that is interrupted is recorded
/// too, and again when it continues.
async fn record_run(ledger: &Ledger, tenant_id: TenantId, older_than: Timestamp) -> Result<()> {
    let act = Act::new(Kind::RetentionRun, Caller::System, ledger.now()).with(json!({ "olderThan": older_than }));
    let written = ledger.write(Access::Retention, async move |tx| act.record(tx, tenant_id).await);
    written.await
}

/// Returns the erasure state of each of these sessions, of any workspace. Used for files outside of the ledger
/// that quote them. For the server's operator.
pub async fn erasure_states_by_operator(
    ledger: &Ledger,
    sessions: Vec<(TenantId, SessionId)>,
) -> Result<Vec<ErasureState>> {
    let read = ledger.store().read(Access::System, async move |conn| {
        let mut states = Vec::with_capacity(sessions.len());
        for (tenant_id, session_id) in sessions {
            states.push(store::retention::erasure_state(conn, tenant_id, session_id).await?);
        }
        Ok(states)
    });
    Ok(read.await?)
}

async fn due_leads(
    ledger: &Ledger,
    older_than: Timestamp,
    after: Option<(TenantId, EntityId)>,
) -> Result<Vec<(TenantId, EntityId)>> {
    let read = ledger.store().read_by_operator(Access::System, async move |conn| {
        store::entity::due_leads(conn, older_than, after, SESSIONS).await
    });
    Ok(read.await?)
}

/// Erases the leads whose responses are all erased. Returns how many.
async fn erase_leads(ledger: &Ledger, older_than: Timestamp) -> Result<u64> {
    let (mut after, mut erased) = (None, 0);
    loop {
        let due = due_leads(ledger, older_than, after).await?;
        let Some(last) = due.last() else { return Ok(erased) };
        after = Some(*last);
        for (tenant_id, id) in due {
            let (by, now) = (Caller::System.to_string(), ledger.now());
            let written =
                ledger.write(Access::Retention, async move |tx| erase_on(tx, tenant_id, id, (&by, now)).await);
            erased += u64::from(written.await?);
        }
    }
}

fn check(ledger: &Ledger, older_than: Timestamp) -> Result<()> {
    if older_than > ledger.now() - AGE_MIN {
        return Err(Error::invalid("before", "must be a day ago or earlier"));
    }
    Ok(())
}

async fn due(
    ledger: &Ledger,
    older_than: Timestamp,
    after: Option<(TenantId, SessionId)>,
) -> Result<Vec<ErasureCandidate>> {
    let read = ledger.store().read_by_operator(Access::System, async move |conn| {
        store::retention::due(conn, older_than, after, SESSIONS).await
    });
    Ok(read.await?)
}

/// Erases the content of one session that has ended. The caller removes it from the database
/// file afterwards.
pub(crate) async fn erase_session(ledger: &Ledger, tenant_id: TenantId, session_id: SessionId) -> Result<u64> {
    let key = ledger.instance_key()?;
    let read =
        ledger.store().read(Access::System, async move |conn| store::session::find(conn, tenant_id, session_id).await);
    let session = read.await?.ok_or(Error::NotFound("session"))?;
    let (head_sequence, head_digest) = (session.head_sequence, session.head_digest);
    let due = ErasureCandidate { tenant_id, session_id, head_sequence, head_digest };
    erase(ledger, key, due, ledger.now()).await
}

/// The digest of the events as the erasure leaves them. One that was interrupted gives the same digest.
async fn events_digest(ledger: &Ledger, due: &ErasureCandidate) -> Result<Digest> {
    let (tenant_id, session_id, head) = (due.tenant_id, due.session_id, due.head_sequence);
    let (mut digest, mut after) = (Digest::GENESIS, 0);
    while after < head {
        let read = ledger.store().read(Access::System, async move |conn| {
            store::event::after(conn, tenant_id, session_id, (after, head), &[], EVENTS).await
        });
        let page = read.await?;
        let Some(last) = page.items.last() else { break };
        after = last.sequence;
        digest = page
            .items
            .iter()
            .fold(digest, |digest, event| extend_erased(digest, &event_link(tenant_id, event), event.digest));
    }
    Ok(digest)
}

/// The fields of a recorded event that its digest covers.
pub(crate) fn event_link(tenant_id: TenantId, event: &Event) -> Link<'_> {
    Link {
        tenant_id: tenant_id.0,
        session_id: event.session_id.0,
        sequence: event.sequence,
        event_id: event.id.0,
        kind: &event.kind,
        role: event.role.as_str(),
        actor: &event.actor,
        attempt: event.attempt,
        thread_id: event.thread_id.as_deref(),
        external_event_id: event.external_event_id.as_deref(),
        at: event.at,
        recorded_at: event.recorded_at,
        body: event.body,
    }
}

/// Erases one session in short transactions, so that a long log does not block other writes. The next run can
/// repeat any of them.
async fn erase(ledger: &Ledger, key: &InstanceKey, due: ErasureCandidate, older_than: Timestamp) -> Result<u64> {
    let begun_at = ledger.now();
    let read = ledger
        .store()
        .read(Access::System, async move |conn| store::session::find(conn, due.tenant_id, due.session_id).await);
    let session = read.await?.ok_or(Error::NotFound("session"))?;
    let erased = store::retention::without_content(session);
    let events_digest = events_digest(ledger, &due).await?;
    let unsealed = ErasureRecord {
        head_sequence: due.head_sequence,
        head_digest: due.head_digest,
        older_than: domain::clock::truncate(older_than),
        begun_at,
        seal: Digest::GENESIS,
        row_digest: Some(bound_row::digest_of(&erased)),
        events_digest: Some(events_digest),
        finished_at: None,
    };
    let erasure = ErasureRecord { seal: seal(key, due.tenant_id, due.session_id, &unsealed), ..unsealed };
    let started =
        ledger.write(Access::Retention, async move |tx| Ok(store::retention::begin(tx, &due, &erasure).await?));
    started.await?;
    let mut events = 0;
    let mut after = 0;
    while after < due.head_sequence {
        let to = due.head_sequence.min(after + ERASED_AT_ONCE);
        let some = ledger
            .write(Access::Retention, async move |tx| Ok(store::retention::erase_events(tx, &due, after, to).await?));
        events += some.await?;
        after = to;
    }
    let finished = ledger
        .write(Access::Retention, async move |tx| Ok(store::retention::finish(tx, &due, &erased, begun_at).await?));
    finished.await?;
    Ok(events)
}

/// Returns whether the row of a session has no content, as after an erasure. The events of an erased session have no
/// content either, because their content is erased first.
pub fn is_erased(session: &Session) -> bool {
    session.title == ERASED && store::retention::without_content(session.clone()) == *session
}

/// Returns whether the erasure was sealed with this installation's key.
pub(crate) fn is_sealed(
    key: &InstanceKey,
    tenant_id: TenantId,
    session_id: SessionId,
    erasure: &ErasureRecord,
) -> bool {
    seal(key, tenant_id, session_id, erasure) == erasure.seal
}

fn seal(key: &InstanceKey, tenant_id: TenantId, session_id: SessionId, erasure: &ErasureRecord) -> Digest {
    let row_digest = erasure.row_digest.map(|digest| digest.0);
    let events_digest = erasure.events_digest.map(|digest| digest.0);
    let parts: [&[u8]; 7] = [
        tenant_id.0.as_bytes(),
        session_id.0.as_bytes(),
        &erasure.head_sequence.to_be_bytes(),
        &erasure.head_digest.0,
        &to_micros(erasure.older_than).to_be_bytes(),
        &to_micros(erasure.begun_at).to_be_bytes(),
        // Erasures of earlier versions have no row digest and are sealed without it.
        row_digest.as_ref().map_or(&[], |digest| &digest[..]),
    ];
    // So are those that kept the ids of events in other systems.
    let mut parts = parts.to_vec();
    parts.extend(events_digest.as_ref().map(|digest| &digest[..]));
    Digest(key.derive("erasure", &parts))
}
