//! Results that violate their contract. The first one of an attempt is returned to the worker, and so is each repeat
//! of it. Another one fails the session.

use crate::{
    Error, Result,
    commit::{Change, state, write},
};
use domain::{
    event::kind::{Failure, Payload, Refusal, SessionError, Violation},
    gate::canonical_digest,
    issue::Issue,
    limit::{OUTPUT_REFUSED_BYTES_MAX, REASON_CHARS_MAX},
    session::{Command, Report, Session, decide},
};
use serde_json::json;
use store::WriteTx;

/// The error code of the session and its events after a violation.
pub(crate) const CODE: &str = "output_invalid";

/// The consequence of a violation.
pub(crate) struct Refused {
    errors: Vec<Issue>,
    failed: bool,
}

impl From<Refused> for Error {
    fn from(Refused { errors, failed }: Refused) -> Self {
        Self::OutputInvalid { errors, failed }
    }
}

/// Records a result that violates its contract. `change` is the completion that the worker sent. A repeat of the first
/// violation of this attempt is refused again and not recorded: the worker may not have received the first answer.
///
/// The caller must commit the transaction before it returns the refusal to the worker.
pub(crate) async fn refuse(
    tx: &mut WriteTx<'_>,
    before: Session,
    mut change: Change,
    (result, usage): (Option<&str>, Option<String>),
    errors: Vec<Issue>,
) -> Result<Refused> {
    // The event has an external id, so that the log shows whether this attempt was warned.
    let warning = format!("output-refused-{}", before.attempt);
    let warned = store::event::metadata_of_external(tx.conn(), before.tenant_id, before.id, &warning).await?;
    let digest = canonical_digest(&json!([result, usage.as_deref()])).to_string();
    if warned.as_deref().is_some_and(|warned| is_of(warned, &digest)) {
        return Ok(Refused { errors, failed: false });
    }
    let text = sentence(&errors);
    let refusal = Refusal { report_digest: Some(digest), ..refusal(before.attempt, result, &errors) };
    let refusal = SessionError::new(&text, Failure::Refused(refusal));
    let mut event = change.minter.event(&refusal);
    if warned.is_none() {
        event.external_event_id = Some(warning);
        // The caller has decided that the worker may report: the session may be idle, where it appends nothing else.
        let (attempt, actor, at) = (Some(before.attempt), change.caller.to_string(), change.minter.at());
        store::session::save(tx, &before, &mut before.clone(), &[event], attempt, &actor, at).await?;
        return Ok(Refused { errors, failed: false });
    }
    let transition = decide(state(&before), change.actor, Command::Fail)?;
    change.reason = "its result broke the output contract twice".into();
    let report = Report { usage, ..Report::error(text, CODE) };
    write(tx, before, transition, change, vec![event], report).await?;
    Ok(Refused { errors, failed: true })
}

/// Returns whether the recorded refusal is of the report with this digest. Refusals of earlier versions have no digest:
/// they are of no report that can be recognised.
fn is_of(refusal: &str, digest: &str) -> bool {
    let recorded = SessionError::read("[]", refusal).map(|error| error.failure);
    matches!(recorded, Some(Failure::Refused(Refusal { report_digest: Some(found), .. })) if found == digest)
}

/// What a result violates, for people.
pub(crate) fn sentence(errors: &[Issue]) -> String {
    let named: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
    let text = format!("the result breaks its output contract: {}", named.join("; "));
    text.chars().take(REASON_CHARS_MAX).collect()
}

/// The refusal of a result, as it is recorded.
pub(crate) fn refusal(attempt: u32, result: Option<&str>, errors: &[Issue]) -> Refusal {
    let errors = errors.iter().map(|e| Violation { field: e.field.clone(), message: e.message.clone() }).collect();
    let (mut value, mut bytes) = (None, None);
    match result {
        Some(result) if result.len() <= OUTPUT_REFUSED_BYTES_MAX => {
            value = Some(serde_json::from_str(result).unwrap_or_default());
        }
        Some(result) => bytes = Some(result.len()),
        None => {}
    }
    Refusal { code: CODE.into(), attempt, errors, result: value, result_bytes: bytes, report_digest: None }
}
