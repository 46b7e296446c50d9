//! New sessions that refer to nothing: one round trip on PostgreSQL for all that wait together.
//!
//! Such a session has no action, no entity, no relation to another session and no idempotency key, so nothing is read
//! before it is written by the function `shiftbook_create`.

use super::write::{channel_of, extend};
use crate::{
    engine::{Access, Error, Result, spanned, statements},
    event::{NewRow, Notice, PreparedEvent, bind_rows},
};
use domain::{clock::to_micros, session::Session};
use sqlx::PgConnection;

statements! {
    /// Parameters: workspace and person; the columns of the sessions; the columns of the events.
    const CREATE_POSTGRES: &str = "SELECT shiftbook_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
         $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34)";
}

/// A new session that refers to nothing, with its first events.
#[derive(Debug)]
pub struct PlainCreation {
    /// The session, without a head. It was never claimed.
    pub session: Session,
    /// Its first events, oldest first.
    pub events: Vec<PreparedEvent>,
}

/// Inserted sessions with their notices; `None` if the database refused one of them, so that none was inserted.
pub(crate) type CreatedSessions = Option<Vec<(Session, Notice)>>;

/// Inserts sessions of one workspace in a transaction of their own. Returns them with their heads, in their order.
///
/// # Errors
/// Those after which it is not known whether the sessions were inserted.
pub(crate) async fn create_together(
    connection: &mut PgConnection,
    access: Access,
    wanted: Vec<PlainCreation>,
) -> Result<CreatedSessions> {
    let Access::Tenant { tenant_id, user_id } = access else { return Ok(None) };
    let (mut sessions, mut rows, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for PlainCreation { mut session, events } in wanted {
        let (actor, at) = (session.created_by.clone(), session.created_at);
        rows.extend(extend(&mut session, &events, None, &actor, at));
        counts.push(events.len());
        sessions.push(session);
    }
    macro_rules! column {
        ($value:expr) => {
            sessions.iter().map($value).collect::<Vec<_>>()
        };
    }
    let query = sqlx::query(CREATE_POSTGRES)
        .bind(tenant_id.0)
        .bind(user_id.map(|id| id.0))
        .bind(column!(|s| s.id.0))
        .bind(column!(|s| s.session_type.as_str()))
        .bind(column!(|s| s.status().as_str()))
        .bind(column!(|s| s.agent_slug.as_deref()))
        .bind(column!(|s| s.user_id.map(|id| id.0)))
        .bind(column!(|s| s.title.as_str()))
        .bind(column!(|s| s.input.as_deref()))
        .bind(column!(|s| s.metadata.as_str()))
        .bind(column!(|s| s.created_by.as_str()))
        .bind(column!(|s| i64::from(s.attempts_max)))
        .bind(column!(|s| s.head_sequence.cast_signed()))
        .bind(column!(|s| &s.head_digest.0[..]))
        .bind(column!(|s| to_micros(s.created_at)))
        .bind(column!(|s| to_micros(s.updated_at)))
        .bind(column!(|s| s.queued_at.map(to_micros)))
        .bind(column!(channel_of));
    let query = bind_rows(query, &rows);
    let inserted = spanned!(CREATE_POSTGRES, execute, query.execute(connection).await.map(|done| done.rows_affected()));
    if let Err(error) = inserted {
        if error.as_database_error().is_none() || !Error::from(&error).is_of_item() {
            return Err(error.into());
        }
        tracing::warn!(%error, sessions = sessions.len(), "new sessions are tried one by one");
        return Ok(None);
    }
    let mut records = rows.into_iter().map(|NewRow { record, .. }| record);
    let announced = |(session, count): (Session, usize)| {
        let notice = Notice::of_change(&session, records.by_ref().take(count).collect());
        (session, notice)
    };
    Ok(Some(sessions.into_iter().zip(counts).map(announced).collect()))
}
