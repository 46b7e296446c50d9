//! Bundles: files with groups, criteria sets, entity types, views, MCP servers, tools and actions, and the plan of what
//! installing one changes.
//!
//! A bundle names items by slug and people by e-mail address, so that one file works in every workspace.

use crate::{
    action::OutputType,
    criteria_set::Dimension,
    entity::FieldDef,
    mcp::Transport,
    names::names,
    tool::{Audience, Change, Composite, HttpCall, Kind, McpCall},
    view::{Field, Publication},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The content of a bundle file. Every field is optional. An item or field that the file leaves out stays
/// unchanged in the workspace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bundle {
    /// Name of the bundle. It is not installed; it is for people who read the file.
    pub name: Option<String>,
    /// Description of the bundle. It is not installed either.
    pub description: Option<String>,
    /// Groups of people to create or change.
    #[serde(default)]
    pub groups: Vec<BundledGroup>,
    /// Criteria sets to create or change.
    #[serde(default)]
    pub criteria_sets: Vec<BundledCriteriaSet>,
    /// Entity types to create or change.
    #[serde(default)]
    pub entity_types: Vec<BundledEntityType>,
    /// Views to create or change.
    #[serde(default)]
    pub views: Vec<BundledView>,
    /// MCP servers to create or change. Their secret headers are set apart.
    #[serde(default)]
    pub mcp_servers: Vec<BundledMcpServer>,
    /// Tools to create or change. Their secrets are set apart.
    #[serde(default)]
    pub tools: Vec<BundledTool>,
    /// Actions to create or change.
    #[serde(default)]
    pub actions: Vec<BundledAction>,
}

impl Bundle {
    /// Number of groups, criteria sets, entity types, views, MCP servers, tools and actions.
    pub fn len(&self) -> usize {
        let what_actions_use = self.groups.len() + self.criteria_sets.len() + self.entity_types.len();
        let what_tools_use = self.mcp_servers.len();
        what_actions_use + self.views.len() + what_tools_use + self.tools.len() + self.actions.len()
    }

    /// Whether the bundle has no item of any kind.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A group of people, as a bundle describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledGroup {
    /// Slug of the group. It decides whether the group exists already.
    pub slug: String,
    /// Name that pages show.
    pub name: String,
    /// E-mail addresses of all members. Installing removes every other member. If absent, the members stay
    /// unchanged.
    pub members: Option<Vec<String>>,
}

/// A criteria set, as a bundle describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledCriteriaSet {
    /// Slug of the criteria set. It decides whether the set exists already.
    pub slug: String,
    /// Name that pages show.
    pub name: String,
    /// Purpose of the set, for people.
    pub description: Option<String>,
    /// Dimensions, in the order in which they are evaluated.
    pub dimensions: Vec<Dimension>,
}

/// An entity type, as a bundle describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledEntityType {
    /// Slug of the entity type. It decides whether the type exists already.
    pub slug: String,
    /// Name of one entity of this type, such as `Company`.
    pub name: String,
    /// Fields, in the order in which pages show them.
    #[serde(default)]
    pub fields: Vec<FieldDef>,
}

/// A view, as a bundle describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledView {
    /// Slug of the view. It decides whether the view exists already.
    pub slug: String,
    /// Title of the form.
    pub title: String,
    /// Text above the questions.
    pub introduction: Option<String>,
    /// Questions, in the order of the form.
    pub fields: Vec<Field>,
    /// Who may answer, how often and when.
    pub publish_config: Option<Publication>,
    /// Whether to publish it. `false` leaves a published view published.
    #[serde(default)]
    pub publish: bool,
}

/// An MCP server, as a bundle describes it. Its secret headers are set apart, and stay if they are set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledMcpServer {
    /// Slug of the server. It decides whether the server exists already.
    pub slug: String,
    /// Name that people read.
    pub name: String,
    /// How the server is reached.
    pub transport: Transport,
}

/// A tool, as a bundle describes it. A new tool needs a name, a kind and an input schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledTool {
    /// Slug of the tool. It decides whether the tool exists already.
    pub slug: String,
    /// Name that people read.
    pub name: Option<String>,
    /// What the tool does and when to use it.
    pub description: Option<String>,
    /// How the tool runs.
    pub kind: Option<Kind>,
    /// The call of an `http` tool, as a whole. It refers to secrets by their names.
    pub http: Option<HttpCall>,
    /// The steps of a `composite` tool, as a whole. They refer to tools by slug, also to those of the bundle.
    pub composite: Option<Composite>,
    /// The call of an `mcp` tool, as a whole. It names an MCP server of the workspace by its slug.
    pub mcp: Option<McpCall>,
    /// JSON Schema of the input.
    pub input_schema: Option<Value>,
    /// JSON Schema of the result.
    pub output_schema: Option<Value>,
    /// Longest time of one attempt, seconds.
    pub time_limit_seconds: Option<u32>,
    /// Further attempts after the first one failed.
    pub retries: Option<u32>,
    /// Whether a call with an unknown outcome may be repeated.
    pub repeatable: Option<bool>,
    /// Whether a person must approve each run.
    pub requires_confirmation: Option<bool>,
    /// All private fields.
    pub private_fields: Option<Vec<String>>,
    /// Who may run the tool, as a whole.
    pub audience: Option<Audience>,
    /// Whether to publish it. `false` leaves a published tool published.
    #[serde(default)]
    pub publish: bool,
}

