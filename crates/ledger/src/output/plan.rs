//! Plans what a result writes to each entity, or returns all of its errors.

use super::{Checked, read, schema, shape};
use crate::{ActionRecord, EntityRecord, EntityTypeRecord, Error, Result, entity::checked};
use domain::{
    entity::{FIELD_TITLE, Values},
    id::{EntityId, TenantId},
    issue::Issue,
    line::changes_direction,
    output::{Contract, FIELD_ENTITIES, Item, Output},
    session::Session,
};
use serde_json::Value;
use std::collections::BTreeSet;
use store::Conn;

/// The change of one entity.
#[derive(Debug)]
pub(super) enum Step {
    /// Create an entity. The values are checked.
    Create { entity_type: EntityTypeRecord, title: String, fields: Values },
    /// Write the next version of an entity. The change is checked against its newest version.
    Update { id: EntityId, title: Option<String>, change: Values },
}

/// Returns the steps of a result under its action's contract.
pub(super) async fn plan(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action: &ActionRecord,
    session: &Session,
    result: Option<&Value>,
) -> Result<Checked<Vec<Step>>> {
    let contract = match read(action.output_type, &action.output_config) {
        Ok(contract) => contract,
        Err(issues) => return Ok(Err(issues)),
    };
    let mut errors = Vec::new();
    if let Some(schema) = &contract.schema {
        errors.extend(schema::errors(schema, result.unwrap_or(&Value::Null)));
    }
    let output = match shape(&contract, result) {
        Ok(output) => output,
        Err(issues) => {
            errors.extend(issues);
            return Ok(Err(errors));
        }
    };
    let dimensions = dimensions(conn, tenant_id, &contract).await?;
    let mut planner = Planner { conn, tenant_id, contract: &contract, dimensions, session, steps: Vec::new(), errors };
    planner.output(output).await?;
    Ok(if planner.errors.is_empty() { Ok(planner.steps) } else { Err(planner.errors) })
}

/// Returns the slugs of the dimensions in the contract's criteria sets. A result may have values of these names.
async fn dimensions(conn: &mut Conn<'_>, tenant_id: TenantId, contract: &Contract) -> Result<BTreeSet<String>> {
    let mut slugs = BTreeSet::new();
    for id in &contract.criteria_set_ids {
        let set = store::criteria_set::find(conn, tenant_id, *id).await?;
        slugs.extend(set.into_iter().flat_map(|set| set.dimensions).map(|dimension| dimension.slug));
    }
    Ok(slugs)
}

struct Planner<'p, 'c> {
    conn: &'p mut Conn<'c>,
    tenant_id: TenantId,
    contract: &'p Contract,
    dimensions: BTreeSet<String>,
    session: &'p Session,
    steps: Vec<Step>,
    errors: Vec<Issue>,
}

impl Planner<'_, '_> {
    fn refuse(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.errors.push(Issue::new(field, message));
    }

    async fn output(&mut self, output: Output) -> Result<()> {
        match output {
            Output::Text => Ok(()),
            Output::Fields(values) => match self.target().await? {
                Some(entity) => self.change(entity, values, "result").await,
                None => Ok(()),
            },
            Output::Entity(values) => match self.target().await? {
                Some(entity) => self.change(entity, values, "result").await,
                None => self.make(values, "result").await,
            },
            Output::RelationEntity(values) => self.relate(values).await,
            Output::Entities(items) => self.entities(items).await,
        }
    }

    /// Returns the entity that the session is about. `None` if its type is not the contract's type: then the
    /// result does not change it.
    async fn target(&mut self) -> Result<Option<EntityRecord>> {
        let Some(id) = self.session.entity_id else { return Ok(None) };
        let entity = store::entity::find(self.conn, self.tenant_id, id).await?;
        let wanted = self.contract.entity_type.as_deref();
        Ok(entity.filter(|entity| wanted.is_none_or(|slug| slug == entity.type_slug)))
    }

