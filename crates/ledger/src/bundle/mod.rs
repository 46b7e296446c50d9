//! Installs bundles. A bundle is installed completely or not at all. A dry run performs the install and rolls it
//! back.

mod action;
mod criteria_set;
mod entity_type;
mod group;
mod mcp_server;
mod read;
mod tool;
mod view;

pub use read::read;

use crate::{Error, Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope, Timestamp,
    bundle::{Bundle, Plan},
    id::{TenantId, UserId, new_v7},
    issue::Issue,
    role::Permission,
};
use store::{Access, Conn, WriteTx};
use uuid::Uuid;

/// Whether an install is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Roll back and only return the plan.
    DryRun,
    /// Commit the install and return the plan.
    Apply,
}

/// Installs the bundle in `text` and returns what changed or, in a dry run, what would change.
///
/// # Errors
/// Those of [`read()`]; [`Error::Invalid`] with the path in the file; [`Error::Forbidden`] if the caller may not manage
/// something in it; [`Error::NameTaken`] and [`Error::LimitReached`] as when an item is created by itself.
pub async fn install(ledger: &Ledger, scope: &Scope, text: &str, mode: Mode) -> Result<Plan> {
    require(scope, Permission::Read)?;
    let bundle = read(text)?;
    for (any, permission) in [
        (!bundle.groups.is_empty(), Permission::ManageGroups),
        (!bundle.criteria_sets.is_empty(), Permission::ManageCriteriaSets),
        (!bundle.entity_types.is_empty(), Permission::ManageEntityTypes),
        (!bundle.views.is_empty(), Permission::ManageViews),
        (!bundle.mcp_servers.is_empty() || !bundle.tools.is_empty(), Permission::ManageTools),
        (!bundle.actions.is_empty(), Permission::ManageActions),
    ] {
        if any {
            require(scope, permission)?;
        }
    }
    let now = ledger.now();
    let ids = (0..bundle.len()).map(|_| new_v7(now, ledger.entropy())).collect();
    let context = Context {
        tenant_id: scope.tenant_id,
        scope: *scope,
        actor: scope.caller.to_string(),
        now,
        ids,
        ledger: ledger.clone(),
        acts: Vec::new(),
    };
    let installed = ledger.write_or_refuse(scope.into(), async move |tx| {
        let plan = install_all(tx, context, &bundle).await?;
        match mode {
            Mode::Apply => Ok(plan),
            Mode::DryRun => Err(Stop::DryRun(plan)),
        }
    });
    match installed.await {
        Ok(plan) | Err(Stop::DryRun(plan)) => Ok(plan),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Does the same as [`install`] for the operator of the server, in the workspace with this slug.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace, and those of [`install`].
pub async fn install_by_operator(ledger: &Ledger, tenant_slug: &str, text: &str, mode: Mode) -> Result<Plan> {
    let slug = tenant_slug.to_owned();
    let found = ledger.store().read(Access::System, async move |conn| store::tenant::find_by_slug(conn, &slug).await);
    let tenant = found.await?.ok_or(Error::NotFound("workspace"))?;
    install(ledger, &Scope::system(tenant.id), text, mode).await
}

/// Why the transaction is rolled back.
enum Stop {
    /// A dry run is complete.
    DryRun(Plan),
    /// An error occurred.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<store::Error> for Stop {
    fn from(error: store::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Who installs, where and when.
struct Context {
    tenant_id: TenantId,
    scope: Scope,
    actor: String,
    now: Timestamp,
    /// Unused ids, at least one for each item of the bundle. They are created before the transaction, which has
    /// no source of randomness.
    ids: Vec<Uuid>,
    /// For rules that depend on settings.
    ledger: Ledger,
    /// Acts that are recorded once everything else is written.
    acts: Vec<Act>,
}

impl Context {
    fn new_id(&mut self) -> Uuid {
        self.ids.pop().unwrap_or_default()
    }
}

/// Installs all items in the order of their references: views, tools and actions refer to groups, views and actions to
/// criteria sets, views to entity types too, tools to MCP servers, and composite tools to other tools.
async fn install_all(tx: &mut WriteTx<'_>, mut context: Context, bundle: &Bundle) -> Result<Plan> {
    let mut plan = Plan::default();
    if !bundle.groups.is_empty() {
        // New groups need it. The removal of a member takes it before the rows of groups: in another order, the two
        // could wait for each other.
        store::user::lock_admins(tx, context.tenant_id).await?;
    }
    for (index, wanted) in bundle.groups.iter().enumerate() {
        plan.items.push(at("groups", index, group::install(tx, &mut context, wanted).await)?);
    }
    for (index, wanted) in bundle.criteria_sets.iter().enumerate() {
        plan.items.push(at("criteriaSets", index, criteria_set::install(tx, &mut context, wanted).await)?);
    }
    let mut types = Vec::new();
    for (index, wanted) in bundle.entity_types.iter().enumerate() {
        let (item, record) = at("entityTypes", index, entity_type::install(tx, &mut context, wanted).await)?;
        plan.items.push(item);
        types.push(record);
    }
    // Types may refer to each other, so relations are checked after all types are stored.
    for (index, record) in types.iter().enumerate() {
        at("entityTypes", index, crate::entity_type::check_relations(tx.conn(), context.tenant_id, record).await)?;
    }
    for (index, wanted) in bundle.views.iter().enumerate() {
        plan.items.push(at("views", index, view::install(tx, &mut context, wanted).await)?);
    }
    for (index, wanted) in bundle.mcp_servers.iter().enumerate() {
        plan.items.push(at("mcpServers", index, mcp_server::install(tx, &mut context, wanted).await)?);
    }
    for index in tool::order(&bundle.tools) {
        plan.items.push(at("tools", index, tool::install(tx, &mut context, &bundle.tools[index]).await)?);
    }
    for (index, wanted) in bundle.actions.iter().enumerate() {
        plan.items.push(at("actions", index, action::install(tx, &mut context, wanted).await)?);
    }
    for act in &context.acts {
        act.record(tx, context.tenant_id).await?;
    }
    Ok(plan)
}

/// Adds the item's path in the file to the fields of an error.
fn at<T>(list: &str, index: usize, result: Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        Error::Invalid(fields) => {
            let placed = |e: Issue| Issue::new(format!("{list}[{index}].{}", e.field), e.message);
            Error::Invalid(fields.into_iter().map(placed).collect())
        }
        Error::LimitReached(message) => Error::LimitReached(format!("{list}[{index}]: {message}")),
        other => other,
    })
}

/// Returns the member of the workspace with this address.
async fn member(conn: &mut Conn<'_>, tenant_id: TenantId, email: &str) -> Result<Option<UserId>> {
    let Some(user) = store::user::find_by_email(conn, &email.trim().to_lowercase()).await? else { return Ok(None) };
    Ok(store::user::find_member(conn, tenant_id, user.id).await?.map(|member| member.user_id))
}
