//! Where the lines of a version come from: the check that the events exist, and the lines after secrets were replaced.

use crate::{Error, Result, guard::Fields};
use domain::{
    id::{SessionId, TenantId},
    memory::Evidence,
    memory_writer::channel::Channel,
};
use redact::{Personal, Redactor};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeMap;
use store::WriteTx;

/// Refuses an origin that names more than `sessions_max` sessions, a line that the text does not have, or an event that
/// is not in the log. Incognito sessions are no origin: their turns are not kept. Returns the channels of the
/// sessions.
pub(super) async fn check(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    text: &str,
    evidence: &[Evidence],
    sessions_max: usize,
) -> Result<Vec<Channel>> {
    let lines = text.lines().count();
    let mut fields = Fields::default();
    if evidence.iter().any(|one| one.line == 0 || one.line as usize > lines) {
        fields.refuse("evidence", format!("lines 1 to {lines}"));
    }
    let mut newest: BTreeMap<SessionId, u64> = BTreeMap::new();
    for one in evidence {
        let sequence = newest.entry(one.session).or_default();
        *sequence = (*sequence).max(one.sequence);
        if one.sequence == 0 {
            fields.refuse("evidence", "sequences begin at 1");
        }
    }
    if newest.len() > sessions_max {
        fields.refuse("evidence", format!("at most {sessions_max} sessions"));
    }
    fields.check()?;
    let mut channels = Vec::new();
    for (session, sequence) in newest {
        let found = store::session::find(tx.conn(), tenant_id, session).await?;
        let found = found.filter(|found| found.private_to.is_none() && found.head_sequence >= sequence);
        let missing = || Error::invalid("evidence", format!("session {session} has no event {sequence}"));
        let found = found.ok_or_else(missing)?;
        channels.extend(Channel::of_session(&found.metadata, found.source.as_deref(), found.user_id));
    }
    Ok(channels)
}

/// Returns the text without secrets, and its origin with the numbers of the lines after the replacement.
pub(super) fn redacted(text: String, evidence: Vec<Evidence>) -> Result<(String, Vec<Evidence>)> {
    let failed = |error: redact::InvalidRule| Error::Internal(error.to_string());
    let mut redactor = Redactor::built_in(Personal::default()).map_err(failed)?;
    let clean = redactor.redact(&text).map_err(failed)?.into_owned();
    if clean == text {
        return Ok((text, evidence));
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (text.lines().collect(), clean.lines().collect());
    if old.len() == new.len() {
        return Ok((clean, evidence));
    }
    // A secret of several lines became one line.
    let mut moved = vec![1_u32; old.len() + 1];
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (from, to) = (op.old_range(), op.new_range());
        for (at, line) in from.enumerate() {
            let offset = if matches!(op, DiffOp::Equal { .. }) { at } else { 0 };
            moved[line + 1] = u32::try_from(to.start + offset + 1).unwrap_or(u32::MAX);
        }
    }
    let last = u32::try_from(new.len()).unwrap_or(u32::MAX);
    let place = |line: u32| moved.get(line as usize).copied().unwrap_or(last).clamp(1, last.max(1));
    let mut evidence: Vec<Evidence> =
        evidence.into_iter().map(|one| Evidence { line: place(one.line), ..one }).collect();
    evidence.dedup();
    Ok((clean, evidence))
}
