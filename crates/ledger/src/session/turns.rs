//! How many turns a session had.

use crate::{Ledger, Result, SessionRecord, commit::is_thread};
use domain::{Scope, session::Type};

/// How many turns a session had: messages of a person in its log; where there are none, and it is no conversation, the
/// attempts at it.
pub async fn turns(ledger: &Ledger, scope: &Scope, session: &SessionRecord) -> Result<u64> {
    let (tenant_id, id) = (scope.tenant_id, session.id);
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(async move { store::thread::messages(conn, tenant_id, id).await }));
    let messages = read.await?;
    Ok(if messages == 0 && session.session_type == Type::Agent && !is_thread(session) {
        session.attempt.into()
    } else {
        messages
    })
}
