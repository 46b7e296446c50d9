//! Rows of `session_feedback`.

use crate::engine::{Error, Result, record};
use domain::{
    Timestamp,
    id::UserId,
    session_feedback::{Label, Surface},
};
use uuid::Uuid;

/// A person's rating of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackRecord {
    /// Random id.
    pub id: Uuid,
    /// MAC of the session's id with the instance's key: 64 hexadecimal digits.
    pub session_id_opaque: String,
    /// The person who rated; `None` if that is not stored.
    pub user_id_or_null: Option<UserId>,
    /// Time of the rating (UTC), in microseconds.
    pub recorded_at: Timestamp,
    /// The rating: positive, negative or skip.
    pub label: Label,
    /// Number of turns that the session had.
    pub turn_count_at_end: u64,
    /// Where the person was asked.
    pub source: Surface,
    /// Version of this record's format.
    pub schema_version: u32,
}

record! {
    pub(super) struct Row of "session_feedback" {
        id: Uuid,
        session_id_opaque: String,
        user_id_or_null: Option<Uuid>,
        recorded_at: String,
        label: String,
        turn_count_at_end: i64,
        source: String,
        schema_version: i64,
    }
}

impl TryFrom<Row> for FeedbackRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("session_feedback", column, value);
        Ok(Self {
            id: row.id,
            user_id_or_null: row.user_id_or_null.map(UserId),
            recorded_at: row.recorded_at.parse().map_err(|_| bad("recorded_at", &row.recorded_at))?,
            label: Label::parse(&row.label).ok_or_else(|| bad("label", &row.label))?,
            turn_count_at_end: u64::try_from(row.turn_count_at_end)
                .map_err(|_| bad("turn_count_at_end", &row.turn_count_at_end))?,
            source: Surface::parse(&row.source).ok_or_else(|| bad("source", &row.source))?,
            schema_version: u32::try_from(row.schema_version)
                .map_err(|_| bad("schema_version", &row.schema_version))?,
            session_id_opaque: row.session_id_opaque,
        })
    }
}
