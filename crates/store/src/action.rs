//! Rows of `actions`.

use crate::{
    engine::{Conn, Error, Page, Result, contains, is_free, record, run, statements},
    // `has` and `is_among` are made of the others, which are looked up where they are used.
    session::{Among, Contains, group_values, groups, has, is_among, values},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    action::{ActionStatus, OutputType},
    clock::to_micros,
    id::{ActionId, EntityId, TenantId, UserId},
};
use std::collections::HashMap;
use uuid::Uuid;

record! {
    /// An action: configured work. Pages call it a task.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ActionRecord of "actions" {
        /// Identifies the action.
        pub id: ActionId,
        /// Display name.
        pub name: String,
        /// Name in URLs, unique in the workspace.
        pub slug: String,
        /// Instructions: what is to be done.
        pub description: String,
        /// Slug of the agent that may claim the action's sessions.
        pub agent_slug: Option<String>,
        /// The person the action is assigned to.
        pub assigned_to: Option<UserId>,
        /// The entity that the action is about.
        pub target_entity_id: Option<EntityId>,
        /// What the action's sessions produce.
        pub output_type: OutputType,
        /// Settings of the output: a JSON object, as sent.
        pub output_config: String,
        /// Free data of the client: a JSON object, as sent.
        pub metadata: String,
        /// Whether it can be triggered.
        pub status: ActionStatus,
        /// Time the action was made (UTC).
        pub created_at: Timestamp,
        /// Time of the last change (UTC).
        pub updated_at: Timestamp,
    }
}

macro_rules! action_select {
    ($rest:expr) => {
        concat!(
            "SELECT a.id, a.name, a.slug, a.description, a.agent_slug, a.assigned_to, \
             a.target_entity_id, a.output_type, a.output_config, a.metadata, a.status, a.created_at, a.updated_at FROM actions a WHERE a.tenant_id = $1 AND ",
            $rest
        )
    };
}
pub(crate) use action_select;

macro_rules! list_select {
    ($engine:ident) => {
        action_select!(concat!(
            "(a.status = $2 OR $2 IS NULL) AND (a.id < $3 OR $3 IS NULL) AND (a.assigned_to = $4 OR $4 IS NULL) \
             AND (a.target_entity_id = $5 OR $5 IS NULL) AND (lower(a.name) LIKE lower($6) ESCAPE '\\' OR $6 IS NULL)",
            has!($engine, "a.name", "$8", "$9"),
            has!($engine, "a.name || ' ' || a.description", "$10", "$11"),
            is_among!($engine, "a.agent_slug", "$12", "$13"),
            " ORDER BY a.id DESC LIMIT $7"
        ))
    };
}

/// How many sessions of actions have not ended: those that wait for a worker, and all. Incognito ones are not counted.
macro_rules! open_select {
    ($ids:literal) => {
        concat!(
            "SELECT action_id, CAST(SUM(CASE WHEN status = 'pending' THEN 1 ELSE 0 END) AS bigint), COUNT(*) \
             FROM sessions WHERE tenant_id = $1 AND action_id ",
            $ids,
            " AND status IN ('pending', 'running', 'waiting_human', 'awaiting_tool', 'idle') AND private_to IS NULL \
             GROUP BY action_id"
        )
    };
}

