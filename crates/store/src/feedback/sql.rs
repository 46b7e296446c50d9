//! The SQL texts of `session_feedback`.

use crate::engine::Conn;

/// The SQL texts of one engine. They differ only in the name of the table.
pub(super) struct Statements {
    pub(super) insert: &'static str,
    pub(super) change: &'static str,
    pub(super) remove: &'static str,
    pub(super) of: &'static str,
    pub(super) list: &'static str,
    pub(super) count: &'static str,
    pub(super) count_of_session: &'static str,
    pub(super) count_of_user: &'static str,
    pub(super) labels: &'static str,
    pub(super) purge: &'static str,
}

macro_rules! texts {
    ($table:literal, $names:literal) => {
        Statements {
            insert: concat!(
                "INSERT INTO ",
                $table,
                " (id, session_id_opaque, user_id_or_null, recorded_at, label, turn_count_at_end, source, schema_version) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING"
            ),
            change: concat!(
                "UPDATE ",
                $table,
                " SET recorded_at = $3, label = $4, turn_count_at_end = $5, source = $6 \
                 WHERE session_id_opaque = $1 AND user_id_or_null IS NOT DISTINCT FROM $2 AND label <> $4"
            ),
            remove: concat!(
                "DELETE FROM ",
                $table,
                " WHERE session_id_opaque = $1 AND user_id_or_null IS NOT DISTINCT FROM $2"
            ),
            of: concat!(
                "SELECT id, session_id_opaque, user_id_or_null, recorded_at, label, turn_count_at_end, source, schema_version FROM ",
                $table,
                " WHERE session_id_opaque = $1 AND user_id_or_null IS NOT DISTINCT FROM $2"
            ),
            list: concat!(
                "SELECT id, session_id_opaque, user_id_or_null, recorded_at, label, turn_count_at_end, source, schema_version FROM ",
                $table,
                " WHERE session_id_opaque = $1 ORDER BY recorded_at, id LIMIT $2"
            ),
            count: concat!("SELECT COUNT(*) FROM ", $table),
            count_of_session: concat!("SELECT COUNT(*) FROM ", $table, " WHERE session_id_opaque = $1"),
            count_of_user: concat!("SELECT COUNT(*) FROM ", $table, " WHERE user_id_or_null = $1"),
            labels: concat!("SELECT session_id_opaque, label FROM ", $table, " WHERE session_id_opaque IN (", $names, ")"),
            purge: concat!(
                "DELETE FROM ",
                $table,
                " WHERE id IN (SELECT id FROM ",
                $table,
                " WHERE recorded_at < $1 ORDER BY recorded_at LIMIT $2)"
            ),
        }
    };
}

static SQLITE: Statements = texts!("session_feedback", "SELECT value FROM json_each($1)");
static POSTGRES: Statements =
    texts!("session_feedback.session_feedback", "SELECT jsonb_array_elements_text(CAST($1 AS jsonb))");

impl Statements {
    fn all(&self) -> [(&'static str, &'static str); 10] {
        // Without `..`: a text that is missing here does not compile.
        let Self { insert, change, remove, of, list, count, count_of_session, count_of_user, labels, purge } = *self;
        [
            ("feedback::sql::INSERT", insert),
            ("feedback::sql::CHANGE", change),
            ("feedback::sql::REMOVE", remove),
            ("feedback::sql::OF", of),
            ("feedback::sql::LIST", list),
            ("feedback::sql::COUNT", count),
            ("feedback::sql::COUNT_OF_SESSION", count_of_session),
            ("feedback::sql::COUNT_OF_USER", count_of_user),
            ("feedback::sql::LABELS", labels),
            ("feedback::sql::PURGE", purge),
        ]
    }
}

/// Every SQL text of this file as `(name, text)`; on SQLite for the file of ratings, not for the ledger's.
pub fn statements(postgres: bool) -> Vec<(&'static str, String)> {
    let texts = if postgres { &POSTGRES } else { &SQLITE };
    texts.all().map(|(name, text)| (name, text.to_owned())).to_vec()
}

pub(super) fn texts(conn: &Conn<'_>) -> &'static Statements {
    match conn {
        Conn::Sqlite(_) => &SQLITE,
        Conn::Postgres(_) => &POSTGRES,
    }
}