    async fn entities(&mut self, items: Vec<Item>) -> Result<()> {
        let mut seen = BTreeSet::new();
        for (index, Item { id, values }) in items.into_iter().enumerate() {
            let path = format!("result.{FIELD_ENTITIES}[{index}]");
            let Some(id) = id else {
                self.make(values, &path).await?;
                continue;
            };
            let entity = store::entity::find(self.conn, self.tenant_id, id).await?;
            let wanted = self.contract.entity_type.as_deref().unwrap_or_default();
            match entity.filter(|entity| entity.type_slug == wanted) {
                None => self.refuse(format!("{path}.id"), format!("no entity of type `{wanted}` has this id")),
                Some(_) if !seen.insert(id) => self.refuse(format!("{path}.id"), "this entity is listed twice"),
                Some(entity) => self.change(entity, values, &path).await?,
            }
        }
        Ok(())
    }

    async fn relate(&mut self, mut values: Values) -> Result<()> {
        let Some(target) = self.session.entity_id else {
            self.refuse("result", "the session is about no entity that a new one could lead to");
            return Ok(());
        };
        let field = self.contract.relation_field.clone().unwrap_or_default();
        let target = Value::from(target.to_string());
        if values.get(&field).is_some_and(|given| *given != target) {
            self.refuse(format!("result.{field}"), "leads to the entity the session is about; leave it out");
            return Ok(());
        }
        values.insert(field, target);
        self.make(values, "result").await
    }

    async fn change(&mut self, entity: EntityRecord, values: Values, path: &str) -> Result<()> {
        let entity_type = store::entity_type::find(self.conn, self.tenant_id, entity.type_id).await?;
        let entity_type = entity_type.ok_or_else(|| Error::Internal(format!("entity {} has no type", entity.id)))?;
        let (title, change) = self.split_values(&entity_type, values, path);
        let named = title.as_deref().filter(|title| *title != entity.title);
        if self.check(&entity_type, &entity.fields, named, &change, path).await?.is_some() {
            self.steps.push(Step::Update { id: entity.id, title, change });
        }
        Ok(())
    }

    async fn make(&mut self, values: Values, path: &str) -> Result<()> {
        let Some(slug) = self.contract.entity_type.as_deref() else {
            self.refuse(
                path,
                "the session is about no entity, and the task's output names no entityType to make one of",
            );
            return Ok(());
        };
        let Some(entity_type) = store::entity_type::find_by_slug(self.conn, self.tenant_id, slug).await? else {
            self.refuse("outputConfig.entityType", format!("there is no entity type `{slug}`"));
            return Ok(());
        };
        let (title, change) = self.split_values(&entity_type, values, path);
        // The title of a session quotes texts. A name has no characters that change their direction.
        let of_session = || self.session.title.chars().filter(|c| !changes_direction(*c)).collect();
        let title = title.unwrap_or_else(of_session);
        if let Some(fields) = self.check(&entity_type, &Values::new(), Some(&title), &change, path).await? {
            self.steps.push(Step::Create { entity_type, title, fields });
        }
        Ok(())
    }

    /// Splits values into the title and the fields of the entity type. Values that only the contract declares
    /// are not written and stay in the result. Values that nothing declares are refused.
    fn split_values(&mut self, of: &EntityTypeRecord, mut values: Values, path: &str) -> (Option<String>, Values) {
        let title = values.remove(FIELD_TITLE).and_then(|title| title.as_str().map(str::to_owned));
        let list = (path != "result").then_some(FIELD_ENTITIES);
        let declared = schema::declared(self.contract.schema.as_ref(), list);
        let mut written = Values::new();
        for (name, value) in values {
            if of.fields.iter().any(|field| field.slug == name) {
                written.insert(name, value);
            } else if !declared.contains(&name.as_str()) && !self.dimensions.contains(&name) {
                let message = format!("entity type `{}` has no such field, and the contract declares none", of.slug);
                self.refuse(format!("{path}.{name}"), message);
            }
        }
        (title, written)
    }

    /// Returns the values after a change, or `None` if they cannot be written. Errors are collected.
    async fn check(
        &mut self,
        of: &EntityTypeRecord,
        before: &Values,
        new_title: Option<&str>,
        change: &Values,
        path: &str,
    ) -> Result<Option<Values>> {
        match checked(self.conn, self.tenant_id, &of.fields, before, new_title, change).await {
            Ok(after) => Ok(Some(after)),
            Err(Error::Invalid(wrong)) => {
                for Issue { field, message } in wrong {
                    let name = field.strip_prefix("fields.").unwrap_or(&field).to_owned();
                    self.refuse(format!("{path}.{name}"), message);
                }
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }
}
