//! Structs that are read from rows, and how their fields are stored in columns.

use super::error::Error;
use domain::{
    Timestamp, action, canvas, chain::Digest, clock::from_micros, criteria_set::Dimension, entity, failure,
    feedback_request, gate, id, interaction, mcp, memory, memory_writer, notification, outcome, paced_run, role, rule,
    session, share_link, tool, view,
};
use rusqlite::{
    Row,
    types::{FromSql, Type},
};
use sqlx::{Row as _, postgres::PgRow};
use uuid::Uuid;

/// A value that is read from a column.
pub(crate) trait Column: Sized {
    /// What both drivers read.
    type Stored: FromSql + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>;

    /// Makes the value from what is stored. `Err` says what the column is if nothing writes that.
    fn load(stored: Self::Stored) -> Result<Self, String>;
}

fn load<T: Column>(table: &str, column: &str, stored: T::Stored) -> Result<T, Box<Error>> {
    T::load(stored).map_err(|what| Box::new(Error::Inconsistent(format!("{table}.{column} is {what}"))))
}

/// Reads a field of a record.
pub(crate) fn from_postgres<T: Column>(table: &str, column: &str, row: &PgRow) -> Result<T, sqlx::Error> {
    load(table, column, row.try_get(column)?).map_err(|error| sqlx::Error::Decode(error))
}

/// Reads a field of a record, which is at this place in the row.
pub(crate) fn from_sqlite<T: Column>(table: &str, column: &str, row: &Row<'_>, place: usize) -> rusqlite::Result<T> {
    load(table, column, row.get(place)?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(place, Type::Null, error))
}

/// Declares a struct that is read from rows of both engines by the names of its fields, which are [`Column`]s. A row
/// with a value that nothing writes is an [`Error::Inconsistent`] that names the table after `of` and the column.
macro_rules! record {
    ($(#[$meta:meta])* $vis:vis struct $name:ident of $table:literal {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty),+ $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$field_meta])* $field_vis $field: $type),+ }

        impl sqlx::FromRow<'_, sqlx::postgres::PgRow> for $name {
            fn from_row(row: &sqlx::postgres::PgRow) -> std::result::Result<Self, sqlx::Error> {
                Ok(Self { $($field: $crate::engine::from_postgres($table, stringify!($field), row)?),+ })
            }
        }

        impl $crate::engine::FromSqlite for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),+];
            fn read(row: &rusqlite::Row<'_>, at: &[usize]) -> rusqlite::Result<Self> {
                let mut at = at.iter().copied();
                let mut next = || at.next().ok_or(rusqlite::Error::InvalidQuery);
                Ok(Self { $($field: $crate::engine::from_sqlite($table, stringify!($field), row, next()?)?),+ })
            }
        }
    };
}
pub(crate) use record;

impl<T: Column> Column for Option<T> {
    type Stored = Option<T::Stored>;

    fn load(stored: Self::Stored) -> Result<Self, String> {
        stored.map(T::load).transpose()
    }
}

/// Implements [`Column`] for types that are stored alike: `column!(Type, … => Stored: stored => what load returns)`.
macro_rules! column {
    ($($type:ty),+ => $stored:ty: $value:ident => $load:expr) => {$(
        impl Column for $type {
            type Stored = $stored;

            fn load($value: $stored) -> Result<Self, String> {
                $load
            }
        }
    )+};
}

column!(bool, i64, f64, String, Vec<u8>, Uuid => Self: stored => Ok(stored));
column!(u32, u64 => i64: stored => Self::try_from(stored).map_err(|_| stored.to_string()));
column!(Timestamp => i64: micros => Ok(from_micros(micros)));
column!(Digest => Vec<u8>: bytes => Self::from_slice(&bytes).ok_or_else(|| bytes.len().to_string()));
column!(
    id::ActionId, id::BrowserSessionId, id::CardId, id::CauseId, id::SavedSearchId, id::CriteriaSetId, id::EntityId, id::EntityTypeId,
    id::EventId, id::FeedbackRequestId, id::GateId, id::ImportId, id::InteractionId, id::LinkId, id::MemoryDocumentId,
    id::MemoryVersionId, id::MessageId, id::PacedRunId, id::RequestAnswerId, id::RuleId, id::SessionId, id::ShareLinkId, id::TenantId, id::TokenId, id::ToolId, id::ToolLinkId, id::McpServerId,
    id::UserId,
    id::ViewId, id::ViewLinkId, id::WebhookId => Uuid: id => Ok(Self(id))
);
// Values that have one name each.
column!(
    action::ActionStatus, action::OutputType, canvas::ParticipantRole, canvas::SuggestionState, entity::ImportStatus, failure::cause::CauseState,
    feedback_request::OnExpiry, feedback_request::Outcome, feedback_request::RequestState, feedback_request::RespondentKind, gate::GateState,
    gate::Verdict, interaction::ExportState, interaction::Feedback, memory::Operation, memory::Source,
    memory_writer::run::RunCause, memory_writer::run::RunState, notification::DeliveryMethod, notification::Topic,
    outcome::Outcome, paced_run::Outcome, paced_run::State, role::Role, role::TokenScope, rule::State, rule::SuspendedWhy, share_link::Audience, session::EndReason, session::IfDependencyFails, session::Status,
    tool::composition::StepState, view::Gate, view::State => String: name => Self::parse(&name).ok_or_else(|| format!("{name:?}"))
);
// JSON. It can be long and private, so an error does not show it.
column!(
    entity::Values, rule::Definition, tool::Definition, tool::draft::Draft, view::Publication, Vec<Dimension>, Vec<entity::Column>, Vec<entity::FieldDef>, mcp::Definition, mcp::Listing,
    Vec<entity::RowError>, Vec<memory::Evidence>, Vec<notification::Topic>, Vec<view::Field>
        => String: json => serde_json::from_str(&json).map_err(|_| "not the JSON that is written there".to_owned())
);
