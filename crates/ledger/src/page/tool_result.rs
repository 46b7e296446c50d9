//! The page /sessions/{id}/promote: what the result of a tool can be written to, and by which task.

use super::choice::{Choices, choices};
use crate::{
    Error, Ledger, Result,
    guard::require,
    output::{Taken, target},
    response::promotion::writes_one_entity,
    session,
};
use domain::{
    Scope,
    action::ActionStatus,
    entity::FIELD_TITLE,
    id::{ActionId, EntityId, SessionId, TenantId},
    issue::Issue,
    role::Permission,
    session::{Session, Status, Type},
    tool::{
        named_parts,
        parts::{Part, parts, pointer_named},
    },
};
use serde_json::Value;
use store::Conn;

/// Number of tasks that the form offers. The API takes the others.
const TASKS: u32 = 200;
/// Number of parts of the result that are suggested for each field.
const SUGGESTIONS: usize = 40;
/// Names of parts that can be the title of an entity.
const TITLE_NAMES: [&str; 2] = [FIELD_TITLE, "name"];

/// What the viewer chose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query {
    /// The task whose output the result is.
    pub action_id: Option<ActionId>,
    /// The entity that is written. By default the one that the task is about.
    pub entity_id: Option<EntityId>,
}

/// Everything that the page shows.
#[derive(Debug)]
pub struct Page {
    /// The session of the tool, which has a result.
    pub session: Session,
    /// Active tasks whose output is one entity, with their names, newest first.
    pub tasks: Vec<(ActionId, String)>,
    /// Whether there are more tasks.
    pub has_more_tasks: bool,
    /// Entities that can be written.
    pub entities: Choices,
    /// What the chosen task writes.
    pub target: Option<Target>,
    /// Why the chosen task cannot write the result. Its field is `task` or `entity`.
    pub refused: Option<Issue>,
}

/// The tasks by which the result of a run can be written when it completes.
#[derive(Debug)]
pub struct Targets {
    /// Active tasks whose output is one entity, with their names, newest first. At least one.
    pub tasks: Vec<(ActionId, String)>,
    /// Whether there are more tasks.
    pub has_more_tasks: bool,
    /// Entities that can be written.
    pub entities: Choices,
    /// What the chosen task writes. Pointers are those of the output schema.
    pub target: Option<Target>,
    /// Why the chosen task cannot write the result. Its field is `task` or `entity`.
    pub refused: Option<Issue>,
}

/// What a task writes of a result.
#[derive(Debug)]
pub struct Target {
    /// The task.
    pub action_id: ActionId,
    /// Name of the task.
    pub name: String,
    /// The entity that was chosen.
    pub chosen: Option<EntityId>,
    /// The entity that it writes or relates, with its title; `None` for a new one.
    pub entity: Option<(EntityId, String)>,
    /// Values that it takes.
    pub fields: Vec<TargetField>,
    /// JSON Pointers of parts of the result.
    pub pointers: Vec<String>,
}

/// A value that a task takes.
#[derive(Debug, PartialEq, Eq)]
pub struct TargetField {
    /// Slug of the entity's field or of a dimension, or `title`.
    pub slug: String,
    /// Name that pages show.
    pub name: String,
    /// JSON Pointer of the part of the result with the same name; empty if there is none.
    pub pointer: String,
    /// Whether the task fails without a value.
    pub is_required: bool,
}

/// Reads the page.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session of a tool, if the caller cannot see it, or if it has no result;
/// [`Error::Forbidden`] if the caller may not write entities or start sessions.
pub async fn read(ledger: &Ledger, scope: &Scope, id: SessionId, query: Query) -> Result<Page> {
    require(scope, Permission::WriteEntities)?;
    require(scope, Permission::StartSession)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &reader, id).await?;
        if session.session_type != Type::Tool {
            return Err(Error::NotFound("session of a tool"));
        }
        let result = session.result().filter(|_| session.status() == Status::Completed);
        let result = result.ok_or(Error::NotFound("result"))?;
        let found = parts(&serde_json::from_str(result).unwrap_or_default());
        let tasks = store::action::of_any_entity(conn, reader.tenant_id, TASKS).await?;
        let entities = choices(conn, reader.tenant_id, None).await?;
        let (target, refused) = match query.action_id {
            None => (None, None),
            Some(chosen) => match target_on(conn, reader.tenant_id, (chosen, query.entity_id), &found).await? {
                Ok(target) => (Some(target), None),
                Err(issue) => (None, Some(issue)),
            },
        };
        let has_more_tasks = tasks.has_more;
        let tasks = tasks.items.into_iter().map(|task| (task.id, task.name)).collect();
        Ok(Page { session, tasks, has_more_tasks, entities, target, refused })
    });
    read.await
}

/// Reads the tasks for the form that runs a tool, and what the chosen one writes of results with this schema; `None` if
/// the caller may not write entities, and if there is no task.
pub(super) async fn targets_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    chosen: Option<(ActionId, Option<EntityId>)>,
    output_schema: Option<&Value>,
) -> Result<Option<Targets>> {
    if !scope.may(Permission::WriteEntities) || !scope.may(Permission::StartSession) {
        return Ok(None);
    }
    let tasks = store::action::of_any_entity(conn, scope.tenant_id, TASKS).await?;
    if tasks.items.is_empty() {
        return Ok(None);
    }
    let entities = choices(conn, scope.tenant_id, None).await?;
    let (target, refused) = match chosen {
        None => (None, None),
        Some(chosen) => {
            let found = output_schema.map(named_parts).unwrap_or_default();
            match target_on(conn, scope.tenant_id, chosen, &found).await? {
                Ok(target) => (Some(target), None),
                Err(issue) => (None, Some(issue)),
            }
        }
    };
    let has_more_tasks = tasks.has_more;
    let tasks = tasks.items.into_iter().map(|task| (task.id, task.name)).collect();
    Ok(Some(Targets { tasks, has_more_tasks, entities, target, refused }))
}

/// What a task writes, or why it cannot write the result.
async fn target_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (action_id, chosen): (ActionId, Option<EntityId>),
    found: &[Part],
) -> Result<std::result::Result<Target, Issue>> {
    let refused = |field: &str, why: &str| Ok(Err(Issue::new(field, why)));
    let action = store::action::find(conn, tenant_id, action_id).await?;
    let action = action.filter(|action| action.status == ActionStatus::Active && writes_one_entity(action));
    let Some(action) = action else { return refused("task", "choose an active task whose output is one entity") };
    let target = match target(conn, tenant_id, &action, chosen).await? {
        Ok(target) => target,
        Err(issue) => return Ok(Err(issue)),
    };
    let fields = target.taken().into_iter().map(|taken| field_of(taken, found));
    Ok(Ok(Target {
        action_id: action.id,
        name: action.name,
        chosen,
        fields: fields.collect(),
        entity: target.entity.map(|entity| (entity.id, entity.title)),
        pointers: found.iter().take(SUGGESTIONS).map(|part| part.pointer.clone()).collect(),
    }))
}

fn field_of(taken: Taken, found: &[Part]) -> TargetField {
    let Taken { slug, name, is_required, .. } = taken;
    let names = if slug == FIELD_TITLE { TITLE_NAMES } else { [slug.as_str(), name.as_str()] };
    let pointer = pointer_named(found, &names).unwrap_or_default().to_owned();
    TargetField { slug, name, pointer, is_required }
}
