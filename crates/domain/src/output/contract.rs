//! The output contract that an action's `outputType` and `outputConfig` define.

use crate::{action::OutputType, id::CriteriaSetId, issue::Issue, limit::OUTPUT_CRITERIA_SETS_MAX, slug::is_slug};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// An output contract: the shape of a result, and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// Shape of the result.
    pub output_type: OutputType,
    /// JSON Schema of the whole result.
    pub schema: Option<Value>,
    /// Slug of the entity type of new entities.
    pub entity_type: Option<String>,
    /// Field of a new entity that refers to the session's entity.
    pub relation_field: Option<String>,
    /// Criteria sets by whose dimensions the result is judged.
    pub criteria_set_ids: Vec<CriteriaSetId>,
}

/// The two accepted spellings of the key for criteria sets. Bundles of other installations use the first one.
pub const CRITERIA_SETS: [&str; 2] = ["criteria_set_ids", "criteriaSetIds"];
const SLUG: &str = "lower-case letters, digits and single hyphens, at most 64 characters";

/// Reads the contract of an action. Keys of `output_config` that are not part of a contract are ignored.
///
/// # Errors
/// One [`Issue`] for each invalid key, with the path `outputConfig.key`.
pub fn read(output_type: OutputType, output_config: &str) -> Result<Contract, Vec<Issue>> {
    let mut reader = Reader { config: serde_json::from_str(output_config).unwrap_or_default(), issues: Vec::new() };
    let contract = Contract {
        output_type,
        schema: reader.schema(),
        entity_type: reader.slug("entityType"),
        relation_field: reader.slug("relationField"),
        criteria_set_ids: reader.criteria_sets(),
    };
    reader.check_type(output_type);
    if reader.issues.is_empty() { Ok(contract) } else { Err(reader.issues) }
}

struct Reader {
    config: Map<String, Value>,
    issues: Vec<Issue>,
}

impl Reader {
    fn refuse(&mut self, key: &str, message: impl Into<String>) {
        self.issues.push(Issue { field: format!("outputConfig.{key}"), message: message.into() });
    }

    fn schema(&mut self) -> Option<Value> {
        let schema = self.config.get("schema")?.clone();
        if !schema.is_object() && !schema.is_boolean() {
            self.refuse("schema", "a JSON Schema: an object, or true or false");
        }
        Some(schema)
    }

    fn slug(&mut self, key: &str) -> Option<String> {
        match self.config.get(key)? {
            Value::String(slug) if is_slug(slug) => Some(slug.clone()),
            _ => {
                self.refuse(key, SLUG);
                None
            }
        }
    }

