//! The page /sessions/{id}/promote: what the result of a tool can be written to, and by which task.

use super::choice::{Choices, choices};
use crate::{Error, Ledger, Result, guard::require, response::promotion::writes_one_entity, session};
use domain::{
    Scope,
    action::{ActionStatus, OutputType},
    entity::FIELD_TITLE,
    id::{ActionId, EntityId, SessionId, TenantId},
    issue::Issue,
    output,
    role::Permission,
    session::{Session, Status, Type},
    tool::parts::{Part, parts, pointer_named},
};
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

/// What a task writes of a result.
#[derive(Debug)]
pub struct Target {
    /// The task.
    pub action_id: ActionId,
    /// Name of the task.
    pub name: String,
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
    let entity_id = chosen.or(action.target_entity_id);
    let entity = match entity_id {
        Some(id) => store::entity::find(conn, tenant_id, id).await?,
        None => None,
    };
    if entity_id.is_some() && entity.is_none() {
        return refused("entity", "no entity of the workspace has this id");
    }
    let Ok(contract) = output::read(action.output_type, &action.output_config) else {
        return refused("task", "the output of this task is not valid");
    };
    if entity.is_none() && action.output_type == OutputType::RelationEntity {
        return refused("entity", "choose the entity to which the new one leads");
    }
    let of_entity = entity.as_ref().map(|entity| entity.type_slug.clone());
    let Some(slug) = contract.entity_type.clone().or(of_entity) else {
        return refused("entity", "choose the entity that this task writes");
    };
    let Some(of_type) = store::entity_type::find_by_slug(conn, tenant_id, &slug).await? else {
        return refused("task", "the entity type that this task writes does not exist");
    };
    let mut names: Vec<(String, String)> = Vec::new();
    for id in &contract.criteria_set_ids {
        let set = store::criteria_set::find(conn, tenant_id, *id).await?;
        let dimensions = set.into_iter().flat_map(|set| set.dimensions);
        names.extend(dimensions.map(|dimension| (dimension.slug, dimension.name)));
    }
    let written = of_type.fields.into_iter().filter(|field| contract.relation_field.as_ref() != Some(&field.slug));
    let written: Vec<_> = written.map(|field| (field.slug, field.name)).collect();
    names.retain(|(slug, _)| written.iter().all(|(known, _)| known != slug));
    let title = (action.output_type != OutputType::Fields).then(|| (FIELD_TITLE.to_owned(), "Title".to_owned()));
    let fields = title.into_iter().chain(written).chain(names).map(|(slug, name)| field_of(slug, name, found));
    Ok(Ok(Target {
        action_id: action.id,
        name: action.name,
        entity: entity.map(|entity| (entity.id, entity.title)),
        fields: fields.collect(),
        pointers: found.iter().take(SUGGESTIONS).map(|part| part.pointer.clone()).collect(),
    }))
}

fn field_of(slug: String, name: String, found: &[Part]) -> TargetField {
    let names = if slug == FIELD_TITLE { TITLE_NAMES } else { [slug.as_str(), name.as_str()] };
    let pointer = pointer_named(found, &names).unwrap_or_default().to_owned();
    TargetField { slug, name, pointer }
}
