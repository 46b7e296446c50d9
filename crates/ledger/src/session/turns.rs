//! Counting the turns of a session.

use crate::{Ledger, Result, commit::is_thread};
use domain::{
    Scope,
    session::{Session, Type},
};
use store::Conn;

/// Returns the number of turns of a session: the messages of a person in its log. An agent session without
/// messages that is not a conversation has one turn for each attempt.
pub async fn turns(ledger: &Ledger, scope: &Scope, session: &Session) -> Result<u64> {
    let session = session.clone();
    ledger.snapshot(scope, async move |conn| turns_on(conn, &session).await).await
}

/// [`turns`] on an open connection.
pub(crate) async fn turns_on(conn: &mut Conn<'_>, session: &Session) -> Result<u64> {
    let messages = store::thread::messages(conn, session.tenant_id, session.id).await?;
    Ok(if messages == 0 && session.session_type == Type::Agent && !is_thread(session) {
        session.attempt.into()
    } else {
        messages
    })
}
