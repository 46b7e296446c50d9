//! Output contracts: checks a result against its action's contract and writes it to entities.

mod plan;
mod schema;
mod target;
mod violation;
mod write_back;

pub(crate) use schema::{check_schema, form_errors, pointer_errors};
pub(crate) use target::{Taken, target};
pub(crate) use violation::{CODE, Refused, refusal, refuse, sentence};
pub(crate) use write_back::{WriteBack, Written, awaits_approval, write_back};

use crate::{ActionRecord, Result};
use domain::{
    id::TenantId,
    issue::Issue,
    limit::{OUTPUT_ERROR_CHARS_MAX, OUTPUT_ERRORS_MAX},
    output::{read, shape},
    session::Session,
};
use serde_json::Value;
use store::Conn;

/// A value, or all errors of a result.
type Checked<T> = std::result::Result<T, Vec<Issue>>;

/// Returns all errors of a result under its action's contract. Empty if the result fulfils the contract.
pub(crate) async fn check(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action: &ActionRecord,
    session: &Session,
    result: Option<&str>,
) -> Result<Vec<Issue>> {
    let result = match result.map(serde_json::from_str::<Value>).transpose() {
        Ok(result) => result,
        Err(error) => return Ok(vec![Issue::new("result", format!("not readable as JSON: {error}"))]),
    };
    let checked = plan::plan(conn, tenant_id, action, session, result.as_ref()).await?;
    let mut errors = checked.err().unwrap_or_default();
    errors.truncate(OUTPUT_ERRORS_MAX);
    shorten_all(&mut errors);
    Ok(errors)
}

/// Truncates the names and messages of errors.
pub(crate) fn shorten_all(errors: &mut [Issue]) {
    for error in errors {
        shorten(&mut error.field);
        shorten(&mut error.message);
    }
}

/// Truncates names and messages, which may quote long texts of an agent.
fn shorten(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(OUTPUT_ERROR_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
}
