//! Suggestions for canvases in the inbox of one person: those that the person may decide, and those that they decided.

use crate::engine::{Conn, Result, record, run, statements};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, UserId},
};

/// The suggestions of canvases that have not ended and that a person may change: as the creator, or as a participant
/// with the role `edit`.
macro_rules! waiting {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM canvas_suggestions g \
             JOIN sessions s ON s.tenant_id = g.tenant_id AND s.id = g.session_id \
             WHERE g.tenant_id = $1 AND g.state = 'open' AND s.status = 'running' \
             AND (s.created_by = $2 OR s.user_id = $3 OR EXISTS (SELECT 1 FROM canvas_participants p \
             WHERE p.tenant_id = g.tenant_id AND p.session_id = g.session_id AND p.participant = $2 \
             AND p.role = 'edit')) ",
            $rest
        )
    };
}

statements! {
    const WAITING: &str =
        waiting!("g.session_id, g.op_id", "ORDER BY g.at, g.session_id, g.op_id LIMIT $4");
    const COUNT: &str = concat!("SELECT COUNT(*) FROM (", waiting!("1 AS one", "LIMIT $4"), ") AS waiting");
    const DECIDED: &str = "SELECT g.session_id, g.op_id FROM canvas_suggestions g \
         JOIN sessions s ON s.tenant_id = g.tenant_id AND s.id = g.session_id \
         WHERE g.tenant_id = $1 AND g.decided_by = $2 AND g.decided_at > $3 AND s.status = 'running' \
         ORDER BY g.decided_at DESC, g.session_id, g.op_id LIMIT $4";
}

record! {
    /// The name of a suggestion.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SuggestionKey of "canvas_suggestions" {
        /// Session of the canvas.
        pub session_id: SessionId,
        /// Id that its author gave it.
        pub op_id: String,
    }
}

type One<T> = (T,);

/// The suggestions that a person may decide, oldest first, at most `max`.
pub async fn waiting_for(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (user_id, actor): (UserId, &str),
    max: u32,
) -> Result<Vec<SuggestionKey>> {
    Ok(run!(conn, fetch_all SuggestionKey, WAITING, tenant_id.0, actor, user_id.0, i64::from(max))?)
}

/// Number of the suggestions that a person may decide. Counting stops at `at_most`.
pub async fn count(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (user_id, actor): (UserId, &str),
    at_most: u32,
) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, COUNT, tenant_id.0, actor, user_id.0, i64::from(at_most))?;
    Ok(count.max(0).cast_unsigned())
}

/// The suggestions that an editor accepted or declined since a time, the newest decision first, at most `max`. Those of
/// canvases that have ended are left out.
pub async fn decided_by(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    actor: &str,
    since: Timestamp,
    max: u32,
) -> Result<Vec<SuggestionKey>> {
    Ok(run!(conn, fetch_all SuggestionKey, DECIDED, tenant_id.0, actor, to_micros(since), i64::from(max))?)
}
