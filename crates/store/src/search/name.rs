//! The words of names of tasks, entities and questions: `search_names`, and `search_names_due`, which triggers fill.
//!
//! A row is a word of a name. What is renamed or erased loses its rows by a trigger, in the transaction that does it.

use super::record::{Candidate, open_session};
use crate::{
    engine::{Conn, Result, SqliteConnection, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    id::TenantId,
    limit::SEARCH_RECORDS_COMPARED_MAX,
    search::{Kind, Query, WordRange, name_words},
};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

/// The name of a record that is due. Null for one that is erased, and for a question in an incognito conversation.
macro_rules! due_select {
    ($order:literal) => {
        concat!(due_select!(), "search_names_due d ORDER BY ", $order, " LIMIT $1")
    };
    () => {
        concat!(
            "SELECT d.tenant_id, d.change, d.kind, d.record_id, CASE d.kind \
             WHEN 'task' THEN (SELECT a.name FROM actions a WHERE a.tenant_id = d.tenant_id AND a.id = d.record_id) \
             WHEN 'entity' THEN (SELECT e.title FROM entities e WHERE e.tenant_id = d.tenant_id AND e.id = d.record_id \
                 AND e.erased_at IS NULL) \
             ELSE COALESCE((SELECT g.title FROM gates g WHERE g.tenant_id = d.tenant_id AND g.id = d.record_id AND ",
            open_session!("g", "d.tenant_id"),
            "), (SELECT r.message FROM feedback_requests r WHERE r.tenant_id = d.tenant_id AND r.id = d.record_id AND ",
            open_session!("r", "d.tenant_id"),
            ")) END AS name FROM "
        )
    };
}

/// Ids of the newest records of the kind `$2` that have a word of each number.
macro_rules! named {
    (sqlite) => {
        "(SELECT w.record_id FROM json_each($3) j CROSS JOIN search_names w \
         WHERE w.tenant_id = $1 AND w.kind = $2 AND w.word >= j.value ->> 1 AND w.word <= j.value ->> 2 \
         GROUP BY w.record_id HAVING COUNT(DISTINCT j.value ->> 0) = $4 ORDER BY w.record_id DESC LIMIT $5)"
    };
    (postgres) => {
        "(SELECT w.record_id FROM UNNEST($3::bigint[], $4::text[], $5::text[]) AS j (number, low, high) \
         JOIN search_names w ON w.tenant_id = $1 AND w.kind = $2 AND w.word >= j.low AND w.word <= j.high \
         GROUP BY w.record_id HAVING COUNT(DISTINCT j.number) = $6 ORDER BY w.record_id DESC LIMIT $7)"
    };
}

macro_rules! tasks {
    ($engine:ident) => {
        concat!(
            "SELECT id, name, description AS body, agent_slug AS agent, updated_at AS changed_at FROM actions \
             WHERE tenant_id = $1 AND id IN ",
            named!($engine)
        )
    };
}

macro_rules! entities {
    ($engine:ident) => {
        concat!(
            "SELECT id, title AS name, fields AS body, CAST(NULL AS text) AS agent, updated_at AS changed_at \
             FROM entities WHERE tenant_id = $1 AND erased_at IS NULL AND id IN ",
            named!($engine)
        )
    };
}

macro_rules! questions {
    ($engine:ident) => {
        concat!(
            "SELECT g.id AS id, g.title AS name, g.task AS body, g.agent_slug AS agent, g.opened_at AS changed_at \
             FROM gates g WHERE g.tenant_id = $1 AND g.kind = 'question' AND ",
            open_session!("g", "$1"),
            " AND g.id IN ",
            named!($engine),
            " UNION ALL SELECT r.id AS id, r.message AS name, '' AS body, s.agent_slug AS agent, \
             r.asked_at AS changed_at FROM feedback_requests r JOIN sessions s ON s.tenant_id = r.tenant_id AND s.id = r.session_id \
             WHERE r.tenant_id = $1 AND r.gate_id IS NULL AND ",
            open_session!("r", "$1"),
            " AND r.id IN ",
            named!($engine)
        )
    };
}

/// Makes the next `$3` records of a table due, in the order of their keys.
macro_rules! every_due {
    ($kind:literal, $table:literal, $which:literal) => {
        concat!(
            "INSERT INTO search_names_due (tenant_id, kind, record_id) SELECT tenant_id, ",
            $kind,
            ", id FROM ",
            $table,
            " WHERE (tenant_id, id) > ($1, $2)",
            $which,
            " ORDER BY tenant_id, id LIMIT $3 RETURNING tenant_id, record_id"
        )
    };
}

statements! {
    const TASKS_SQLITE: &str = tasks!(sqlite);
    const TASKS_POSTGRES: &str = tasks!(postgres);
    const ENTITIES_SQLITE: &str = entities!(sqlite);
    const ENTITIES_POSTGRES: &str = entities!(postgres);
    const QUESTIONS_SQLITE: &str = questions!(sqlite);
    const QUESTIONS_POSTGRES: &str = questions!(postgres);

    const DUE_SQLITE: &str = due_select!("d.change");
    const DUE_POSTGRES: &str = due_select!("d.tenant_id, d.change");
    const DONE_SQLITE: &str = "DELETE FROM search_names_due WHERE change = $1";
    // Takes the rows before it reads the names. Of two that do it at once, the later one waits for the rows of the
    // first. Otherwise the first could add the words of an old name after the later one had added those of the new.
    const TAKE_POSTGRES: &str = concat!(
        "WITH d AS (DELETE FROM search_names_due w USING (SELECT tenant_id, change FROM search_names_due \
         ORDER BY tenant_id, change LIMIT $1) n WHERE w.tenant_id = n.tenant_id AND w.change = n.change \
         RETURNING w.tenant_id, w.change, w.kind, w.record_id) ",
        due_select!(),
        "d"
    );
    const REMOVE_SQLITE: &str = "DELETE FROM search_names WHERE tenant_id = $1 AND record_id = $2";
    const REMOVE_POSTGRES: &str = "DELETE FROM search_names w USING UNNEST($1::uuid[], $2::uuid[]) \
         AS d (tenant_id, record_id) WHERE w.tenant_id = d.tenant_id AND w.record_id = d.record_id";
    const ADD_SQLITE: &str = "INSERT INTO search_names (tenant_id, kind, word, record_id) \
         SELECT $1, $2, value, $3 FROM json_each($4) WHERE true ON CONFLICT DO NOTHING";
    const ADD_POSTGRES: &str = "INSERT INTO search_names (tenant_id, kind, word, record_id) \
         SELECT d.tenant_id, d.kind, d.word, d.record_id FROM UNNEST($1::uuid[], $2::text[], $3::text[], $4::uuid[]) \
         AS d (tenant_id, kind, word, record_id) ON CONFLICT DO NOTHING";
    // In the order of [`SOURCES`].
    const TASKS_DUE: &str = every_due!("'task'", "actions", "");
    const ENTITIES_DUE: &str = every_due!("'entity'", "entities", " AND erased_at IS NULL");
    const GATES_DUE: &str = every_due!("'question'", "gates", " AND kind = 'question'");
    const REQUESTS_DUE: &str = every_due!("'question'", "feedback_requests", " AND gate_id IS NULL");
}

record! {
    /// A record whose words are to be made.
    struct DueName of "search_names_due" {
        tenant_id: TenantId,
        change: i64,
        kind: String,
        record_id: Uuid,
        name: Option<String>,
    }
}

/// Makes the words of the records that are due, at most `limit`. Returns their number.
pub async fn add_names(tx: &mut WriteTx<'_>, limit: u32) -> Result<u32> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { DUE_SQLITE } else { TAKE_POSTGRES };
    let due = run!(tx.conn(), fetch_all DueName, sql, i64::from(limit))?;
    match tx.conn() {
        Conn::Sqlite(c) => add_on_sqlite(c, &due)?,
        Conn::Postgres(c) => add_on_postgres(c, &due).await?,
    }
    Ok(u32::try_from(due.len()).unwrap_or(limit))
}

fn add_on_sqlite(c: &mut SqliteConnection, due: &[DueName]) -> Result<()> {
    for of in due {
        let (tenant, kind) = (of.tenant_id.0, of.kind.as_str());
        c.execute(REMOVE_SQLITE, &[&tenant, &of.record_id])?;
        if let Some(name) = &of.name {
            let words = serde_json::Value::from_iter(name_words(name)).to_string();
            c.execute(ADD_SQLITE, &[&tenant, &kind, &of.record_id, &words])?;
        }
        c.execute(DONE_SQLITE, &[&of.change])?;
    }
    Ok(())
}

async fn add_on_postgres(c: &mut PgConnection, due: &[DueName]) -> Result<()> {
    let tenants: Vec<Uuid> = due.iter().map(|of| of.tenant_id.0).collect();
    let records: Vec<Uuid> = due.iter().map(|of| of.record_id).collect();
    sqlx::query(REMOVE_POSTGRES).bind(&tenants).bind(&records).execute(&mut *c).await?;
    let (mut of_tenants, mut kinds, mut words, mut of_records) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for of in due {
        for word in of.name.as_deref().map(name_words).unwrap_or_default() {
            of_tenants.push(of.tenant_id.0);
            kinds.push(of.kind.as_str());
            words.push(word);
            of_records.push(of.record_id);
        }
    }
    let query = sqlx::query(ADD_POSTGRES).bind(&of_tenants).bind(&kinds).bind(&words).bind(&of_records);
    query.execute(&mut *c).await?;
    Ok(())
}

/// Whether words of a name are to be made.
pub async fn is_name_due(conn: &mut Conn<'_>) -> Result<bool> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { DUE_SQLITE } else { DUE_POSTGRES };
    Ok(run!(conn, fetch_optional DueName, sql, 1_i64)?.is_some())
}

/// Tables whose names are found.
const SOURCES: [&str; 4] = [TASKS_DUE, ENTITIES_DUE, GATES_DUE, REQUESTS_DUE];

/// A place in a pass over the records of all tables whose names are found. The default is the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EveryName {
    source: usize,
    tenant_id: Uuid,
    record_id: Uuid,
}

