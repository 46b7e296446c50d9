//! Rows of `saved_searches`: search lines that people saved under a name.

use crate::{
    engine::{Conn, Result, is_unique_violation, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SavedSearchId, TenantId, UserId},
};

statements! {
    const VISIBLE: &str = "SELECT id, user_id, name, line, shared = 1 AS shared, created_at FROM saved_searches \
         WHERE tenant_id = $1 AND (user_id = $2 OR shared = 1) ORDER BY id LIMIT $3";
    const FIND: &str = "SELECT id, user_id, name, line, shared = 1 AS shared, created_at FROM saved_searches \
         WHERE tenant_id = $1 AND id = $2";
    const COUNT_OWN: &str = "SELECT COUNT(*) FROM saved_searches WHERE tenant_id = $1 AND user_id = $2";
    const COUNT_SHARED: &str = "SELECT COUNT(*) FROM saved_searches WHERE tenant_id = $1 AND shared = 1";
    const INSERT: &str = "INSERT INTO saved_searches (tenant_id, id, user_id, name, line, shared, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const DELETE: &str = "DELETE FROM saved_searches WHERE tenant_id = $1 AND id = $2";
    const DELETE_OF_PERSON: &str = "DELETE FROM saved_searches WHERE tenant_id = $1 AND user_id = $2 AND shared = 0";
}

record! {
    /// A search line with a name.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SavedSearchRecord of "saved_searches" {
        /// Id of the saved search.
        pub id: SavedSearchId,
        /// Who saved it.
        pub user_id: UserId,
        /// Name, unique among those of the person.
        pub name: String,
        /// Search line in canonical form.
        pub line: String,
        /// Whether everyone in the workspace sees it, and not only the person.
        pub shared: bool,
        /// Time it was saved (UTC).
        pub created_at: Timestamp,
    }
}

/// The saved searches of a person and the shared ones, oldest first.
pub async fn visible(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    limit: u32,
) -> Result<Vec<SavedSearchRecord>> {
    Ok(run!(conn, fetch_all SavedSearchRecord, VISIBLE, tenant_id.0, user_id.0, i64::from(limit))?)
}

/// The saved search with this id, whoever saved it.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: SavedSearchId) -> Result<Option<SavedSearchRecord>> {
    Ok(run!(conn, fetch_optional SavedSearchRecord, FIND, tenant_id.0, id.0)?)
}

/// Number of searches that a person saved, and of the shared ones of the workspace.
pub async fn counts(conn: &mut Conn<'_>, tenant_id: TenantId, user_id: UserId) -> Result<(u64, u64)> {
    let (own,) = run!(conn, fetch_one(i64,), COUNT_OWN, tenant_id.0, user_id.0)?;
    let (shared,) = run!(conn, fetch_one(i64,), COUNT_SHARED, tenant_id.0)?;
    Ok((own.cast_unsigned(), shared.cast_unsigned()))
}

/// Adds a saved search. `false` when the person has one with this name.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, search: &SavedSearchRecord) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        search.id.0,
        search.user_id.0,
        search.name.as_str(),
        search.line.as_str(),
        i64::from(search.shared),
        to_micros(search.created_at),
    );
    match inserted {
        Ok(_) => Ok(true),
        Err(error) if is_unique_violation(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Deletes a saved search.
pub async fn delete(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SavedSearchId) -> Result<()> {
    run!(tx.conn(), execute, DELETE, tenant_id.0, id.0)?;
    Ok(())
}

/// Deletes the saved searches that only this person sees.
pub async fn delete_of_person(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_PERSON, tenant_id.0, user_id.0)?;
    Ok(())
}
