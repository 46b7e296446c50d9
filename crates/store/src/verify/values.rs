//! Finds values outside of the closed lists of known values, with the rows that hold them.

use crate::engine::{Conn, Result};
use domain::{
    action::OutputType,
    audit,
    event::EventRole,
    gate::{GateKind, GateState, ReviewerKind, Verdict},
    id::{SessionId, TenantId},
    interaction::ExportState,
    notification::DeliveryMethod,
    role::ROLES,
    session::{EndReason, IfDependencyFails, Status, Type, WaitsFor},
};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// Most rows that are reported for one column.
const NAMED_MAX: usize = 5;

/// A column that holds null or one value of a closed list.
struct Closed {
    table: &'static str,
    key: &'static [&'static str],
    column: &'static str,
    names: Vec<&'static str>,
}

macro_rules! names {
    ($type:ty) => {
        <$type>::ALL.iter().map(|value| value.as_str()).collect()
    };
}

/// All such columns except those of events. Events are too many to be read twice.
fn closed() -> Vec<Closed> {
    const ID: &[&str] = &["tenant_id", "id"];
    let of = |table, key, column, names| Closed { table, key, column, names };
    let roles = || ROLES.iter().map(|role| role.as_str()).collect();
    vec![
        of("memberships", &["tenant_id", "user_id"], "role", roles()),
        of("api_tokens", ID, "role", roles()),
        of("api_tokens", ID, "scope", vec!["worker"]),
        of("actions", ID, "status", vec!["active", "archived"]),
        of("actions", ID, "output_type", names!(OutputType)),
        of("sessions", ID, "session_type", names!(Type)),
        of("sessions", ID, "status", names!(Status)),
        of("sessions", ID, "end_reason", names!(EndReason)),
        of("sessions", ID, "waits_for", names!(WaitsFor)),
        of("session_dependencies", &["tenant_id", "session_id", "position"], "if_fails", names!(IfDependencyFails)),
        of("entity_imports", ID, "status", vec!["running", "completed", "failed"]),
        of("gates", ID, "kind", names!(GateKind)),
        of("gates", ID, "state", names!(GateState)),
        of("gates", ID, "outcome", names!(Verdict)),
        of("gate_reviewers", &["tenant_id", "gate_id", "reviewer_id"], "kind", names!(ReviewerKind)),
        of("gate_decisions", &["tenant_id", "gate_id", "number"], "verdict", names!(Verdict)),
        of("outbox", ID, "channel", names!(DeliveryMethod)),
        of("export_jobs", ID, "state", names!(ExportState)),
        of("audit_entries", &["tenant_id", "sequence"], "kind", names!(audit::Kind)),
        of("audit_entries", &["tenant_id", "sequence"], "target_kind", names!(audit::TargetKind)),
    ]
}

/// The role column of events.
fn of_events() -> Closed {
    let names = [EventRole::User, EventRole::Agent, EventRole::System].iter().map(|role| role.as_str()).collect();
    Closed { table: "session_events", key: &["tenant_id", "session_id", "sequence"], column: "role", names }
}

impl Closed {
    /// The query for rows with another value. It returns the key as one text, and the value.
    fn sql(&self, postgres: bool, and: &str) -> String {
        let text = |column: &str| match postgres {
            true => format!("CAST({column} AS text)"),
            false => {
                format!("CASE typeof({column}) WHEN 'blob' THEN lower(hex({column})) ELSE CAST({column} AS text) END")
            }
        };
        let key: Vec<_> = self.key.iter().map(|column| text(column)).collect();
        format!(
            "SELECT {}, {} FROM {} WHERE {} NOT IN ('{}'){and} ORDER BY {} LIMIT {NAMED_MAX}",
            key.join(" || ' ' || "),
            text(self.column),
            self.table,
            self.column,
            self.names.join("', '"),
            self.key.join(", "),
        )
    }

    /// The problem of one row as text for people.
    fn problem(&self, (key, value): &(String, String)) -> String {
        let key = self.key.iter().zip(key.split(' ')).map(|(column, value)| {
            // SQLite shows ids as digits alone.
            let value = Uuid::parse_str(value).map_or_else(|_| value.to_owned(), |id| id.to_string());
            format!("{column} {value}")
        });
        let key: Vec<_> = key.collect();
        format!("{} ({}): {} is {value:?}, which nothing writes", self.table, key.join(", "), self.column)
    }
}

pub(crate) fn statements(postgres: bool) -> Vec<(&'static str, String)> {
    let mut all: Vec<_> = closed().iter().map(|closed| ("verify::values", closed.sql(postgres, ""))).collect();
    all.push(("verify::values::of_events", of_events().sql(postgres, OF_SESSION)));
    all
}

const OF_SESSION: &str = " AND tenant_id = $1 AND session_id = $2";

type Found = (String, String);

/// Unknown values in all tables except events, as texts for people.
pub async fn unknown(conn: &mut Conn<'_>) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for closed in closed() {
        let found: Vec<Found> = match conn {
            Conn::Sqlite(c) => c.fetch_all(&closed.sql(false, ""), &[])?,
            Conn::Postgres(c) => sqlx::query_as(AssertSqlSafe(closed.sql(true, ""))).fetch_all(&mut **c).await?,
        };
        problems.extend(found.iter().map(|found| closed.problem(found)));
    }
    Ok(problems)
}

/// Unknown values in the events of a session, as texts for people.
pub async fn unknown_of_events(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Vec<String>> {
    let closed = of_events();
    let found: Vec<Found> = match conn {
        Conn::Sqlite(c) => c.fetch_all(&closed.sql(false, OF_SESSION), &[&tenant_id.0, &id.0])?,
        Conn::Postgres(c) => {
            let sql = AssertSqlSafe(closed.sql(true, OF_SESSION));
            sqlx::query_as(sql).bind(tenant_id.0).bind(id.0).fetch_all(&mut **c).await?
        }
    };
    Ok(found.iter().map(|found| closed.problem(found)).collect())
}
