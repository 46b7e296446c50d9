//! Rows of `views` (working copies) and `view_versions` (what was published).

use crate::{
    engine::{Conn, Error, Page, Result, is_free, record, run, statements},
    // `has` is made of the others, which are looked up where they are used.
    session::{Contains, group_values, groups, has, values},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{TenantId, ViewId},
    view::{Field, Publication},
};
use serde::Serialize;

pub use domain::view::State as ViewState;

macro_rules! view_select {
    ($rest:expr) => {
        concat!(
            "SELECT id, slug, title, introduction, fields, publish_config AS publication, state, version, revision, \
             published_revision, listed <> 0 AS listed, created_by, updated_by, created_at, updated_at FROM views \
             WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

/// A page of the views that lists show.
macro_rules! list_select {
    ($engine:ident) => {
        view_select!(concat!(
            "listed = 1 AND (id < $2 OR $2 IS NULL)",
            has!($engine, "title", "$4", "$5"),
            has!($engine, "slug || ' ' || title || ' ' || introduction", "$6", "$7"),
            " ORDER BY id DESC LIMIT $3"
        ))
    };
}

macro_rules! version_select {
    ($rest:literal) => {
        concat!(
            "SELECT view_id, version, title, introduction, fields, publish_config AS publication, published_by, published_at \
             FROM view_versions WHERE tenant_id = $1 AND view_id = $2 AND ",
            $rest
        )
    };
}

statements! {
    const CURRENT: &str = "SELECT state, version, listed <> 0 AS listed FROM views WHERE tenant_id = $1 AND id = $2";
    const BY_ID: &str = view_select!("id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = view_select!("id = $2 FOR UPDATE");
    const BY_SLUG: &str = view_select!("slug = $2");
    const LIST_SQLITE: &str = list_select!(sqlite);
    const LIST_POSTGRES: &str = list_select!(postgres);
    const INSERT: &str = "INSERT INTO views (tenant_id, id, slug, title, introduction, fields, publish_config, state, version, \
         revision, published_revision, listed, created_by, updated_by, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
    const UPDATE: &str = "UPDATE views SET title = $3, introduction = $4, fields = $5, publish_config = $6, state = $7, \
         version = $8, revision = $9, published_revision = $10, updated_by = $11, updated_at = $12 \
         WHERE tenant_id = $1 AND id = $2";
    const DELETE: &str = "DELETE FROM views WHERE tenant_id = $1 AND id = $2";
    const BY_VERSION: &str = version_select!("version = $3");
    const VERSIONS: &str = version_select!("(version < $3 OR $3 IS NULL) ORDER BY version DESC LIMIT $4");
    const INSERT_VERSION: &str = "INSERT INTO view_versions (tenant_id, view_id, version, title, introduction, fields, \
         publish_config, published_by, published_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
}

record! {
    /// A view with its working copy.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ViewRecord of "views" {
        /// Identifies the view.
        pub id: ViewId,
        /// Name in URLs; never changes.
        pub slug: String,
        /// Title of the form.
        pub title: String,
        /// Text above the questions; may be empty.
        pub introduction: String,
        /// Questions, in the order of the form. Ratings have no dimensions here.
        pub fields: Vec<Field>,
        /// Who may answer, how often and when.
        pub publication: Publication,
        /// Whether the view takes responses.
        pub state: ViewState,
        /// Number of the version published last; `None` for a draft.
        pub version: Option<u64>,
        /// Number of this working copy: 1 at first, one more with each change.
        pub revision: u64,
        /// Revision that `version` was made from; `None` for a draft.
        pub published_revision: Option<u64>,
        /// Whether lists show the view. One that was made for a single question of an agent is not listed.
        pub listed: bool,
        /// Who made the view: `user:…`, `token:…` or `system`.
        pub created_by: String,
        /// Who changed, published or unpublished it last.
        pub updated_by: String,
        /// Time the view was made (UTC).
        pub created_at: Timestamp,
        /// Time of the last change, publication or withdrawal (UTC).
        pub updated_at: Timestamp,
    }
}

impl ViewRecord {
    /// Whether the working copy differs from the version published last. A draft does.
    pub fn is_changed(&self) -> bool {
        self.published_revision != Some(self.revision)
    }
}

record! {
    /// A view as it was published once.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ViewVersionRecord of "view_versions" {
        /// Identifies the view.
        pub view_id: ViewId,
        /// Number of the version; the first is 1.
        pub version: u64,
        /// Title of the form.
        pub title: String,
        /// Text above the questions; may be empty.
        pub introduction: String,
        /// Questions, in the order of the form. Ratings have the dimensions of their criteria sets.
        pub fields: Vec<Field>,
        /// Who may answer, how often and when.
        pub publication: Publication,
        /// Who published it: `user:…`, `token:…` or `system`.
        pub published_by: String,
        /// Time of publication (UTC).
        pub published_at: Timestamp,
    }
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Database(error.to_string()))
}

/// The view, unless its columns contradict each other.
fn checked(view: ViewRecord) -> Result<ViewRecord> {
    let is_draft = view.state == ViewState::Draft;
    if view.version.is_none() == is_draft && view.published_revision.is_none() == is_draft {
        return Ok(view);
    }
    Err(Error::inconsistent("views", "version", view.version))
}

record! {
    /// What a respondent needs of the row of a view.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Current of "views" {
        /// Whether the view takes responses.
        pub state: ViewState,
        /// Number of the version published last; `None` for a draft.
        pub version: Option<u64>,
        /// Whether lists show the view. One that was made for a single question of an agent is not listed.
        pub listed: bool,
    }
}