statements! {
    const BY_ID: &str = action_select!("a.id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = action_select!("a.id = $2 FOR UPDATE");
    const BY_SLUG: &str = action_select!("a.slug = $2");
    const LIST_SQLITE: &str = list_select!(sqlite);
    const LIST_POSTGRES: &str = list_select!(postgres);
    // Values for fields, and a new entity with a relation, are about the entity that the action is about.
    const OF_ONE_ENTITY: &str = action_select!(
        "a.status = 'active' AND (a.output_type = 'entity' \
         OR (a.output_type IN ('fields', 'relation-entity') AND a.target_entity_id IS NOT NULL)) \
         ORDER BY a.id DESC LIMIT $2"
    );
    const OF_ANY_ENTITY: &str = action_select!(
        "a.status = 'active' AND a.output_type IN ('entity', 'fields', 'relation-entity') \
         ORDER BY a.id DESC LIMIT $2"
    );
    const INSERT: &str = "INSERT INTO actions (tenant_id, id, name, slug, description, agent_slug, assigned_to, output_type, \
         output_config, metadata, status, created_at, updated_at, target_entity_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    const UPDATE: &str = "UPDATE actions SET name = $3, slug = $4, description = $5, agent_slug = $6, assigned_to = $7, \
         output_type = $8, output_config = $9, metadata = $10, status = $11, updated_at = $12, \
         target_entity_id = $13 WHERE tenant_id = $1 AND id = $2";
    const BY_CREATION_KEY: &str = action_select!("a.creation_key = $2");
    const CREATION_DIGEST: &str = "SELECT creation_digest FROM actions WHERE tenant_id = $1 AND creation_key = $2";
    const SET_CREATION: &str =
        "UPDATE actions SET creation_key = $3, creation_digest = $4 WHERE tenant_id = $1 AND id = $2";

    const BRIEFS_SQLITE: &str =
        "SELECT id, name, status FROM actions WHERE tenant_id = $1 AND id IN (SELECT unhex(value) FROM json_each($2))";
    const BRIEFS_POSTGRES: &str = "SELECT id, name, status FROM actions WHERE tenant_id = $1 AND id = ANY($2)";
    const OPEN_SQLITE: &str = open_select!("IN (SELECT unhex(value) FROM json_each($2))");
    const OPEN_POSTGRES: &str = open_select!("= ANY($2)");
}

/// An action of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: ActionId) -> Result<Option<ActionRecord>> {
    Ok(run!(conn, fetch_optional ActionRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ActionId) -> Result<Option<ActionRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional ActionRecord, sql, tenant_id.0, id.0)?)
}

/// What lists show of these actions: name and status. Ids of no action are left out.
pub async fn briefs(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[ActionId],
) -> Result<HashMap<ActionId, (String, ActionStatus)>> {
    type Row = (Uuid, String, String);
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            c.fetch_all::<Row>(BRIEFS_SQLITE, &[&tenant_id.0, &serde_json::Value::from(hex).to_string()])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(BRIEFS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    let read = |(id, name, status): Row| {
        let known = ActionStatus::parse(&status).ok_or_else(|| Error::inconsistent("actions", "status", &status))?;
        Ok((ActionId(id), (name, known)))
    };
    rows.into_iter().map(read).collect()
}

/// Sessions of an action that have not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSessions {
    /// Number of sessions that wait for a worker.
    pub pending: u64,
    /// Number of sessions in any other status that is not final.
    pub others: u64,
}

/// How many sessions of these actions have not ended, without incognito ones. Actions without such sessions are left
/// out.
pub async fn open_sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[ActionId],
) -> Result<HashMap<ActionId, OpenSessions>> {
    type Row = (Uuid, i64, i64);
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            c.fetch_all::<Row>(OPEN_SQLITE, &[&tenant_id.0, &serde_json::Value::from(hex).to_string()])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(OPEN_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    let read = |(id, pending, all): Row| {
        let others = (all - pending).cast_unsigned();
        (ActionId(id), OpenSessions { pending: pending.cast_unsigned(), others })
    };
    Ok(rows.into_iter().map(read).collect())
}

/// The action of this workspace with this slug.
pub async fn find_by_slug(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<ActionRecord>> {
    Ok(run!(conn, fetch_optional ActionRecord, BY_SLUG, tenant_id.0, slug)?)
}

/// Which actions to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only actions with this status.
    pub status: Option<ActionStatus>,
    /// Only actions assigned to this person.
    pub assigned_to: Option<UserId>,
    /// Only actions about this entity.
    pub target_entity_id: Option<EntityId>,
    /// Only names that contain this text, regardless of case.
    pub name_contains: Option<String>,
    /// Parts of the name.
    pub names: Contains,
    /// Parts of the name or the description.
    pub texts: Contains,
    /// Slugs of agents.
    pub agents: Among,
}

/// One page of actions, newest first. With `before`, only older ones.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &Filter,
    before: Option<ActionId>,
    limit: u32,
) -> Result<Page<ActionRecord>> {
    let status = filter.status.map(ActionStatus::as_str);
    let target = filter.target_entity_id.map(|id| id.0);
    let assignee = filter.assigned_to.map(|id| id.0);
    let name = filter.name_contains.as_deref().map(contains);
    let (before, more) = (before.map(|id| id.0), i64::from(limit) + 1);
    let sql = if matches!(conn, Conn::Sqlite(_)) { LIST_SQLITE } else { LIST_POSTGRES };
    let (names, no_names) = (filter.names.all(), filter.names.none());
    let (texts, no_texts) = (filter.texts.all(), filter.texts.none());
    let (agents, no_agents) = (filter.agents.any(), filter.agents.none());
    let found = run!(
        conn,
        fetch_all ActionRecord,
        sql,
        tenant_id.0,
        status,
        before,
        assignee,
        target,
        name.as_deref(),
        more,
        names.as_deref(),
        no_names.as_deref(),
        texts.as_deref(),
        no_texts.as_deref(),
        agents.as_deref(),
        no_agents.as_deref(),
    )?;
    Ok(Page::of(found, limit))
}

