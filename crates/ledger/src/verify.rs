//! Verifies the rolls, the audit lists, the hash chain of every session, and that each row matches its log.

mod canvas;
mod derived;
mod roll;
mod session;

use crate::{Error, InstanceKey, Ledger, Result, audit};
use domain::id::{SessionId, TenantId};
use session::Checked;
use store::{Access, verify::Listed};

/// Number of sessions that one read returns.
const SESSIONS: u32 = 500;

/// The result of a verification.
#[derive(Debug, Clone, Default)]
pub struct Verified {
    /// Number of sessions verified.
    pub sessions: u64,
    /// Number of events verified.
    pub events: u64,
    /// Number of these events whose content was erased by retention.
    pub erased: u64,
    /// Number of final sessions whose row is not bound by their log, because they ended or were erased under an
    /// earlier version.
    pub unbound: u64,
    /// Number of sessions that have not ended and whose log does not bind what they were created with, because an
    /// earlier version created them.
    pub unbound_open: u64,
    /// Number of sessions in the rolls of all workspaces.
    pub rolled: u64,
    /// Number of audit entries of all workspaces.
    pub audited: u64,
    /// Whether the seals of erasures were not checked, because no instance key was given.
    pub is_unsealed: bool,
    /// Number of sessions whose erasure was sealed with another key than the first one.
    pub other_seals: u64,
    /// The first error in a session: the session, the sequence of its log and the error.
    pub bad: Option<(SessionId, u64, String)>,
    /// Other errors in the file, in values, in gates, in rolls or in audit lists, each with its location. If there are
    /// any, no session is verified.
    pub problems: Vec<String>,
    /// Whether the pages of the database file were checked. Not available for PostgreSQL.
    pub has_checked_pages: bool,
}

/// Verifies every session of every workspace in the order of keys, and stops at the first error. Calls
/// `progress` with the counts so far. If there are `keys`, each erasure must be sealed with one of them.
///
/// # Errors
/// [`Error::Unavailable`] if a server wrote to the file during the check. Errors in the data are in the result.
pub async fn all(ledger: &Ledger, keys: &[InstanceKey], mut progress: impl FnMut(&Verified)) -> Result<Verified> {
    let store = ledger.store();
    store.check_schema().await?;
    let mut verified = Verified { has_checked_pages: !store.is_postgres(), ..Verified::default() };
    verified.problems = problems(ledger).await?;
    // Rolls are checked too, so that a missing session is named itself and not only by references to it.
    match roll::check(ledger).await {
        Ok((rolled, missing)) => {
            verified.rolled = rolled;
            verified.problems.extend(missing);
        }
        // A damaged page may contain the roll.
        Err(_) if !verified.problems.is_empty() => {}
        Err(error) => return Err(error),
    }
    match audit::checked(ledger).await {
        Ok((audited, changed)) => {
            verified.audited = audited;
            verified.problems.extend(changed);
        }
        Err(_) if !verified.problems.is_empty() => {}
        Err(error) => return Err(error),
    }
    if !verified.problems.is_empty() {
        return require_unchanged(ledger, verified);
    }
    // This is read before the sessions: if the roll is filled now, it contains every session listed afterwards.
    let is_filled = store.read_by_operator(Access::System, async |conn| store::roll::is_filled(conn).await).await?;
    let mut after = None;
    loop {
        let sessions = ledger
            .store()
            .read_by_operator(Access::System, async move |conn| store::verify::sessions(conn, after, SESSIONS).await)
            .await?;
        let Some(last) = sessions.last() else { break };
        after = Some((last.tenant_id, last.session_id));
        for Listed { tenant_id, session_id: id, is_known } in sessions {
            let checked = check(ledger, keys, tenant_id, id).await?;
            verified.sessions += 1;
            verified.events += checked.events;
            verified.erased += checked.erased;
            verified.unbound += u64::from(checked.is_unbound);
            verified.unbound_open += u64::from(checked.is_open_unbound);
            verified.is_unsealed |= checked.is_unsealed;
            verified.other_seals += u64::from(checked.has_other_seal);
            let unknown = (is_filled && !is_known).then(|| (0, "it is in no roll of its workspace".to_owned()));
            if let Some((sequence, problem)) = unknown.or(checked.bad) {
                verified.bad = Some((id, sequence, problem));
                return require_unchanged(ledger, verified);
            }
        }
        progress(&verified);
    }
    require_unchanged(ledger, verified)
}

/// Returns errors in values, in gates and in the database file.
async fn problems(ledger: &Ledger) -> Result<Vec<String>> {
    let store = ledger.store();
    let mut pages = store.read_by_operator(Access::System, async |conn| store::verify::file(conn).await).await?;
    pages.extend(store.check_feedback_file()?);
    let values = store.read_by_operator(Access::System, async |conn| {
        let unknown = store::verify::unknown(conn).await?;
        // A gate with an unknown value is impossible too. It is named once.
        if unknown.is_empty() { store::verify::impossible_gates(conn).await } else { Ok(unknown) }
    });
    match values.await {
        // Errors in values come first, because they name the row.
        Ok(values) => Ok(values.into_iter().chain(pages).collect()),
        // A damaged page may contain the values.
        Err(_) if !pages.is_empty() => Ok(pages),
        Err(error) => Err(error.into()),
    }
}

/// Returns the result, unless a server has begun to write to a file that was opened as unchanging.
fn require_unchanged(ledger: &Ledger, verified: Verified) -> Result<Verified> {
    if ledger.store().has_changed() {
        return Err(Error::Unavailable("a server began to write during the check: check again".into()));
    }
    Ok(verified)
}

/// Checks a session. If there is an error, checks it again, because retention may have begun to erase the
/// session between two reads.
async fn check(ledger: &Ledger, keys: &[InstanceKey], tenant_id: TenantId, id: SessionId) -> Result<Checked> {
    let checked = session::check(ledger, keys, tenant_id, id).await?;
    if checked.bad.is_none() { Ok(checked) } else { session::check(ledger, keys, tenant_id, id).await }
}