impl BundledTool {
    /// The parts of the definition that the bundle mentions.
    pub fn change(&self) -> Change {
        Change {
            name: self.name.clone(),
            description: self.description.clone(),
            kind: self.kind,
            http: self.http.clone(),
            composite: self.composite.clone(),
            mcp: self.mcp.clone(),
            input_schema: self.input_schema.clone(),
            output_schema: self.output_schema.clone().map(Some),
            time_limit_seconds: self.time_limit_seconds,
            retries: self.retries,
            repeatable: self.repeatable,
            requires_confirmation: self.requires_confirmation,
            private_fields: self.private_fields.clone(),
            audience: self.audience.clone(),
        }
    }
}

/// An action, as a bundle describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledAction {
    /// Slug of the action. It decides whether the action exists already.
    pub slug: String,
    /// Name that pages show.
    pub name: String,
    /// Instructions of the action.
    pub description: Option<String>,
    /// Slug of the agent whose workers may claim the sessions.
    pub agent_slug: Option<String>,
    /// Kind of output that the sessions produce.
    pub output_type: Option<OutputType>,
    /// Output contract, in the form of the API's `outputConfig`.
    pub output_config: Option<Map<String, Value>>,
    /// Metadata, in the form of the API's `metadata`.
    pub metadata: Option<Map<String, Value>>,
    /// Slugs of the criteria sets by which the output is judged.
    pub criteria_sets: Option<Vec<String>>,
    /// Rules for approval: `metadata.approval`. Here reviewers may also be named by e-mail address.
    pub approval: Option<Map<String, Value>>,
}

/// What installing a bundle does to an item or to one of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedOperation {
    /// It does not exist and is created.
    Create,
    /// It exists and is changed.
    Change,
    /// It exists and is already as the bundle describes it.
    Keep,
    /// It exists and is removed. Only fields are removed, never whole items.
    Remove,
}

names!(PlannedOperation { Create = "create", Change = "change", Keep = "keep", Remove = "remove" });

/// Kind of item in a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedKind {
    /// A group of people.
    Group,
    /// A criteria set, by its slug.
    CriteriaSet,
    /// An entity type, by its slug.
    EntityType,
    /// A view, by its slug.
    View,
    /// An MCP server, by its slug.
    McpServer,
    /// A tool, by its slug.
    Tool,
    /// An action, by its slug.
    Action,
}

names!(PlannedKind {
    Group = "group", CriteriaSet = "criteria_set", EntityType = "entity_type", View = "view",
    McpServer = "mcp_server", Tool = "tool", Action = "action",
});

/// What installing a bundle does to one field of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedField {
    /// Name of the field, or a path such as `dimensions.tone`.
    pub field: String,
    /// What is done to the field.
    pub operation: PlannedOperation,
    /// Present value; null if there is none.
    pub before: Value,
    /// Value after the installation; null if it is removed.
    pub after: Value,
}

/// What installing a bundle does to one item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedItem {
    /// Kind of the item.
    pub kind: PlannedKind,
    /// Slug of the item.
    pub slug: String,
    /// Create, change or keep. An item is never removed.
    pub operation: PlannedOperation,
    /// Every field that the bundle mentions, unchanged ones included.
    pub fields: Vec<PlannedField>,
}

/// What installing a bundle does, in the order in which it is done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// One entry for each item of the bundle.
    pub items: Vec<PlannedItem>,
}

impl Plan {
    /// Number of items with this operation.
    pub fn count(&self, operation: PlannedOperation) -> usize {
        self.items.iter().filter(|item| item.operation == operation).count()
    }

    /// Whether every item is already as the bundle describes it, so that installing changes nothing.
    pub fn is_done(&self) -> bool {
        self.count(PlannedOperation::Keep) == self.items.len()
    }
}

/// Compares an item of the workspace with the bundle's description of it, field by field.
#[derive(Debug, Clone)]
pub struct Comparison {
    exists: bool,
    fields: Vec<PlannedField>,
}

