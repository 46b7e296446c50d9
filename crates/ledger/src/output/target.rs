//! What a task whose output is one entity writes, before there is an output: the entity, its fields and dimensions.
//! Pages offer these, and a run of a tool whose result can never fill them is refused when it begins.

use super::schema::declared;
use crate::{ActionRecord, EntityRecord, EntityTypeRecord, Result};
use domain::{
    action::OutputType,
    entity::{FIELD_TITLE, FieldType},
    id::{EntityId, TenantId},
    issue::Issue,
    json_pointer::escaped,
    json_schema::ordinary,
    output::{Contract, read},
    tool::{Kinds, kinds_at},
};
use serde_json::Value;
use std::collections::BTreeMap;
use store::Conn;

/// What a task writes.
#[derive(Debug)]
pub(crate) struct Target {
    contract: Contract,
    /// The entity that it writes or relates; `None` for a new one.
    pub(crate) entity: Option<EntityRecord>,
    entity_type: EntityTypeRecord,
    /// Slugs and names of the dimensions that its criteria sets have and the entity type has not.
    dimensions: Vec<(String, String)>,
}

/// A value that a task takes.
#[derive(Debug)]
pub(crate) struct Taken {
    /// Slug of the entity's field or of a dimension, or `title`.
    pub(crate) slug: String,
    /// Name that pages show.
    pub(crate) name: String,
    /// Whether the task fails without a value.
    pub(crate) is_required: bool,
    kinds: Kinds,
}

/// Reads what a task writes. Its output is one entity.
///
/// # Errors
/// An [`Issue`] at `task` or `entity` for a task that can write nothing.
pub(crate) async fn target(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action: &ActionRecord,
    chosen: Option<EntityId>,
) -> Result<std::result::Result<Target, Issue>> {
    let refused = |field: &str, why: &str| Ok(Err(Issue::new(field, why)));
    let entity_id = chosen.or(action.target_entity_id);
    let entity = match entity_id {
        Some(id) => store::entity::find(conn, tenant_id, id).await?,
        None => None,
    };
    if entity_id.is_some() && entity.is_none() {
        return refused("entity", "no entity of the workspace has this id");
    }
    let Ok(contract) = read(action.output_type, &action.output_config) else {
        return refused("task", "the output of this task is not valid");
    };
    if entity.is_none() && action.output_type == OutputType::RelationEntity {
        return refused("entity", "choose the entity to which the new one leads");
    }
    let of_entity = entity.as_ref().map(|entity| entity.type_slug.clone());
    let Some(slug) = contract.entity_type.clone().or(of_entity) else {
        return refused("entity", "choose the entity that this task writes");
    };
    let Some(entity_type) = store::entity_type::find_by_slug(conn, tenant_id, &slug).await? else {
        return refused("task", "the entity type that this task writes does not exist");
    };
    let mut dimensions: Vec<(String, String)> = Vec::new();
    for id in &contract.criteria_set_ids {
        let set = store::criteria_set::find(conn, tenant_id, *id).await?;
        let found = set.into_iter().flat_map(|set| set.dimensions);
        dimensions.extend(found.map(|dimension| (dimension.slug, dimension.name)));
    }
    dimensions.retain(|(slug, _)| entity_type.fields.iter().all(|field| field.slug != *slug));
    Ok(Ok(Target { contract, entity, entity_type, dimensions }))
}