/// Makes the next records of a pass due, at most `limit` of one table. Returns where the pass goes on; `None` after the
/// last record. The words that a record has stay until its own are made anew.
pub async fn make_names_due(tx: &mut WriteTx<'_>, at: EveryName, limit: u32) -> Result<Option<EveryName>> {
    type Place = (Uuid, Uuid);
    let Some(sql) = SOURCES.get(at.source).copied() else { return Ok(None) };
    let made = run!(tx.conn(), fetch_all Place, sql, at.tenant_id, at.record_id, i64::from(limit))?;
    // The rows can come in any order.
    let last = made.iter().max().filter(|_| made.len() >= limit as usize);
    Ok(Some(match last {
        Some((tenant_id, record_id)) => EveryName { tenant_id: *tenant_id, record_id: *record_id, ..at },
        None => EveryName { source: at.source + 1, ..EveryName::default() },
    }))
}

/// The newest records of a kind whose names have all words, whatever their age, at most
/// [`SEARCH_RECORDS_COMPARED_MAX`], in no order. None for kinds that have another index.
pub async fn named(conn: &mut Conn<'_>, tenant_id: TenantId, kind: Kind, query: &Query) -> Result<Vec<Candidate>> {
    let (sqlite, postgres) = match kind {
        Kind::Task => (TASKS_SQLITE, TASKS_POSTGRES),
        Kind::Entity => (ENTITIES_SQLITE, ENTITIES_POSTGRES),
        Kind::Question => (QUESTIONS_SQLITE, QUESTIONS_POSTGRES),
        Kind::Memory | Kind::Event => return Ok(Vec::new()),
    };
    let ranges = query.name_ranges();
    let words = ranges.last().map_or(0, |last| i64::from(last.number) + 1);
    let (kind, most) = (kind.as_str(), i64::from(SEARCH_RECORDS_COMPARED_MAX));
    let rows = match conn {
        Conn::Sqlite(c) => {
            let rows = ranges.iter().map(|range| json!([range.number, range.low, range.high]));
            let rows = serde_json::Value::from_iter(rows).to_string();
            c.fetch_all::<Candidate>(sqlite, &[&tenant_id.0, &kind, &rows, &words, &most])?
        }
        Conn::Postgres(c) => {
            let number = |range: &WordRange| i64::from(range.number);
            let numbers: Vec<i64> = ranges.iter().map(number).collect();
            let lows: Vec<&str> = ranges.iter().map(|range| range.low.as_str()).collect();
            let highs: Vec<&str> = ranges.iter().map(|range| range.high.as_str()).collect();
            let query = sqlx::query_as(postgres).bind(tenant_id.0).bind(kind).bind(&numbers).bind(&lows).bind(&highs);
            query.bind(words).bind(most).fetch_all(&mut **c).await?
        }
    };
    Ok(rows)
}
