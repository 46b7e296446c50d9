//! Rows of `audit_entries` and `audit_heads`: acts of administrators and sign-ins, one chain for each workspace.
//!
//! An entry is added in the transaction of its act, as the last thing that the transaction does: its lock is then the
//! last one that is taken, and two transactions never wait for each other.

use crate::{
    engine::{Conn, Error, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    audit::{Kind, TargetKind},
    chain::{AUDIT_TAG, AuditLink, Digest, audit_digest, audit_tail},
    clock::{from_micros, to_micros},
    id::TenantId,
    limit::AUDITED_REFUSALS_PER_MINUTE,
};
use uuid::Uuid;

macro_rules! entry_select {
    ($rest:expr) => {
        concat!(
            "SELECT sequence, at, kind, actor, target_kind, target_id, detail, digest FROM audit_entries \
             WHERE tenant_id = $1 ",
            $rest
        )
    };
}
// One text per filter, so that each walks its own index. Every text uses all binds.
macro_rules! list_select {
    ($kind:literal, $actor:literal) => {
        entry_select!(concat!(
            "AND (sequence < $2 OR $2 IS NULL) AND (at > $3 OR $3 IS NULL) AND (at < $4 OR $4 IS NULL) AND ",
            $kind,
            " AND ",
            $actor,
            " ORDER BY sequence DESC LIMIT $7"
        ))
    };
}

statements! {
    const LIST: &str = list_select!("CAST($5 AS TEXT) IS NULL", "CAST($6 AS TEXT) IS NULL");
    const LIST_OF_KIND: &str = list_select!("kind = $5", "CAST($6 AS TEXT) IS NULL");
    const LIST_OF_ACTOR: &str = list_select!("CAST($5 AS TEXT) IS NULL", "actor = $6");
    const LIST_OF_BOTH: &str = list_select!("kind = $5", "actor = $6");
    const AFTER: &str = entry_select!("AND sequence > $2 ORDER BY sequence LIMIT $3");
    const INSERT: &str = "INSERT INTO audit_entries (tenant_id, sequence, at, kind, actor, target_kind, target_id, detail, digest) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    // Makes the row of a workspace's first entry, and locks it.
    const LOCK_HEAD: &str = "INSERT INTO audit_heads (tenant_id, entries, digest, refused_minute, refused, unlisted) \
         VALUES ($1, 0, $2, 0, 0, 0) ON CONFLICT (tenant_id) DO UPDATE SET entries = audit_heads.entries \
         RETURNING entries, digest, refused_minute, refused, unlisted";
    const SAVE_HEAD: &str = "UPDATE audit_heads SET entries = $2, digest = $3 WHERE tenant_id = $1";
    const SAVE_REFUSALS: &str =
        "UPDATE audit_heads SET refused_minute = $2, refused = $3, unlisted = $4 WHERE tenant_id = $1";
    const HEADS: &str = "SELECT tenant_id, entries, digest FROM audit_heads ORDER BY tenant_id";
    const HEADLESS: &str = "SELECT DISTINCT e.tenant_id FROM audit_entries e WHERE NOT EXISTS \
         (SELECT 1 FROM audit_heads h WHERE h.tenant_id = e.tenant_id) ORDER BY e.tenant_id LIMIT $1";
    // One round trip: the place and the digest before it are known only under the lock of the head.
    const APPEND_POSTGRES: &str = "WITH head AS (INSERT INTO audit_heads AS h (tenant_id, entries, digest, refused_minute, refused, unlisted) \
         VALUES ($1, 1, sha256($2::bytea || $3::bytea || uuid_send($1) || int8send(1) || $4::bytea), 0, 0, 0) \
         ON CONFLICT (tenant_id) DO UPDATE SET entries = h.entries + 1, \
         digest = sha256($2::bytea || h.digest || uuid_send($1) || int8send(h.entries + 1) || $4::bytea) \
         RETURNING entries, digest) \
         INSERT INTO audit_entries (tenant_id, sequence, at, kind, actor, target_kind, target_id, detail, digest) \
         SELECT $1, entries, $5, $6, $7, $8, $9, $10, digest FROM head";
}

/// Workspaces without a head that a check names at most.
const HEADLESS_NAMED_MAX: i64 = 20;
/// Microseconds of a minute.
const MINUTE: i64 = 60_000_000;

/// An entry that is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Time of the act (UTC).
    pub at: Timestamp,
    /// What was done.
    pub kind: Kind,
    /// Who did it, as `user:…`, `token:…` or `system`; `None` if no one has proven who they are.
    pub actor: Option<String>,
    /// What it was done to.
    pub target: Option<(TargetKind, Uuid)>,
    /// A JSON object with what else is to be known.
    pub detail: String,
}

