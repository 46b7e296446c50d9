//! One decision about several causes.

use super::decide::{acknowledge, reopen, resolve, snooze};
use crate::{Error, Ledger, Result};
use domain::{Scope, Timestamp, id::CauseId, limit::BULK_CAUSES_MAX};
use std::collections::BTreeSet;

/// What people decide about several causes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CauseDecision {
    /// See [`acknowledge`](super::acknowledge).
    Acknowledge,
    /// See [`snooze`](super::snooze); the end of the snooze (UTC).
    Snooze(Timestamp),
    /// See [`resolve`](super::resolve).
    Resolve,
    /// See [`reopen`](super::reopen).
    Reopen,
}

/// What became of the causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecidedCauses {
    /// Number of causes that have the decision now.
    pub decided: usize,
    /// Number of causes that the workspace does not have, or no longer.
    pub missing: usize,
}

/// Decides the same about several causes, one after the other. A cause that does not exist is left out. A request can
/// be repeated.
///
/// # Errors
/// [`Error::Invalid`] for no or more than [`BULK_CAUSES_MAX`] causes, and for the end of a snooze that one cause could
/// not have; [`Error::Forbidden`] if the caller may not manage sessions of others.
pub async fn decide_many(
    ledger: &Ledger,
    scope: &Scope,
    ids: Vec<CauseId>,
    decision: CauseDecision,
) -> Result<DecidedCauses> {
    let ids: BTreeSet<CauseId> = ids.into_iter().collect();
    if ids.is_empty() || ids.len() > BULK_CAUSES_MAX {
        return Err(Error::invalid("cause", format!("select 1 to {BULK_CAUSES_MAX} causes")));
    }
    let mut result = DecidedCauses { decided: 0, missing: 0 };
    for id in ids {
        let cause = match decision {
            CauseDecision::Acknowledge => acknowledge(ledger, scope, id).await,
            CauseDecision::Snooze(until) => snooze(ledger, scope, id, until).await,
            CauseDecision::Resolve => resolve(ledger, scope, id).await,
            CauseDecision::Reopen => reopen(ledger, scope, id).await,
        };
        match cause {
            Ok(_) => result.decided += 1,
            Err(Error::NotFound(_)) => result.missing += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(result)
}
