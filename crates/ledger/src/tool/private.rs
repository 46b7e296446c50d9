//! Private values of the inputs of runs. They are encrypted with a key that is derived from the instance key for one
//! session, and deleted when the session ends.

use crate::{
    Error, Ledger, Result,
    instance_key::{InstanceKey, SealNonce},
};
use domain::{
    Scope,
    id::{SessionId, TenantId},
    session::Session,
    tool::run::{ToolRun, put_private},
};
use serde_json::Value;
use store::Conn;

const PURPOSE: &str = "tool input";

/// Encrypts private values with their JSON Pointers.
///
/// # Errors
/// [`Error::Internal`] if they cannot be encrypted.
pub(crate) fn seal_private(
    key: &InstanceKey,
    (tenant_id, id): (TenantId, SessionId),
    nonce: SealNonce,
    private: &[(String, Value)],
) -> Result<Vec<u8>> {
    let text = serde_json::to_vec(private).map_err(|error| Error::Internal(error.to_string()))?;
    let sealed = key.seal(PURPOSE, &[tenant_id.0.as_bytes(), id.0.as_bytes()], nonce, &text);
    sealed.ok_or_else(|| Error::Internal("private values cannot be encrypted".to_owned()))
}

/// Puts the private values back into the input of a session that was claimed. Other sessions stay as they are.
///
/// # Errors
/// [`Error::NoInstanceKey`] if there are private values and no key; [`Error::NotNow`] if they were encrypted with
/// another key.
pub(crate) async fn with_private(ledger: &Ledger, scope: &Scope, session: Session) -> Result<Session> {
    if !ToolRun::of_session(&session).is_some_and(|run| run.has_private_input) {
        return Ok(session);
    }
    let (tenant_id, id) = (session.tenant_id, session.id);
    let read =
        ledger.store().read(scope.into(), async move |conn| store::tool_run::find_private(conn, tenant_id, id).await);
    // The session can have ended since it was claimed.
    let Some(sealed) = read.await? else { return Ok(session) };
    let input = opened(ledger.instance_key()?, &session, &sealed)?;
    Ok(Session { input: Some(input.to_string()), ..session })
}

/// Returns the input of a run with its private values, in the transaction that uses it.
///
/// # Errors
/// Those of [`with_private`].
pub(crate) async fn whole_input(conn: &mut Conn<'_>, session: &Session, key: Option<&InstanceKey>) -> Result<Value> {
    let has_private_input = ToolRun::of_session(session).is_some_and(|run| run.has_private_input);
    if has_private_input
        && let Some(sealed) = store::tool_run::find_private(conn, session.tenant_id, session.id).await?
    {
        return opened(key.ok_or(Error::NoInstanceKey)?, session, &sealed);
    }
    Ok(public_input(session))
}

fn public_input(session: &Session) -> Value {
    session.input.as_deref().and_then(|input| serde_json::from_str(input).ok()).unwrap_or_default()
}

/// The input of a session with the values that are encrypted beside it.
fn opened(key: &InstanceKey, session: &Session, sealed: &[u8]) -> Result<Value> {
    let of: [&[u8]; 2] = [session.tenant_id.0.as_bytes(), session.id.0.as_bytes()];
    let opened = key.open(PURPOSE, &of, sealed);
    let private = opened.and_then(|text| serde_json::from_slice::<Vec<(String, Value)>>(&text).ok());
    let private = private.ok_or(Error::NotNow("the private values of this run were encrypted with another key"))?;
    let mut input = public_input(session);
    put_private(&mut input, private);
    Ok(input)
}
