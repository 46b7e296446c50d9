//! Records that a search may find: the newest tasks, entities and questions. They are read from their own tables, not
//! from an index, so they are found at once. Older ones are found by their names: see [`super::named`]. Memory has an
//! index of its own: see [`crate::memory::search_beside`].

use crate::engine::{Conn, Result, contains, record, run, statements};
use domain::{
    Timestamp,
    id::TenantId,
    limit::{SEARCH_RECORDS_COMPARED_MAX, SEARCH_RECORDS_LOOKED_MAX},
    search::{Kind, Query},
};
use uuid::Uuid;

/// Of the newest records, those whose name or text can have the word that `$3` is the beginning of. A text with letters
/// beyond ASCII can have it with accents. Those that have it in the name are first.
macro_rules! candidates {
    ($newest:expr) => {
        concat!(
            "SELECT id, name, body, agent, changed_at FROM (",
            $newest,
            ") AS newest WHERE lower(name) LIKE lower($3) ESCAPE '\\' OR lower(body) LIKE lower($3) ESCAPE '\\' OR $3 IS NULL \
             OR octet_length(name) > length(name) OR octet_length(body) > length(body) \
             ORDER BY CASE WHEN lower(name) LIKE lower($3) ESCAPE '\\' THEN 0 WHEN lower(body) LIKE lower($3) ESCAPE '\\' THEN 1 \
             ELSE 2 END, id DESC LIMIT $4"
        )
    };
}

// What belongs to an incognito conversation is found by no one, and an erased question has only a replacement text.
macro_rules! open_session {
    ($of:literal) => {
        open_session!($of, "$1")
    };
    ($of:literal, $tenant:literal) => {
        concat!(
            "NOT EXISTS (SELECT 1 FROM sessions p WHERE p.tenant_id = ",
            $tenant,
            " AND p.id = ",
            $of,
            ".session_id AND p.private_to IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM erasures x WHERE x.tenant_id = ",
            $tenant,
            " AND x.session_id = ",
            $of,
            ".session_id)"
        )
    };
}
pub(super) use open_session;

statements! {
    const TASKS: &str = candidates!(
        "SELECT id, name, description AS body, agent_slug AS agent, updated_at AS changed_at FROM actions \
         WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2"
    );
    const ENTITIES: &str = candidates!(
        "SELECT id, title AS name, fields AS body, CAST(NULL AS text) AS agent, updated_at AS changed_at FROM entities \
         WHERE tenant_id = $1 AND erased_at IS NULL ORDER BY id DESC LIMIT $2"
    );
    // A request that a session waits for has a gate with the same text.
    const QUESTIONS: &str = candidates!(concat!(
        "SELECT * FROM (SELECT g.id, g.title AS name, g.task AS body, g.agent_slug AS agent, g.opened_at AS changed_at \
         FROM gates g WHERE g.tenant_id = $1 AND g.kind = 'question' AND ",
        open_session!("g"),
        " ORDER BY g.id DESC LIMIT $2) AS gated UNION ALL SELECT * FROM (SELECT r.id, r.message AS name, '' AS body, \
         s.agent_slug AS agent, r.asked_at AS changed_at FROM feedback_requests r \
         JOIN sessions s ON s.tenant_id = r.tenant_id AND s.id = r.session_id \
         WHERE r.tenant_id = $1 AND r.gate_id IS NULL AND ",
        open_session!("r"),
        " ORDER BY r.id DESC LIMIT $2) AS asked"
    ));

    const OLDER_TASK: &str =
        "SELECT CAST(1 AS bigint) FROM actions WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2";
    const OLDER_ENTITY: &str = "SELECT CAST(1 AS bigint) FROM entities WHERE tenant_id = $1 AND erased_at IS NULL \
         ORDER BY id DESC LIMIT 1 OFFSET $2";
    const OLDER_QUESTION: &str = "SELECT * FROM (SELECT CAST(1 AS bigint) AS one FROM gates \
         WHERE tenant_id = $1 AND kind = 'question' ORDER BY id DESC LIMIT 1 OFFSET $2) AS gated \
         UNION ALL SELECT * FROM (SELECT CAST(1 AS bigint) AS one FROM feedback_requests \
         WHERE tenant_id = $1 AND gate_id IS NULL ORDER BY id DESC LIMIT 1 OFFSET $2) AS asked";
}

record! {
    /// A record that a search may find.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Candidate of "records that are searched" {
        /// Identifies the record among those of its kind.
        pub id: Uuid,
        /// Its name: of a question the text, at most as long as a title.
        pub name: String,
        /// Its text: a description, the values of an entity as JSON, or the question as it is stored.
        pub body: String,
        /// Slug of its agent, if it has one.
        pub agent: Option<String>,
        /// Time of its last change; of a question, when it was asked (UTC).
        pub changed_at: Timestamp,
    }
}

/// Records of a kind that may have the words, at most [`SEARCH_RECORDS_COMPARED_MAX`] of the newest
/// [`SEARCH_RECORDS_LOOKED_MAX`]; none for kinds that have an index. [`Query::rank`] says which of them do.
pub async fn candidates(conn: &mut Conn<'_>, tenant_id: TenantId, kind: Kind, query: &Query) -> Result<Vec<Candidate>> {
    let sql = match kind {
        Kind::Task => TASKS,
        Kind::Entity => ENTITIES,
        Kind::Question => QUESTIONS,
        Kind::Memory | Kind::Event => return Ok(Vec::new()),
    };
    let (looked, compared) = (i64::from(SEARCH_RECORDS_LOOKED_MAX), i64::from(SEARCH_RECORDS_COMPARED_MAX));
    let stem = query.stem().map(|stem| contains(&stem));
    Ok(run!(conn, fetch_all Candidate, sql, tenant_id.0, looked, stem.as_deref(), compared)?)
}

/// Whether there are records of a kind that [`candidates`] does not look at, because they are older.
pub async fn has_older(conn: &mut Conn<'_>, tenant_id: TenantId, kind: Kind) -> Result<bool> {
    type One = (i64,);
    let sql = match kind {
        Kind::Task => OLDER_TASK,
        Kind::Entity => OLDER_ENTITY,
        Kind::Question => OLDER_QUESTION,
        Kind::Memory | Kind::Event => return Ok(false),
    };
    Ok(run!(conn, fetch_optional One, sql, tenant_id.0, i64::from(SEARCH_RECORDS_LOOKED_MAX))?.is_some())
}
