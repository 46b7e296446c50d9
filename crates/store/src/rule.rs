//! Rows of `rules`, `rule_versions` and `rule_uses`: rules that decide gates, and what they decided.

use crate::{
    engine::{Conn, Error, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    gate::{GateState, Verdict},
    id::{GateId, RuleId, SessionId, TenantId, UserId},
    rule::{Definition, State, SuspendedWhy, Used},
};
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! rule_select {
    ($rest:expr) => {
        concat!(
            "SELECT id, version, state, definition, made_by, made_at, created_by, created_at, updated_by, updated_at, \
             suspended_why, suspended_gate FROM rules WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}
macro_rules! active_select {
    ($rest:literal) => {
        rule_select!(concat!("subject_key = $2 AND state = 'active' ORDER BY id LIMIT $3", $rest))
    };
}
macro_rules! counts_select {
    ($ids:literal) => {
        concat!(
            "SELECT rule_id, COALESCE(SUM(CASE WHEN at >= $4 THEN 1 ELSE 0 END), 0), COUNT(*) FROM rule_uses \
             WHERE tenant_id = $1 AND rule_id ",
            $ids,
            " AND at >= $3 GROUP BY rule_id"
        )
    };
}
macro_rules! decided_among {
    ($ids:literal) => {
        concat!("SELECT gate_id FROM rule_uses WHERE tenant_id = $1 AND gate_id ", $ids)
    };
}

statements! {
    const BY_ID: &str = rule_select!("id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = rule_select!("id = $2 FOR UPDATE");
    const LIST: &str = rule_select!("state <> 'deleted' AND (id < $2 OR $2 IS NULL) ORDER BY id DESC LIMIT $3");
    const ACTIVE: &str = active_select!("");
    const ACTIVE_LOCKED_POSTGRES: &str = active_select!(" FOR UPDATE");
    const COUNT: &str = "SELECT COUNT(*), COALESCE(SUM(CASE WHEN subject_key = $2 THEN 1 ELSE 0 END), 0) FROM rules \
         WHERE tenant_id = $1 AND state <> 'deleted'";
    const INSERT: &str = "INSERT INTO rules (tenant_id, id, version, state, subject_key, definition, made_by, made_at, \
         created_by, created_at, updated_by, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    const UPDATE: &str = "UPDATE rules SET version = $3, state = $4, definition = $5, made_by = $6, made_at = $7, \
         updated_by = $8, updated_at = $9, suspended_why = $10, suspended_gate = $11 WHERE tenant_id = $1 AND id = $2";
    const INSERT_VERSION: &str = "INSERT INTO rule_versions (tenant_id, rule_id, version, definition, made_by, made_at) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    const VERSIONS: &str = "SELECT version, definition, made_by, made_at FROM rule_versions \
         WHERE tenant_id = $1 AND rule_id = $2 AND (version < $3 OR $3 IS NULL) ORDER BY version DESC LIMIT $4";
    const INSERT_USE: &str = "INSERT INTO rule_uses (tenant_id, gate_id, rule_id, version, at, amount) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    const USED: &str = "SELECT COUNT(*), CAST(COALESCE(SUM(amount), 0) AS bigint) FROM rule_uses \
         WHERE tenant_id = $1 AND rule_id = $2 AND at >= $3 AND at < $4";
    const OF_GATE: &str = "SELECT rule_id, version FROM rule_uses WHERE tenant_id = $1 AND gate_id = $2";
    const USES: &str = "SELECT u.gate_id, u.version, u.at, g.session_id, g.title, g.state, g.outcome FROM rule_uses u \
         JOIN gates g ON g.tenant_id = u.tenant_id AND g.id = u.gate_id WHERE u.tenant_id = $1 AND u.rule_id = $2 \
         AND (u.at < $3 OR (u.at = $3 AND u.gate_id < $4) OR $4 IS NULL) ORDER BY u.at DESC, u.gate_id DESC LIMIT $5";
    const COUNTS_SQLITE: &str = counts_select!("IN (SELECT unhex(value) FROM json_each($2))");
    const COUNTS_POSTGRES: &str = counts_select!("= ANY($2)");
    const DECIDED_AMONG_SQLITE: &str = decided_among!("IN (SELECT unhex(value) FROM json_each($2))");
    const DECIDED_AMONG_POSTGRES: &str = decided_among!("= ANY($2)");
}

record! {
    /// A rule with its newest version.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RuleRecord of "rules" {
        /// Identifies the rule.
        pub id: RuleId,
        /// Number of the newest version; the first is 1.
        pub version: u64,
        /// Whether the rule decides.
        pub state: State,
        /// What the newest version decides.
        pub definition: Definition,
        /// The admin who made the newest version.
        pub made_by: UserId,
        /// Time the newest version was made (UTC).
        pub made_at: Timestamp,
        /// Who made the rule.
        pub created_by: String,
        /// Time the rule was made (UTC).
        pub created_at: Timestamp,
        /// Who changed, suspended, resumed or deleted it last.
        pub updated_by: String,
        /// Time of that change (UTC).
        pub updated_at: Timestamp,
        /// Why it is suspended; only and always of a suspended rule.
        pub suspended_why: Option<SuspendedWhy>,
        /// The gate whose decision suspended it.
        pub suspended_gate: Option<GateId>,
    }
}

record! {
    /// A version of a rule. It never changes.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RuleVersionRecord of "rule_versions" {
        /// Number of the version; the first is 1.
        pub version: u64,
        /// What it decides.
        pub definition: Definition,
        /// The admin who made it.
        pub made_by: UserId,
        /// Time it was made (UTC).
        pub made_at: Timestamp,
    }
}

record! {
    /// A decision of a rule, and what has become of it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RuleUseRecord of "rule_uses" {
        /// The gate that was decided.
        pub gate_id: GateId,
        /// The version that decided.
        pub version: u64,
        /// Time of the decision (UTC).
        pub at: Timestamp,
        /// Session of the gate.
        pub session_id: SessionId,
        /// Title of the gate.
        pub title: String,
        /// State of the gate now.
        pub state: GateState,
        /// Verdict that counts now; `None` after an undo.
        pub outcome: Option<Verdict>,
    }
}

fn json(definition: &Definition) -> Result<String> {
    serde_json::to_string(definition).map_err(|error| Error::Database(error.to_string()))
}

/// Ids as SQLite takes a list of them.
fn hex_list(ids: impl Iterator<Item = Uuid>) -> String {
    serde_json::Value::from(ids.map(|id| id.simple().to_string()).collect::<Vec<_>>()).to_string()
}

/// The rule, unless its columns contradict each other.
fn checked(rule: RuleRecord) -> Result<RuleRecord> {
    if (rule.state == State::Suspended) == rule.suspended_why.is_some() {
        return Ok(rule);
    }
    Err(Error::inconsistent("rules", "suspended_why", rule.suspended_why))
}

/// A rule of this workspace, deleted ones included.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: RuleId) -> Result<Option<RuleRecord>> {
    run!(conn, fetch_optional RuleRecord, BY_ID, tenant_id.0, id.0)?.map(checked).transpose()
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: RuleId) -> Result<Option<RuleRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    run!(tx.conn(), fetch_optional RuleRecord, sql, tenant_id.0, id.0)?.map(checked).transpose()
}