impl Target {
    /// Values that the task takes, in the order of pages.
    pub(crate) fn taken(&self) -> Vec<Taken> {
        let contract = &self.contract;
        let schema = contract.schema.as_ref();
        let by_contract = schema.and_then(|schema| ordinary(schema, schema).members.remove("required"));
        let by_contract: Vec<String> =
            by_contract.and_then(|names| serde_json::from_value(names).ok()).unwrap_or_default();
        let title = (contract.output_type != OutputType::Fields).then(|| Taken {
            slug: FIELD_TITLE.to_owned(),
            name: "Title".to_owned(),
            is_required: false,
            kinds: Kinds::STRING,
        });
        let fields = self.entity_type.fields.iter();
        let fields = fields.filter(|field| contract.relation_field.as_ref() != Some(&field.slug));
        let fields = fields.map(|field| {
            let kind = if field.kind == FieldType::Number { Kinds::NUMBER } else { Kinds::STRING };
            Taken {
                slug: field.slug.clone(),
                name: field.name.clone(),
                is_required: field.required && !self.has_value(&field.slug),
                // `null` empties a field.
                kinds: kind | Kinds::NULL,
            }
        });
        let dimensions = self.dimensions.iter().map(|(slug, name)| Taken {
            slug: slug.clone(),
            name: name.clone(),
            is_required: false,
            kinds: Kinds::ALL,
        });
        let all = title.into_iter().chain(fields).chain(dimensions);
        all.map(|taken| Taken { is_required: taken.is_required || by_contract.contains(&taken.slug), ..taken })
            .collect()
    }

    /// Whether the entity that the task changes has a value already.
    fn has_value(&self, slug: &str) -> bool {
        let changed = self.entity.as_ref().filter(|_| self.contract.output_type != OutputType::RelationEntity);
        changed.is_some_and(|entity| entity.type_slug == self.entity_type.slug && entity.fields.contains_key(slug))
    }

    /// Returns why results of a tool can never be written, with paths such as `fields.stage`. `fields` has the JSON
    /// Pointer of the part of the result for each field; without any, the result itself has them. Without a schema of
    /// the results, everything is possible.
    pub(crate) fn never_filled(&self, schema: Option<&Value>, fields: &BTreeMap<String, String>) -> Vec<Issue> {
        let anything = Value::Bool(true);
        let schema = schema.unwrap_or(&anything);
        if fields.is_empty() && (kinds_at(schema, "") & Kinds::OBJECT).is_empty() {
            let why = "results of the tool are no objects: name a part of them for each field";
            return vec![Issue::new("fields", why)];
        }
        let taken = self.taken();
        let mut issues: Vec<_> = taken.iter().filter_map(|taken| never(taken, schema, fields)).collect();
        let declared = declared(self.contract.schema.as_ref(), None);
        let is_known = |slug: &str| {
            taken.iter().any(|taken| taken.slug == slug)
                || self.contract.relation_field.as_deref() == Some(slug)
                || declared.contains(&slug)
        };
        issues.extend(fields.keys().filter(|slug| !is_known(slug.as_str())).map(|slug| {
            let of = &self.entity_type.slug;
            Issue::new(format!("fields.{slug}"), format!("entity type `{of}` has no such field"))
        }));
        issues
    }
}

/// Why a field can never have a value that it takes.
fn never(taken: &Taken, schema: &Value, fields: &BTreeMap<String, String>) -> Option<Issue> {
    let is_named = !fields.is_empty();
    let pointer = match fields.get(&taken.slug) {
        Some(pointer) => pointer.clone(),
        None if is_named => {
            let why = "needs a value: name the part of the result";
            return taken.is_required.then(|| Issue::new(format!("fields.{}", taken.slug), why));
        }
        None => format!("/{}", escaped(&taken.slug)),
    };
    let found = kinds_at(schema, &pointer);
    let kinds = if taken.is_required { taken.kinds & !Kinds::NULL } else { taken.kinds };
    let why = if found.is_empty() {
        if !is_named && !taken.is_required {
            return None;
        }
        format!("the output schema of the tool allows nothing at `{pointer}`")
    } else if (found & kinds).is_empty() {
        format!(
            "the output schema of the tool allows {} at `{pointer}`, and the field takes {}",
            found.words(),
            kinds.words()
        )
    } else {
        return None;
    };
    Some(Issue::new(format!("fields.{}", taken.slug), why))
}
