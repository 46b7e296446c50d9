//! Reading the audit list, and checking its chain.

use crate::{
    Error, Ledger, ListPage, Listed, Result,
    cursor::{List, encode_version},
    guard::require_for,
};
use domain::{
    Scope, Timestamp,
    audit::{Kind, is_actor},
    chain::Digest,
    id::TenantId,
    role::Permission,
};
use store::{
    Access, Conn, EntryRecord,
    audit::{AuditHead, EntryFilter},
};

/// Number of entries that one read of the check returns.
const ENTRIES: u32 = 1_000;

/// Filter and page of a list of entries.
#[derive(Debug, Clone, Default)]
pub struct ListEntries {
    /// Only acts of this kind.
    pub kind: Option<Kind>,
    /// Only acts of this caller: `user:ID`, `token:ID`, `agent:SLUG` or `system`.
    pub actor: Option<String>,
    /// Only acts after this time (UTC).
    pub after: Option<Timestamp>,
    /// Only acts before this time (UTC).
    pub before: Option<Timestamp>,
    /// Which part of the list.
    pub page: ListPage,
}

/// Returns one page of entries, newest first. For admins.
///
/// # Errors
/// [`Error::Invalid`] for an actor that is none, and for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of
/// another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListEntries) -> Result<Listed<EntryRecord>> {
    require_admin(scope)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| list_on(conn, tenant_id, query).await).await
}

/// Refuses everyone but admins.
pub(crate) fn require_admin(scope: &Scope) -> Result<()> {
    require_for(scope, Permission::Administer, "only admins can read the audit list")
}

/// [`list`] on an open connection, for a caller who is an admin.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    query: ListEntries,
) -> Result<Listed<EntryRecord>> {
    if query.actor.as_deref().is_some_and(|actor| !is_actor(actor)) {
        return Err(Error::invalid("actor", "user:ID, token:ID, agent:SLUG or system"));
    }
    let (before, limit) = query.page.before_version(List::AuditEntries)?;
    let ListEntries { kind, actor, after, before: until, .. } = query;
    let filter = EntryFilter { kind, actor, after, before: until };
    let page = store::audit::list(conn, tenant_id, &filter, before, limit).await?;
    Ok(Listed::of(page, |last| encode_version(List::AuditEntries, last.sequence)))
}

/// Checks the chains of all workspaces. Returns the number of entries, and the first error of each workspace.
pub(crate) async fn checked(ledger: &Ledger) -> Result<(u64, Vec<String>)> {
    let read = ledger.store().read_by_operator(Access::System, async |conn| {
        Ok((store::audit::heads(conn).await?, store::audit::headless(conn).await?))
    });
    let (heads, headless) = read.await?;
    let (mut entries, mut problems) = (0, Vec::new());
    for head in heads {
        entries += head.entries;
        problems.extend(problem(ledger, head).await?);
    }
    let without = |id| format!("workspace {id}: its audit list has entries, but nothing says where it ends");
    problems.extend(headless.into_iter().map(without));
    Ok((entries, problems))
}

/// The first error of one list, up to the end that its head names. Entries that are added meanwhile are not checked.
async fn problem(ledger: &Ledger, head: AuditHead) -> Result<Option<String>> {
    let AuditHead { tenant_id, entries, digest: end } = head;
    let (mut sequence, mut digest) = (0, Digest::GENESIS);
    while sequence < entries {
        let after = (sequence, digest);
        let read = ledger.store().read_by_operator(Access::System, async move |conn| {
            store::audit::checked_after(conn, tenant_id, after, ENTRIES).await
        });
        let page = read.await?;
        if page.is_empty() {
            break;
        }
        for entry in page.into_iter().filter(|entry| entry.sequence <= entries) {
            let next = sequence + 1;
            if entry.sequence != next {
                return Ok(Some(format!("workspace {tenant_id}: audit entry {next} is missing")));
            }
            if entry.digest != Some(entry.computed) {
                return Ok(Some(format!("workspace {tenant_id}: audit entry {next} was changed")));
            }
            (sequence, digest) = (next, entry.computed);
        }
    }
    if sequence != entries {
        return Ok(Some(format!(
            "workspace {tenant_id}: audit entry {} is missing: there are to be {entries}",
            sequence + 1
        )));
    }
    let ends = sequence == 0 || digest == end;
    Ok((!ends).then(|| format!("workspace {tenant_id}: its audit list ends with another entry than it should")))
}