/// One page of rules that are not deleted, newest first, starting after `before`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    before: Option<RuleId>,
    limit: u32,
) -> Result<Page<RuleRecord>> {
    let rows = run!(conn, fetch_all RuleRecord, LIST, tenant_id.0, before.map(|id| id.0), i64::from(limit) + 1)?;
    let rules = rows.into_iter().map(checked).collect::<Result<_>>()?;
    Ok(Page::of(rules, limit))
}

/// Active rules about gates with this subject, oldest first, locked until the transaction ends: what they decide on a
/// day is counted under the lock.
pub async fn active_locked(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    subject_key: &str,
    max: u64,
) -> Result<Vec<RuleRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { ACTIVE } else { ACTIVE_LOCKED_POSTGRES };
    let rows = run!(tx.conn(), fetch_all RuleRecord, sql, tenant_id.0, subject_key, max.cast_signed())?;
    rows.into_iter().map(checked).collect()
}

/// Number of rules that are not deleted, and of those among them about gates with this subject.
pub async fn count(conn: &mut Conn<'_>, tenant_id: TenantId, subject_key: &str) -> Result<(u64, u64)> {
    let (all, alike) = run!(conn, fetch_one(i64, i64), COUNT, tenant_id.0, subject_key)?;
    Ok((all.cast_unsigned(), alike.cast_unsigned()))
}

/// Adds a rule with its first version.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, rule: &RuleRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        rule.id.0,
        rule.version.cast_signed(),
        rule.state.as_str(),
        rule.definition.subject.key().as_str(),
        json(&rule.definition)?.as_str(),
        rule.made_by.0,
        to_micros(rule.made_at),
        rule.created_by.as_str(),
        to_micros(rule.created_at),
        rule.updated_by.as_str(),
        to_micros(rule.updated_at),
    )?;
    insert_version(tx, tenant_id, rule).await
}

