//! Retention: what old sessions said is erased, what happened stays and still verifies.
//!
//! Erased are the content and metadata of events; a session's title, input, metadata, result and error message; what its
//! gates showed and what reviewers wrote; the message of its failure; messages that went out; and its prompts and answers among the
//! training data. Kept are statuses, times,
//! who did what, kinds, decisions, usage, and every digest. Records (entities) are not sessions' content and stay.

use crate::{Error, InstanceKey, Ledger, Result, commit::final_row};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    id::{SessionId, TenantId},
    limit::ERASED_AT_ONCE,
};
pub use store::retention::ErasureState;
use store::{
    Access,
    retention::{Due, ErasureRecord},
};

/// Sessions asked for at once.
const SESSIONS: u32 = 500;
/// What ended less than this ago is not erased: somebody may be at it still.
const AGE_MIN: TimeDelta = TimeDelta::days(1);

/// What a run has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Sessions.
    pub sessions: u64,
    /// Their events.
    pub events: u64,
    /// Messages that went out before.
    pub messages: u64,
}

/// How much there is to erase of sessions that ended before `older_than`. For the operator of the machine.
///
/// # Errors
/// [`Error::Invalid`] for a moment less than a day ago.
pub async fn preview_by_operator(ledger: &Ledger, older_than: Timestamp) -> Result<Erased> {
    check(ledger, older_than)?;
    let mut found = Erased::default();
    let mut after = None;
    loop {
        let due = due(ledger, older_than, after).await?;
        let Some(last) = due.last() else { return Ok(found) };
        after = Some((last.tenant_id, last.session_id));
        found.sessions += due.len() as u64;
        found.events += due.iter().map(|due| due.head_sequence).sum::<u64>();
    }
}

/// Erases the content of sessions that ended before `older_than`, in every workspace, and takes it out of the database's
/// file. `progress` is called with the sums so far. A run that was stopped is continued by the next.
///
/// # Errors
/// [`Error::Invalid`] for a moment less than a day ago.
pub async fn erase_by_operator(
    ledger: &Ledger,
    key: &InstanceKey,
    older_than: Timestamp,
    mut progress: impl FnMut(&Erased),
) -> Result<Erased> {
    check(ledger, older_than)?;
    let mut erased = Erased::default();
    let mut after = None;
    loop {
        let due = due(ledger, older_than, after).await?;
        let Some(last) = due.last() else { break };
        after = Some((last.tenant_id, last.session_id));
        for due in due {
            erased.events += erase(ledger, key, due, older_than).await?;
            erased.sessions += 1;
            progress(&erased);
        }
    }
    let forgotten = ledger.store().write::<_, Error, _>(Access::Retention, move |tx| {
        Box::pin(async move { Ok(store::retention::forget_messages(tx, older_than).await?) })
    });
    erased.messages = forgotten.await?;
    ledger.store().scrub().await?;
    Ok(erased)
}

/// How each of these sessions stands, of any workspace: for files beside the ledger that quote them. For the operator of the
/// machine.
///
/// # Errors
/// When the database cannot be read.
pub async fn erasure_states_by_operator(
    ledger: &Ledger,
    sessions: Vec<(TenantId, SessionId)>,
) -> Result<Vec<ErasureState>> {
    let read = ledger.store().read(Access::System, move |conn| {
        Box::pin(async move {
            let mut standings = Vec::with_capacity(sessions.len());
            for (tenant_id, session_id) in sessions {
                standings.push(store::retention::erasure_state(conn, tenant_id, session_id).await?);
            }
            Ok(standings)
        })
    });
    Ok(read.await?)
}

fn check(ledger: &Ledger, older_than: Timestamp) -> Result<()> {
    if older_than > ledger.now() - AGE_MIN {
        return Err(Error::invalid("before", "must be a day ago or earlier"));
    }
    Ok(())
}

async fn due(ledger: &Ledger, older_than: Timestamp, after: Option<(TenantId, SessionId)>) -> Result<Vec<Due>> {
    let read = ledger
        .store()
        .read(Access::System, move |conn| Box::pin(store::retention::due(conn, older_than, after, SESSIONS)));
    Ok(read.await?)
}

/// In short transactions, so that a long log holds nobody up. Which of them were done does not matter to the next run.
async fn erase(ledger: &Ledger, key: &InstanceKey, due: Due, older_than: Timestamp) -> Result<u64> {
    let begun_at = ledger.now();
    let read = ledger
        .store()
        .read(Access::System, move |conn| Box::pin(store::session::find(conn, due.tenant_id, due.session_id)));
    let session = read.await?.ok_or(Error::NotFound("session"))?;
    let erased = store::retention::without_content(session);
    let unsealed = ErasureRecord {
        head_sequence: due.head_sequence,
        head_digest: due.head_digest,
        older_than: domain::clock::truncate(older_than),
        begun_at,
        seal: Digest::GENESIS,
        row_digest: Some(final_row::digest_of(&erased)),
        finished_at: None,
    };
    let erasure = ErasureRecord { seal: seal(key, due.tenant_id, due.session_id, &unsealed), ..unsealed };
    let begun = ledger.store().write::<_, Error, _>(Access::Retention, move |tx| {
        Box::pin(async move { Ok(store::retention::begin(tx, &due, &erasure).await?) })
    });
    begun.await?;
    let mut events = 0;
    let mut after = 0;
    while after < due.head_sequence {
        let to = due.head_sequence.min(after + ERASED_AT_ONCE);
        let some = ledger.store().write::<_, Error, _>(Access::Retention, move |tx| {
            Box::pin(async move { Ok(store::retention::erase_events(tx, &due, after, to).await?) })
        });
        events += some.await?;
        after = to;
    }
    let finished = ledger.store().write::<_, Error, _>(Access::Retention, move |tx| {
        Box::pin(async move { Ok(store::retention::finish(tx, &due, &erased, begun_at).await?) })
    });
    finished.await?;
    Ok(events)
}

/// Whether this installation's key sealed the erasure.
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
    let parts: [&[u8]; 7] = [
        tenant_id.0.as_bytes(),
        session_id.0.as_bytes(),
        &erasure.head_sequence.to_be_bytes(),
        &erasure.head_digest.0,
        &to_micros(erasure.older_than).to_be_bytes(),
        &to_micros(erasure.begun_at).to_be_bytes(),
        // Erasures of earlier versions have none, and are sealed without it.
        row_digest.as_ref().map_or(&[], |digest| &digest[..]),
    ];
    Digest(key.derive("erasure", &parts))
}