impl Comparison {
    /// Starts a comparison. `exists` says whether the workspace has the item already.
    pub const fn new(exists: bool) -> Self {
        Self { exists, fields: Vec::new() }
    }

    /// Adds one field with its present value and its value after the installation. Null means no value.
    pub fn field(&mut self, field: impl Into<String>, before: Value, after: Value) {
        let operation = match (&before, &after) {
            _ if before == after => PlannedOperation::Keep,
            (Value::Null, _) => PlannedOperation::Create,
            (_, Value::Null) => PlannedOperation::Remove,
            _ => PlannedOperation::Change,
        };
        self.fields.push(PlannedField { field: field.into(), operation, before, after });
    }

    /// Adds a list of parts that are identified by slug: one field for each part, and one field for the order
    /// if the parts that both lists have are in another order.
    pub fn parts<T: Serialize>(&mut self, field: &str, before: &[T], after: &[T], slug: impl Fn(&T) -> &str) {
        let find = |list: &[T], wanted: &str| {
            let part = list.iter().find(|part| slug(part) == wanted);
            part.map_or(Value::Null, |part| serde_json::to_value(part).unwrap_or_default())
        };
        for part in after {
            let slug = slug(part);
            self.field(format!("{field}.{slug}"), find(before, slug), find(after, slug));
        }
        for part in before.iter().filter(|part| find(after, slug(part)).is_null()) {
            self.field(format!("{field}.{}", slug(part)), find(before, slug(part)), Value::Null);
        }
        let order = |list: &[T], other: &[T]| -> Vec<String> {
            list.iter().map(&slug).filter(|slug| !find(other, slug).is_null()).map(str::to_owned).collect()
        };
        let (was, will_be) = (order(before, after), order(after, before));
        if was != will_be {
            self.field(format!("{field} (order)"), was.into(), will_be.into());
        }
    }

    /// Whether the item has to be created or changed.
    pub fn differs(&self) -> bool {
        !self.exists || self.fields.iter().any(|field| field.operation != PlannedOperation::Keep)
    }

    /// Returns the item's entry in the plan.
    pub fn into_item(self, kind: PlannedKind, slug: &str) -> PlannedItem {
        let operation = match (self.exists, self.differs()) {
            (false, _) => PlannedOperation::Create,
            (true, true) => PlannedOperation::Change,
            (true, false) => PlannedOperation::Keep,
        };
        PlannedItem { kind, slug: slug.to_owned(), operation, fields: self.fields }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dimension(slug: &str, kind: &str) -> Dimension {
        serde_json::from_value(json!({ "slug": slug, "type": kind })).unwrap()
    }

    fn compared(before: &[Dimension], after: &[Dimension]) -> Vec<(String, PlannedOperation)> {
        let mut comparison = Comparison::new(true);
        comparison.parts("dimensions", before, after, |d| &d.slug);
        comparison.fields.into_iter().map(|field| (field.field, field.operation)).collect()
    }

    #[test]
    fn parts_are_compared_by_their_slugs_and_then_by_their_order() {
        let (a, b, c) = (dimension("a", "text"), dimension("b", "text"), dimension("c", "text"));
        let before = [a.clone(), b.clone()];
        let planned_for = |pairs: &[(&str, PlannedOperation)]| -> Vec<_> {
            pairs.iter().map(|(f, d)| ((*f).to_owned(), *d)).collect()
        };
        assert_eq!(
            compared(&before, &before),
            planned_for(&[("dimensions.a", PlannedOperation::Keep), ("dimensions.b", PlannedOperation::Keep)])
        );
        assert_eq!(
            compared(&before, &[dimension("b", "number"), c]),
            planned_for(&[
                ("dimensions.b", PlannedOperation::Change),
                ("dimensions.c", PlannedOperation::Create),
                ("dimensions.a", PlannedOperation::Remove)
            ])
        );
        let turned = planned_for(&[
            ("dimensions.b", PlannedOperation::Keep),
            ("dimensions.a", PlannedOperation::Keep),
            ("dimensions (order)", PlannedOperation::Change),
        ]);
        assert_eq!(compared(&before, &[b, a]), turned);
    }

    #[test]
    fn a_thing_that_exists_is_kept_unless_a_field_differs() {
        let mut same = Comparison::new(true);
        same.field("name", json!("A"), json!("A"));
        assert!(!same.differs());
        assert_eq!(same.into_item(PlannedKind::Group, "a").operation, PlannedOperation::Keep);
        let mut other = Comparison::new(true);
        other.field("name", json!("A"), json!("B"));
        assert_eq!(other.into_item(PlannedKind::Group, "a").operation, PlannedOperation::Change);
        assert_eq!(Comparison::new(false).into_item(PlannedKind::Group, "a").operation, PlannedOperation::Create);
    }
}