/// Writes the changed columns of a rule; the caller holds its lock. The subject never changes.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, rule: &RuleRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        rule.id.0,
        rule.version.cast_signed(),
        rule.state.as_str(),
        json(&rule.definition)?.as_str(),
        rule.made_by.0,
        to_micros(rule.made_at),
        rule.updated_by.as_str(),
        to_micros(rule.updated_at),
        rule.suspended_why.map(SuspendedWhy::as_str),
        rule.suspended_gate.map(|id| id.0),
    )?;
    Ok(())
}

/// Adds the newest version of a rule. The row of the rule exists.
pub async fn insert_version(tx: &mut WriteTx<'_>, tenant_id: TenantId, rule: &RuleRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT_VERSION,
        tenant_id.0,
        rule.id.0,
        rule.version.cast_signed(),
        json(&rule.definition)?.as_str(),
        rule.made_by.0,
        to_micros(rule.made_at),
    )?;
    Ok(())
}

/// One page of a rule's versions, newest first, starting after `before`.
pub async fn versions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: RuleId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<RuleVersionRecord>> {
    let before = before.map(u64::cast_signed);
    let rows = run!(conn, fetch_all RuleVersionRecord, VERSIONS, tenant_id.0, id.0, before, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

/// Records that a rule decided a gate. The caller holds the locks of both. `amount` counts towards the limit of the
/// day, millionths.
pub async fn record_use(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (id, version): (RuleId, u64),
    gate_id: GateId,
    (at, amount): (Timestamp, i64),
) -> Result<()> {
    run!(tx.conn(), execute, INSERT_USE, tenant_id.0, gate_id.0, id.0, version.cast_signed(), to_micros(at), amount,)?;
    Ok(())
}

/// What a rule decided from `begin` until `end`, which is not included.
pub async fn used(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: RuleId,
    (begin, end): (Timestamp, Timestamp),
) -> Result<Used> {
    let (begin, end) = (to_micros(begin), to_micros(end));
    let (count, amount_micros) = run!(conn, fetch_one(i64, i64), USED, tenant_id.0, id.0, begin, end)?;
    Ok(Used { count: count.cast_unsigned(), amount_micros })
}

/// The rule that decided a gate, and its version then.
pub async fn of_gate(conn: &mut Conn<'_>, tenant_id: TenantId, id: GateId) -> Result<Option<(RuleId, u64)>> {
    let row = run!(conn, fetch_optional(Uuid, i64), OF_GATE, tenant_id.0, id.0)?;
    Ok(row.map(|(rule, version)| (RuleId(rule), version.cast_unsigned())))
}

/// One page of a rule's decisions, newest first, starting after `before`.
pub async fn uses(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: RuleId,
    before: Option<(i64, GateId)>,
    limit: u32,
) -> Result<Page<RuleUseRecord>> {
    let (at, gate) = (before.map_or(0, |(at, _)| at), before.map(|(_, gate)| gate.0));
    let rows = run!(conn, fetch_all RuleUseRecord, USES, tenant_id.0, id.0, at, gate, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

/// How many gates each of these rules decided since `recent` and since `since`, the earlier one. Rules that decided
/// none are left out.
pub async fn counts(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[RuleId],
    (since, recent): (Timestamp, Timestamp),
) -> Result<HashMap<RuleId, (u64, u64)>> {
    type Count = (Uuid, i64, i64);
    let (since, recent) = (to_micros(since), to_micros(recent));
    let rows: Vec<Count> = match conn {
        Conn::Sqlite(c) => {
            let ids = hex_list(ids.iter().map(|id| id.0));
            c.fetch_all::<Count>(COUNTS_SQLITE, &[&tenant_id.0, &ids, &since, &recent])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            let query = sqlx::query_as(COUNTS_POSTGRES).bind(tenant_id.0).bind(ids).bind(since).bind(recent);
            query.fetch_all(&mut **c).await?
        }
    };
    let count = |(id, recent, all): Count| (RuleId(id), (recent.cast_unsigned(), all.cast_unsigned()));
    Ok(rows.into_iter().map(count).collect())
}

/// Those of these gates that a rule decided.
pub async fn decided_among(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[GateId]) -> Result<Vec<GateId>> {
    let rows: Vec<(Uuid,)> = match conn {
        Conn::Sqlite(c) => {
            let ids = hex_list(ids.iter().map(|id| id.0));
            c.fetch_all::<(Uuid,)>(DECIDED_AMONG_SQLITE, &[&tenant_id.0, &ids])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(DECIDED_AMONG_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(|(id,)| GateId(id)).collect())
}