    fn criteria_sets(&mut self) -> Vec<CriteriaSetId> {
        let given: Vec<(&str, Value)> =
            CRITERIA_SETS.into_iter().filter_map(|key| Some((key, self.config.get(key)?.clone()))).collect();
        let (key, value) = match &given[..] {
            [] => return Vec::new(),
            [one] => one,
            _ => {
                self.refuse(CRITERIA_SETS[1], format!("set this only once: `{}` sets it too", CRITERIA_SETS[0]));
                return Vec::new();
            }
        };
        let Value::Array(list) = value else {
            self.refuse(key, "a list of ids of criteria sets");
            return Vec::new();
        };
        if list.len() > OUTPUT_CRITERIA_SETS_MAX {
            self.refuse(key, format!("at most {OUTPUT_CRITERIA_SETS_MAX} criteria sets"));
        }
        let mut ids = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, id) in list.iter().enumerate() {
            match id.as_str().and_then(|id| id.parse::<CriteriaSetId>().ok()) {
                Some(id) if seen.insert(id) => ids.push(id),
                Some(_) => self.refuse(&format!("{key}[{index}]"), "this criteria set is listed twice"),
                None => self.refuse(&format!("{key}[{index}]"), "the id of a criteria set"),
            }
        }
        ids
    }

    /// Refuses missing keys that the output type needs, and keys that have no effect with it.
    fn check_type(&mut self, output_type: OutputType) {
        let makes_entities =
            matches!(output_type, OutputType::Entity | OutputType::Entities | OutputType::RelationEntity);
        let name = output_type.as_str();
        if self.config.contains_key("entityType") && !makes_entities {
            self.refuse("entityType", format!("an output of type `{name}` makes no entities"));
        }
        if !self.config.contains_key("entityType")
            && matches!(output_type, OutputType::Entities | OutputType::RelationEntity)
        {
            self.refuse("entityType", "the slug of the entity type that results become");
        }
        match (self.config.contains_key("relationField"), output_type) {
            (false, OutputType::RelationEntity) => {
                self.refuse("relationField", "the field of the new entity that leads to the one the task is about");
            }
            (true, other) if other != OutputType::RelationEntity => {
                self.refuse("relationField", format!("an output of type `{name}` relates nothing"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(output_type: OutputType, config: Value) -> Vec<String> {
        let issues = read(output_type, &config.to_string()).unwrap_err();
        issues.into_iter().map(|issue| issue.field).collect()
    }

    #[test]
    fn a_config_says_what_its_type_needs_and_keeps_what_others_read() {
        let id = "018f0000-0000-7000-8000-000000000000";
        for key in CRITERIA_SETS {
            let config = json!({ "schema": { "type": "object" }, "entityType": "note", "relationField": "company",
                                 key: [id], "fields": ["stage"], "blocks": 7 });
            let contract = read(OutputType::RelationEntity, &config.to_string()).unwrap();
            assert_eq!(contract.schema, Some(json!({ "type": "object" })));
            assert_eq!(contract.entity_type.as_deref(), Some("note"));
            assert_eq!(contract.relation_field.as_deref(), Some("company"));
            assert_eq!(contract.criteria_set_ids, [id.parse::<CriteriaSetId>().unwrap()]);
        }
        let text = read(OutputType::Text, "{}").unwrap();
        assert_eq!((text.schema, text.entity_type, text.criteria_set_ids), (None, None, vec![]));
    }

    #[test]
    fn each_wrong_key_is_named() {
        use OutputType::{Entities, Entity, Fields, RelationEntity, Text};
        let id = "018f0000-0000-7000-8000-000000000000";
        for (output_type, config, wrong) in [
            (Text, json!({ "schema": "object" }), vec!["outputConfig.schema"]),
            (Text, json!({ "schema": null }), vec!["outputConfig.schema"]),
            (Fields, json!({ "entityType": "note" }), vec!["outputConfig.entityType"]),
            (Entity, json!({ "entityType": "My notes" }), vec!["outputConfig.entityType"]),
            (
                Entity,
                json!({ "entityType": 7, "relationField": "x" }),
                vec!["outputConfig.entityType", "outputConfig.relationField"],
            ),
            (Entities, json!({}), vec!["outputConfig.entityType"]),
            (RelationEntity, json!({}), vec!["outputConfig.entityType", "outputConfig.relationField"]),
            (RelationEntity, json!({ "entityType": "note", "relationField": "" }), vec!["outputConfig.relationField"]),
            (Text, json!({ "criteria_set_ids": id }), vec!["outputConfig.criteria_set_ids"]),
            (
                Text,
                json!({ "criteriaSetIds": [id, "x", id] }),
                vec!["outputConfig.criteriaSetIds[1]", "outputConfig.criteriaSetIds[2]"],
            ),
            (Text, json!({ "criteriaSetIds": [], "criteria_set_ids": [] }), vec!["outputConfig.criteriaSetIds"]),
        ] {
            assert_eq!(refused(output_type, config.clone()), wrong, "{config}");
        }
        let many: Vec<_> = (0..=OUTPUT_CRITERIA_SETS_MAX as u128).map(uuid::Uuid::from_u128).collect();
        assert_eq!(refused(Text, json!({ "criteriaSetIds": many })), ["outputConfig.criteriaSetIds"]);
    }
}