/// Active actions whose output is one entity, newest first, at most `limit`.
pub async fn of_one_entity(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Page<ActionRecord>> {
    Ok(Page::of(run!(conn, fetch_all ActionRecord, OF_ONE_ENTITY, tenant_id.0, i64::from(limit) + 1)?, limit))
}

/// The same with those that need an entity to write or to lead to, and are about none.
pub async fn of_any_entity(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Page<ActionRecord>> {
    Ok(Page::of(run!(conn, fetch_all ActionRecord, OF_ANY_ENTITY, tenant_id.0, i64::from(limit) + 1)?, limit))
}

/// Adds an action. `false` when its slug is taken.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, action: &ActionRecord) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        action.id.0,
        action.name.as_str(),
        action.slug.as_str(),
        action.description.as_str(),
        action.agent_slug.as_deref(),
        action.assigned_to.map(|id| id.0),
        action.output_type.as_str(),
        action.output_config.as_str(),
        action.metadata.as_str(),
        action.status.as_str(),
        to_micros(action.created_at),
        to_micros(action.updated_at),
        action.target_entity_id.map(|id| id.0),
    );
    is_free(inserted)
}

/// The request that creates an action, or starts an import, once.
#[derive(Debug, Clone)]
pub struct Creation {
    /// The caller and their key.
    pub key: String,
    /// Digest of the request.
    pub digest: [u8; 32],
}

/// The action that the request with this key created, and the digest of that request.
pub async fn find_created(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    key: &str,
) -> Result<Option<(ActionRecord, Vec<u8>)>> {
    let Some(action) = run!(conn, fetch_optional ActionRecord, BY_CREATION_KEY, tenant_id.0, key)? else {
        return Ok(None);
    };
    let digest = run!(conn, fetch_optional One<Option<Vec<u8>>>, CREATION_DIGEST, tenant_id.0, key)?;
    Ok(Some((action, digest.and_then(|(digest,)| digest).unwrap_or_default())))
}

/// Records which request created an action. `false` when another request with this key was committed first.
pub async fn set_creation(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: ActionId,
    creation: &Creation,
) -> Result<bool> {
    let (key, digest) = (creation.key.as_str(), &creation.digest[..]);
    is_free(run!(tx.conn(), execute, SET_CREATION, tenant_id.0, id.0, key, digest))
}

/// A row of one column. Written out, the formatter would take the tuple for a call's arguments.
type One<T> = (T,);

/// Writes a changed action. `false` when its new slug is taken.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, action: &ActionRecord) -> Result<bool> {
    let updated = run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        action.id.0,
        action.name.as_str(),
        action.slug.as_str(),
        action.description.as_str(),
        action.agent_slug.as_deref(),
        action.assigned_to.map(|id| id.0),
        action.output_type.as_str(),
        action.output_config.as_str(),
        action.metadata.as_str(),
        action.status.as_str(),
        to_micros(action.updated_at),
        action.target_entity_id.map(|id| id.0),
    );
    is_free(updated)
}