impl NewEntry {
    fn link(&self) -> AuditLink<'_> {
        AuditLink {
            at: self.at,
            kind: self.kind.as_str(),
            actor: self.actor.as_deref(),
            target: self.target.map(|(kind, id)| (kind.as_str(), id)),
            detail: &self.detail,
        }
    }
}

/// A recorded entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRecord {
    /// Number of the entry in its workspace; the first is 1, and there are no gaps.
    pub sequence: u64,
    /// Time of the act (UTC).
    pub at: Timestamp,
    /// What was done.
    pub kind: Kind,
    /// Who did it, as `user:…`, `token:…` or `system`; `None` if no one has proven who they are.
    pub actor: Option<String>,
    /// What it was done to.
    pub target: Option<(TargetKind, Uuid)>,
    /// A JSON object with what else is to be known.
    pub detail: String,
    /// Digest of this entry and all before it.
    pub digest: Digest,
}

record! {
    struct Row of "audit_entries" {
        sequence: i64,
        at: i64,
        kind: String,
        actor: Option<String>,
        target_kind: Option<String>,
        target_id: Option<Uuid>,
        detail: String,
        digest: Vec<u8>,
    }
}

impl TryFrom<Row> for EntryRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("audit_entries", column, value);
        let target = match (&row.target_kind, row.target_id) {
            (Some(kind), Some(id)) => Some((TargetKind::parse(kind).ok_or_else(|| bad("target_kind", kind))?, id)),
            _ => None,
        };
        Ok(Self {
            sequence: row.sequence.cast_unsigned(),
            at: from_micros(row.at),
            kind: Kind::parse(&row.kind).ok_or_else(|| bad("kind", &row.kind))?,
            digest: Digest::from_slice(&row.digest).ok_or_else(|| bad("digest", &row.digest.len()))?,
            actor: row.actor,
            target,
            detail: row.detail,
        })
    }
}

/// Adds an entry to the list of a workspace. Nothing may be locked after it in the transaction.
pub async fn append(tx: &mut WriteTx<'_>, tenant_id: TenantId, entry: &NewEntry) -> Result<()> {
    let (kind, actor, detail) = (entry.kind.as_str(), entry.actor.as_deref(), entry.detail.as_str());
    let (target_kind, target_id) = (entry.target.map(|(kind, _)| kind.as_str()), entry.target.map(|(_, id)| id));
    let at = to_micros(entry.at);
    if let Conn::Postgres(c) = tx.conn() {
        let added = sqlx::query(APPEND_POSTGRES)
            .bind(tenant_id.0)
            .bind(AUDIT_TAG)
            .bind(&Digest::GENESIS.0[..])
            .bind(audit_tail(&entry.link()));
        let added = added.bind(at).bind(kind).bind(actor).bind(target_kind).bind(target_id).bind(detail);
        added.execute(&mut **c).await?;
        return Ok(());
    }
    let head = lock_head(tx, tenant_id).await?;
    let sequence = head.entries + 1;
    let digest = audit_digest(head.digest, tenant_id.0, sequence.cast_unsigned(), &entry.link());
    let (conn, digest) = (tx.conn(), &digest.0[..]);
    run!(conn, execute, INSERT, tenant_id.0, sequence, at, kind, actor, target_kind, target_id, detail, digest)?;
    run!(conn, execute, SAVE_HEAD, tenant_id.0, sequence, digest)?;
    Ok(())
}

/// Counts one more refused sign-in. Returns how many since the last entry have none, if this one is to have an entry:
/// a workspace has at most [`AUDITED_REFUSALS_PER_MINUTE`] of them in one minute. The list stays locked until the
/// transaction ends.
pub async fn count_refusal(tx: &mut WriteTx<'_>, tenant_id: TenantId, at: Timestamp) -> Result<Option<u64>> {
    let head = lock_head(tx, tenant_id).await?;
    let minute = to_micros(at).div_euclid(MINUTE);
    let listed = if head.refused_minute == minute { head.refused } else { 0 };
    let is_listed = listed < i64::from(AUDITED_REFUSALS_PER_MINUTE);
    let (refused, unlisted) = if is_listed { (listed + 1, 0) } else { (listed, head.unlisted + 1) };
    run!(tx.conn(), execute, SAVE_REFUSALS, tenant_id.0, minute, refused, unlisted)?;
    Ok(is_listed.then_some(head.unlisted.cast_unsigned()))
}

