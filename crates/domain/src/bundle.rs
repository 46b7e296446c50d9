//! Bundles: criteria sets, groups, entity types and actions in one file, and what installing one would do.
//!
//! A bundle names things by slug and people by address, so that one file fits every workspace.

use crate::{action::OutputType, criteria::Dimension, entity::FieldDef, names::names};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// What a file holds. Everything may be left out; what is left out of a thing that exists stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bundle {
    /// For people who read the file.
    pub name: Option<String>,
    /// For people who read the file.
    pub description: Option<String>,
    /// Groups of people.
    #[serde(default)]
    pub groups: Vec<BundledGroup>,
    /// Criteria sets.
    #[serde(default)]
    pub criteria_sets: Vec<BundledCriteriaSet>,
    /// Entity types.
    #[serde(default)]
    pub entity_types: Vec<BundledEntityType>,
    /// Actions.
    #[serde(default)]
    pub actions: Vec<BundledAction>,
}

impl Bundle {
    /// How many things it holds.
    pub fn len(&self) -> usize {
        self.groups.len() + self.criteria_sets.len() + self.entity_types.len() + self.actions.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A group of people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledGroup {
    /// What it is found by.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// Addresses of all its members; who else is in it goes. Left out: members stay.
    pub members: Option<Vec<String>>,
}

/// A criteria set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledCriteriaSet {
    /// What it is found by.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// In the order evaluated.
    pub dimensions: Vec<Dimension>,
}

/// An entity type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledEntityType {
    /// What it is found by.
    pub slug: String,
    /// What people call one entity.
    pub name: String,
    /// In the order shown.
    #[serde(default)]
    pub fields: Vec<FieldDef>,
}

/// An action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundledAction {
    /// What it is found by.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What is to be done.
    pub description: Option<String>,
    /// The agent that may claim its sessions.
    pub agent_slug: Option<String>,
    /// What its sessions produce.
    pub output_type: Option<OutputType>,
    /// The output contract, as the API takes it.
    pub output_config: Option<Map<String, Value>>,
    /// As the API takes it.
    pub metadata: Option<Map<String, Value>>,
    /// Slugs of the criteria sets that its output is judged by.
    pub criteria_sets: Option<Vec<String>>,
    /// Asks people before an output counts: `metadata.approval`, where reviewers may be named by address too.
    pub approval: Option<Map<String, Value>>,
}

/// What becomes of a thing or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedOperation {
    /// It is new.
    Create,
    /// It becomes different.
    Change,
    /// It stays as it is.
    Keep,
    /// It goes.
    Remove,
}

names!(PlannedOperation { Create = "create", Change = "change", Keep = "keep", Remove = "remove" });

/// What kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedKind {
    /// A group of people.
    Group,
    /// A criteria set.
    CriteriaSet,
    /// An entity type.
    EntityType,
    /// An action.
    Action,
}

names!(PlannedKind {
    Group = "group", CriteriaSet = "criteria_set", EntityType = "entity_type", Action = "action",
});

/// What becomes of one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedField {
    /// Its name, or a path such as `dimensions.tone`.
    pub field: String,
    /// What becomes of it.
    pub operation: PlannedOperation,
    /// What it is; null where there is nothing.
    pub before: Value,
    /// What it will be; null where it goes.
    pub after: Value,
}

/// What becomes of one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedItem {
    /// What kind of thing.
    pub kind: PlannedKind,
    /// Which one.
    pub slug: String,
    /// What becomes of it: create, change or keep.
    pub operation: PlannedOperation,
    /// Every field that the bundle speaks of.
    pub fields: Vec<PlannedField>,
}

/// What installing a bundle does, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Each thing of the bundle.
    pub items: Vec<PlannedItem>,
}

impl Plan {
    /// How many things this becomes of.
    pub fn count(&self, operation: PlannedOperation) -> usize {
        self.items.iter().filter(|item| item.operation == operation).count()
    }

    /// Whether everything is as the bundle wants it.
    pub fn is_done(&self) -> bool {
        self.count(PlannedOperation::Keep) == self.items.len()
    }
}

/// Compares a thing with what a bundle says of it, field by field.
#[derive(Debug, Clone)]
pub struct Comparison {
    exists: bool,
    fields: Vec<PlannedField>,
}

impl Comparison {
    /// Of a thing that exists, or of one that does not.
    pub const fn new(exists: bool) -> Self {
        Self { exists, fields: Vec::new() }
    }

    /// One field, as it is and as it will be. Null stands for nothing.
    pub fn field(&mut self, field: impl Into<String>, before: Value, after: Value) {
        let operation = match (&before, &after) {
            _ if before == after => PlannedOperation::Keep,
            (Value::Null, _) => PlannedOperation::Create,
            (_, Value::Null) => PlannedOperation::Remove,
            _ => PlannedOperation::Change,
        };
        self.fields.push(PlannedField { field: field.into(), operation, before, after });
    }

    /// A list of parts that are known by their slugs: each part, and the order where only that is different.
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

    /// Whether there is anything to write.
    pub fn differs(&self) -> bool {
        !self.exists || self.fields.iter().any(|field| field.operation != PlannedOperation::Keep)
    }

    /// The thing's place in the plan.
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
        let told = |pairs: &[(&str, PlannedOperation)]| -> Vec<_> {
            pairs.iter().map(|(f, d)| ((*f).to_owned(), *d)).collect()
        };
        assert_eq!(
            compared(&before, &before),
            told(&[("dimensions.a", PlannedOperation::Keep), ("dimensions.b", PlannedOperation::Keep)])
        );
        assert_eq!(
            compared(&before, &[dimension("b", "number"), c]),
            told(&[
                ("dimensions.b", PlannedOperation::Change),
                ("dimensions.c", PlannedOperation::Create),
                ("dimensions.a", PlannedOperation::Remove)
            ])
        );
        let turned = told(&[
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
