//! Checking everything that can be checked: the hash chain of every session, and that each row says what its log says.

mod roll;
mod session;

use crate::{Error, InstanceKey, Ledger, Result};
use domain::id::{SessionId, TenantId};
use session::Checked;
use store::{Access, verify::Listed};

/// Sessions read at once.
const SESSIONS: u32 = 500;

/// What a verification found.
#[derive(Debug, Clone, Default)]
pub struct Verified {
    /// Sessions walked.
    pub sessions: u64,
    /// Events checked.
    pub events: u64,
    /// Of these, those whose content retention erased.
    pub erased: u64,
    /// Final sessions whose row is not bound by their log, because they ended, or were erased, under an earlier version.
    pub unbound: u64,
    /// Sessions that the rolls of the workspaces have.
    pub rolled: u64,
    /// Whether erasures were taken at their word, because there was no key to check their seals with.
    pub is_unsealed: bool,
    /// The first bad place of a session's log and what is wrong there.
    pub bad: Option<(SessionId, u64, String)>,
    /// What else is wrong, each with its place: the file, values, rolls. When there is any, no session was walked.
    pub problems: Vec<String>,
    /// Whether the pages of the database file were checked. Those of PostgreSQL are not.
    pub has_checked_pages: bool,
}

/// Walks every session of every workspace in key order and stops at the first bad one. `progress` is called with the
/// counts so far. With the installation's `key` an erasure has to be sealed with it.
pub async fn all(ledger: &Ledger, key: Option<&InstanceKey>, mut progress: impl FnMut(&Verified)) -> Result<Verified> {
    let store = ledger.store();
    store.check_schema().await?;
    let mut verified = Verified { has_checked_pages: !store.is_postgres(), ..Verified::default() };
    verified.problems = problems(ledger).await?;
    // A session that is gone is named, not only what refers to it.
    match roll::check(ledger).await {
        Ok((rolled, missing)) => {
            verified.rolled = rolled;
            verified.problems.extend(missing);
        }
        // A damaged page may be one that holds the roll.
        Err(_) if !verified.problems.is_empty() => {}
        Err(error) => return Err(error),
    }
    if !verified.problems.is_empty() {
        return require_unchanged(ledger, verified);
    }
    // ListQuery first: from then on each session is known.
    let is_filled = store.read(Access::System, |conn| Box::pin(store::roll::is_filled(conn))).await?;
    let mut after = None;
    loop {
        let sessions = ledger
            .store()
            .read(Access::System, move |conn| Box::pin(store::verify::sessions(conn, after, SESSIONS)))
            .await?;
        let Some(last) = sessions.last() else { break };
        after = Some((last.tenant_id, last.session_id));
        for Listed { tenant_id, session_id: id, is_known } in sessions {
            let checked = check(ledger, key, tenant_id, id).await?;
            verified.sessions += 1;
            verified.events += checked.events;
            verified.erased += checked.erased;
            verified.unbound += u64::from(checked.is_unbound);
            verified.is_unsealed |= checked.is_unsealed;
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

/// What is wrong with values and with the database file.
async fn problems(ledger: &Ledger) -> Result<Vec<String>> {
    let store = ledger.store();
    let mut pages = store.read(Access::System, |conn| Box::pin(store::verify::file(conn))).await?;
    pages.extend(store.check_feedback_file()?);
    match store.read(Access::System, |conn| Box::pin(store::verify::unknown(conn))).await {
        // Values first: they say which row it is.
        Ok(values) => Ok(values.into_iter().chain(pages).collect()),
        // A damaged page may be one that holds them.
        Err(_) if !pages.is_empty() => Ok(pages),
        Err(error) => Err(error.into()),
    }
}

/// The result, unless a server began to write on a file that was read as one that does not change.
fn require_unchanged(ledger: &Ledger, verified: Verified) -> Result<Verified> {
    if ledger.store().has_changed() {
        return Err(Error::Unavailable("a server began to write during the check: check again".into()));
    }
    Ok(verified)
}

/// Checks a session. One that looks bad is checked again before it is called so: retention may have begun on it between
/// two of the reads.
async fn check(ledger: &Ledger, key: Option<&InstanceKey>, tenant_id: TenantId, id: SessionId) -> Result<Checked> {
    let checked = session::check(ledger, key, tenant_id, id).await?;
    if checked.bad.is_none() { Ok(checked) } else { session::check(ledger, key, tenant_id, id).await }
}