struct Head {
    entries: i64,
    digest: Digest,
    /// Minute since the epoch of the last counted refusal.
    refused_minute: i64,
    /// Entries of refusals in that minute.
    refused: i64,
    /// Refusals since the last entry of one.
    unlisted: i64,
}

async fn lock_head(tx: &mut WriteTx<'_>, tenant_id: TenantId) -> Result<Head> {
    type Locked = (i64, Vec<u8>, i64, i64, i64);
    let row = run!(tx.conn(), fetch_one Locked, LOCK_HEAD, tenant_id.0, &Digest::GENESIS.0[..])?;
    let (entries, digest, refused_minute, refused, unlisted) = row;
    Ok(Head { entries, digest: head_digest(&digest)?, refused_minute, refused, unlisted })
}

fn head_digest(bytes: &[u8]) -> Result<Digest> {
    Digest::from_slice(bytes).ok_or_else(|| Error::inconsistent("audit_heads", "digest", bytes.len()))
}

/// Which entries a list has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Only acts of this kind.
    pub kind: Option<Kind>,
    /// Only acts of this caller, as `user:…`, `token:…` or `system`.
    pub actor: Option<String>,
    /// Only acts after this time (UTC).
    pub after: Option<Timestamp>,
    /// Only acts before this time (UTC).
    pub before: Option<Timestamp>,
}

/// One page of entries, newest first. With `before`, only entries with a lower number.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    filter: &EntryFilter,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<EntryRecord>> {
    let (kind, actor) = (filter.kind.map(Kind::as_str), filter.actor.as_deref());
    let sql = match (kind, actor) {
        (None, None) => LIST,
        (Some(_), None) => LIST_OF_KIND,
        (None, Some(_)) => LIST_OF_ACTOR,
        (Some(_), Some(_)) => LIST_OF_BOTH,
    };
    let (after, until) = (filter.after.map(to_micros), filter.before.map(to_micros));
    let (before, most) = (before.map(u64::cast_signed), i64::from(limit) + 1);
    let mut rows = run!(conn, fetch_all Row, sql, tenant_id.0, before, after, until, kind, actor, most)?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    Ok(Page { items: rows.into_iter().map(EntryRecord::try_from).collect::<Result<_>>()?, has_more })
}

/// The end of the list of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditHead {
    /// Workspace of the list.
    pub tenant_id: TenantId,
    /// Number of entries.
    pub entries: u64,
    /// Digest of the last entry.
    pub digest: Digest,
}

/// The heads of all lists.
pub async fn heads(conn: &mut Conn<'_>) -> Result<Vec<AuditHead>> {
    type Stored = (Uuid, i64, Vec<u8>);
    let rows = run!(conn, fetch_all Stored, HEADS)?;
    let head = |(tenant_id, entries, digest): Stored| {
        let digest = head_digest(&digest)?;
        Ok(AuditHead { tenant_id: TenantId(tenant_id), entries: entries.cast_unsigned(), digest })
    };
    rows.into_iter().map(head).collect()
}

/// Workspaces that have entries and no head, at most 20.
pub async fn headless(conn: &mut Conn<'_>) -> Result<Vec<TenantId>> {
    type One = (Uuid,);
    let rows = run!(conn, fetch_all One, HEADLESS, HEADLESS_NAMED_MAX)?;
    Ok(rows.into_iter().map(|(id,)| TenantId(id)).collect())
}

/// An entry for the check of its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedEntry {
    /// Stored number.
    pub sequence: u64,
    /// Stored digest; `None` if it has not the length of one.
    pub digest: Option<Digest>,
    /// Digest computed from the entry and from `previous`.
    pub computed: Digest,
}

/// Entries of a workspace in order, after the entry `after`, whose digest is `previous`. Each is computed from the
/// stored digest of the one before.
pub async fn checked_after(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (after, previous): (u64, Digest),
    limit: u32,
) -> Result<Vec<CheckedEntry>> {
    let rows = run!(conn, fetch_all Row, AFTER, tenant_id.0, after.cast_signed(), i64::from(limit))?;
    let mut previous = previous;
    let checked = rows.into_iter().map(|row| {
        let sequence = row.sequence.cast_unsigned();
        let link = AuditLink {
            at: from_micros(row.at),
            kind: &row.kind,
            actor: row.actor.as_deref(),
            target: row.target_kind.as_deref().zip(row.target_id),
            detail: &row.detail,
        };
        let computed = audit_digest(previous, tenant_id.0, sequence, &link);
        let digest = Digest::from_slice(&row.digest);
        previous = digest.unwrap_or(computed);
        CheckedEntry { sequence, digest, computed }
    });
    Ok(checked.collect())
}
