//! Results that violate their contract. The first one of an attempt is returned to the worker, and so is each repeat
//! of it. Another one fails the session.

use crate::{
    Error, Result,
    commit::{Change, state, write},
};
use domain::{
    event::Kind,
    gate::canonical_digest,
    issue::Issue,
    limit::{OUTPUT_REFUSED_BYTES_MAX, REASON_CHARS_MAX},
    session::{Command, Report, Session, decide},
};
use serde_json::{Value, json};
use store::WriteTx;

/// The error code of the session and its events after a violation.
const CODE: &str = "output_invalid";

/// The key in the metadata of a refusal that holds the digest of the refused report.
const REPORT_DIGEST: &str = "reportDigest";

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
    let mut metadata = metadata(before.attempt, result, &errors);
    metadata[REPORT_DIGEST] = json!(digest);
    let mut event = change.factory.event(Kind::SESSION_ERROR, Some(&text), &metadata)?;
    if warned.is_none() {
        event.external_event_id = Some(warning);
        // The caller has decided that the worker may report: the session may be idle, where it appends nothing else.
        let (attempt, actor, at) = (Some(before.attempt), change.caller.to_string(), change.factory.at());
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
    serde_json::from_str::<Value>(refusal).is_ok_and(|metadata| metadata[REPORT_DIGEST] == digest)
}

fn sentence(errors: &[Issue]) -> String {
    let named: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
    let text = format!("the result breaks its output contract: {}", named.join("; "));
    text.chars().take(REASON_CHARS_MAX).collect()
}

fn metadata(attempt: u32, result: Option<&str>, errors: &[Issue]) -> Value {
    let errors: Vec<Value> = errors.iter().map(|e| json!({ "field": e.field, "message": e.message })).collect();
    let mut metadata = json!({ "code": CODE, "attempt": attempt, "errors": errors });
    match result {
        Some(result) if result.len() <= OUTPUT_REFUSED_BYTES_MAX => {
            metadata["result"] = serde_json::from_str(result).unwrap_or(Value::Null);
        }
        Some(result) => metadata["resultBytes"] = json!(result.len()),
        None => {}
    }
    metadata
}
