//! Helpers for SQL text, and the list of all SQL texts. A test prepares the list on both engines.

/// The version of the SQLite library.
pub(crate) const SQLITE_VERSION: &str = "SELECT sqlite_version()";
/// The newest migration that was applied. The server's role may not read it.
pub(crate) const SCHEMA_VERSION: &str = "SELECT MAX(version) FROM _sqlx_migrations WHERE success";
/// Moves the write-ahead log into the file and empties it.
pub(crate) const SQLITE_CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";
/// Rewrites every page of the file.
pub(crate) const SQLITE_VACUUM: &str = "VACUUM";
/// The PostgreSQL settings that acknowledged writes depend on.
pub(crate) const POSTGRES_DURABILITY: &str =
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')";

const SQLITE_SQL: &[(&str, &str)] = &[
    ("sql::SQLITE_VERSION", SQLITE_VERSION),
    ("sql::SQLITE_CHECKPOINT", SQLITE_CHECKPOINT),
    ("sql::SQLITE_VACUUM", SQLITE_VACUUM),
];
const POSTGRES_SQL: &[(&str, &str)] =
    &[("sql::SCHEMA_VERSION", SCHEMA_VERSION), ("sql::POSTGRES_DURABILITY", POSTGRES_DURABILITY)];

/// Numbers of rows of the multi-row SQLite statements, largest first. There are few sizes, so that each
/// statement is prepared once.
pub(crate) const CHUNKS: [usize; 4] = [64, 16, 4, 1];

/// Divides `total` rows into the sizes of [`CHUNKS`], as `(index into CHUNKS, from, to)`.
pub(crate) fn chunks(total: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let left = total - from;
        let index = CHUNKS.iter().position(|size| *size <= left)?;
        let to = from + CHUNKS[index];
        let chunk = (index, from, to);
        from = to;
        Some(chunk)
    })
}

/// `prefix (?, ?), (?, ?)` for each size of [`CHUNKS`].
pub(crate) fn values_statements(prefix: &str, columns: usize) -> [String; CHUNKS.len()] {
    let row = format!("({})", vec!["?"; columns].join(", "));
    CHUNKS.map(|rows| format!("{prefix} {}", vec![row.as_str(); rows].join(", ")))
}

/// Every SQL text of this crate as `(name, text)`, by engine.
pub fn statements(postgres: bool) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for list in [
        crate::access_link::SQL,
        crate::action::SQL,
        crate::browser_session::SQL,
        crate::criteria_set::SQL,
        crate::entity::SQL,
        crate::entity_import::SQL,
        crate::entity_type::SQL,
        crate::event::SQL,
        crate::failure::SQL,
        crate::insight::SQL,
        crate::gate::SQL,
        crate::group::SQL,
        crate::export_job::SQL,
        crate::human::SQL,
        crate::interaction::SQL,
        crate::mark_due::SQL,
        crate::lease::SQL,
        crate::outbox::SQL,
        crate::retention::SQL,
        crate::roll::SQL,
        crate::session::SQL,
        crate::session::graph::SQL,
        crate::sign_in::SQL,
        crate::tenant::SQL,
        crate::thread::SQL,
        crate::token::SQL,
        crate::user::SQL,
        crate::verify::SQL,
        crate::webhook::SQL,
        crate::work_queue::SQL,
    ] {
        all.extend(list.iter().map(|(name, text)| (*name, (*text).to_owned())));
    }
    let own = if postgres {
        all.extend(crate::feedback::statements(true));
        all.extend(crate::event::postgres_statements());
        all.extend(crate::verify::values::statements(true));
        all.extend(crate::session::postgres_statements());
        [
            crate::append::head_cache::POSTGRES_SQL,
            crate::criteria_set::POSTGRES_SQL,
            crate::entity::POSTGRES_SQL,
            crate::entity_import::POSTGRES_SQL,
            crate::entity_type::POSTGRES_SQL,
            crate::event::POSTGRES_SQL,
            crate::failure::POSTGRES_SQL,
            crate::action::POSTGRES_SQL,
            crate::gate::POSTGRES_SQL,
            crate::group::POSTGRES_SQL,
            crate::interaction::POSTGRES_SQL,
            crate::human::POSTGRES_SQL,
            crate::lease::POSTGRES_SQL,
            crate::notify::POSTGRES_SQL,
            crate::outbox::POSTGRES_SQL,
            crate::roll::POSTGRES_SQL,
            crate::session::POSTGRES_SQL,
            crate::session::graph::POSTGRES_SQL,
            crate::sign_in::POSTGRES_SQL,
            crate::user::POSTGRES_SQL,
            POSTGRES_SQL,
        ]
        .concat()
    } else {
        all.extend(crate::event::sqlite_statements());
        all.extend(crate::verify::values::statements(false));
        [
            crate::entity::SQLITE_SQL,
            crate::event::SQLITE_SQL,
            crate::failure::SQLITE_SQL,
            crate::action::SQLITE_SQL,
            crate::gate::SQLITE_SQL,
            crate::interaction::SQLITE_SQL,
            crate::outbox::SQLITE_SQL,
            crate::session::SQLITE_SQL,
            crate::verify::SQLITE_SQL,
            SQLITE_SQL,
        ]
        .concat()
    };
    all.extend(own.iter().map(|(name, text)| (*name, (*text).to_owned())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_row_once_in_order() {
        for total in [0, 1, 3, 4, 5, 63, 64, 65, 500] {
            let mut next = 0;
            for (index, from, to) in chunks(total) {
                assert_eq!(from, next);
                assert_eq!(to - from, CHUNKS[index]);
                next = to;
            }
            assert_eq!(next, total);
        }
    }
}
