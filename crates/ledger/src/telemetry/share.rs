//! The numbers that a workspace shares.

use super::opt_in::state_by_operator;
use crate::{
    Ledger, Result,
    relevance::{Place, rows_by_operator},
};
use domain::{
    relevance::Row,
    telemetry::{SharedSession, share},
};

/// Rows that are read at once.
const ROWS: u32 = 1_000;
/// Most rows of one session that are shared together. Later rows are shared as another session.
const SESSION_ROWS: usize = 5_000;

/// A part of what a workspace shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// Whole sessions, in the order of their ids.
    pub sessions: Vec<SharedSession>,
    /// The rows that were read last, of a session that may go on, and where to read on; `None` at the end.
    pub next: Option<(Vec<Row>, Place)>,
}

/// Returns a part of the numbers of the workspace with this slug: the first, or the one after `next`. Empty if the
/// workspace does not share them.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such workspace; [`crate::Error::NoInstanceKey`] without a key.
pub async fn share_by_operator(ledger: &Ledger, workspace: &str, next: Option<(Vec<Row>, Place)>) -> Result<Shared> {
    if !state_by_operator(ledger, workspace).await?.shares() {
        return Ok(Shared { sessions: Vec::new(), next: None });
    }
    let (mut rows, place) = next.unwrap_or_default();
    let (read, last) = rows_by_operator(ledger, workspace, place, ROWS).await?;
    rows.extend(read);
    let Some(last) = last else { return Ok(Shared { sessions: shared(&rows), next: None }) };
    let newest = rows.last().map(|row| row.session_hmac.clone()).unwrap_or_default();
    let begin = rows.iter().position(|row| row.session_hmac == newest).unwrap_or_default();
    // A session of many prompts would be read to its end otherwise.
    let begin = if rows.len() - begin > SESSION_ROWS { rows.len() } else { begin };
    let open = rows.split_off(begin);
    Ok(Shared { sessions: shared(&rows), next: Some((open, last)) })
}

fn shared(rows: &[Row]) -> Vec<SharedSession> {
    rows.chunk_by(|one, other| one.session_hmac == other.session_hmac).map(share).collect()
}