/// State of a view, the number of the version published last, and whether the view is listed.
pub async fn current(conn: &mut Conn<'_>, tenant_id: TenantId, id: ViewId) -> Result<Option<Current>> {
    Ok(run!(conn, fetch_optional Current, CURRENT, tenant_id.0, id.0)?)
}

/// A view of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: ViewId) -> Result<Option<ViewRecord>> {
    run!(conn, fetch_optional ViewRecord, BY_ID, tenant_id.0, id.0)?.map(checked).transpose()
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ViewId) -> Result<Option<ViewRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    run!(tx.conn(), fetch_optional ViewRecord, sql, tenant_id.0, id.0)?.map(checked).transpose()
}

/// The view of this workspace with this slug, whether it is listed or not.
pub async fn find_by_slug(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<ViewRecord>> {
    run!(conn, fetch_optional ViewRecord, BY_SLUG, tenant_id.0, slug)?.map(checked).transpose()
}

/// One page of listed views, newest first, starting after `before`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (titles, texts): (&Contains, &Contains),
    before: Option<ViewId>,
    limit: u32,
) -> Result<Page<ViewRecord>> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { LIST_SQLITE } else { LIST_POSTGRES };
    let (before, more) = (before.map(|id| id.0), i64::from(limit) + 1);
    let (titles, no_titles, texts, no_texts) = (titles.all(), titles.none(), texts.all(), texts.none());
    let rows = run!(
        conn,
        fetch_all ViewRecord,
        sql,
        tenant_id.0,
        before,
        more,
        titles.as_deref(),
        no_titles.as_deref(),
        texts.as_deref(),
        no_texts.as_deref(),
    )?;
    let views = rows.into_iter().map(checked).collect::<Result<_>>()?;
    Ok(Page::of(views, limit))
}

/// A view of this workspace as it was published at a version.
pub async fn version_of(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ViewId,
    version: u64,
) -> Result<Option<ViewVersionRecord>> {
    Ok(run!(conn, fetch_optional ViewVersionRecord, BY_VERSION, tenant_id.0, id.0, version.cast_signed())?)
}

/// One page of a view's versions, newest first, starting after `before`.
pub async fn versions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ViewId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<ViewVersionRecord>> {
    let before = before.map(u64::cast_signed);
    let rows = run!(conn, fetch_all ViewVersionRecord, VERSIONS, tenant_id.0, id.0, before, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

/// Adds a view. `false` when its slug is taken.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &ViewRecord) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        record.id.0,
        record.slug.as_str(),
        record.title.as_str(),
        record.introduction.as_str(),
        json(&record.fields)?.as_str(),
        json(&record.publication)?.as_str(),
        record.state.as_str(),
        record.version.map(u64::cast_signed),
        record.revision.cast_signed(),
        record.published_revision.map(u64::cast_signed),
        i64::from(record.listed),
        record.created_by.as_str(),
        record.updated_by.as_str(),
        to_micros(record.created_at),
        to_micros(record.updated_at),
    );
    is_free(inserted)
}

/// Writes the changed columns of a view; the caller holds its lock.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &ViewRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        record.id.0,
        record.title.as_str(),
        record.introduction.as_str(),
        json(&record.fields)?.as_str(),
        json(&record.publication)?.as_str(),
        record.state.as_str(),
        record.version.map(u64::cast_signed),
        record.revision.cast_signed(),
        record.published_revision.map(u64::cast_signed),
        record.updated_by.as_str(),
        to_micros(record.updated_at),
    )?;
    Ok(())
}

/// Adds a published version. The row of the view exists.
pub async fn insert_version(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &ViewVersionRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT_VERSION,
        tenant_id.0,
        record.view_id.0,
        record.version.cast_signed(),
        record.title.as_str(),
        record.introduction.as_str(),
        json(&record.fields)?.as_str(),
        json(&record.publication)?.as_str(),
        record.published_by.as_str(),
        to_micros(record.published_at),
    )?;
    Ok(())
}

/// Deletes a view that was never published; the caller holds its lock. The database refuses it for others.
pub async fn delete(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ViewId) -> Result<()> {
    run!(tx.conn(), execute, DELETE, tenant_id.0, id.0)?;
    Ok(())
}
