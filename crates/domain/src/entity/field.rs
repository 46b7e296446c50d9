//! The fields of an entity type.

use crate::{
    issue::Issue,
    limit::{ENTITY_FIELDS_MAX, NAME_CHARS_MAX, SELECT_OPTIONS_MAX},
    line::{name_problem, option_problem},
    slug::is_slug,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Name of the title among the slugs of fields. No field may have this slug.
pub const FIELD_TITLE: &str = "title";

/// The type of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldType {
    /// A string.
    Text,
    /// A finite JSON number.
    Number,
    /// One of the field's options, as a string.
    Select,
    /// A day, `YYYY-MM-DD`.
    Date,
    /// The id of an entity of the field's relation type.
    Relation,
}

impl FieldType {
    /// All field types.
    pub const ALL: [Self; 5] = [Self::Text, Self::Number, Self::Select, Self::Date, Self::Relation];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Select => "select",
            Self::Date => "date",
            Self::Relation => "relation",
        }
    }

    /// Returns the type with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }
}

/// One field of an entity type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldDef {
    /// Key of the values. It is unique in the type.
    pub slug: String,
    /// Name that pages show.
    pub name: String,
    /// Type of the values.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Whether every entity must have a value.
    #[serde(default)]
    pub required: bool,
    /// Options of a select; empty for other types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Slug of the entity type to which a relation refers; `None` for other types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_type: Option<String>,
}

/// Returns every problem of a type's fields, with its path; none if they are valid. The caller checks whether
/// relation types exist.
pub fn check_fields(fields: &[FieldDef]) -> Vec<Issue> {
    let mut issues = Vec::new();
    if fields.len() > ENTITY_FIELDS_MAX {
        issues.push(Issue::new("fields", format!("at most {ENTITY_FIELDS_MAX} fields")));
    }
    let mut slugs = BTreeSet::new();
    for (index, field) in fields.iter().enumerate() {
        let at = |part: &str| format!("fields[{index}].{part}");
        if !is_slug(&field.slug) {
            issues.push(Issue::new(at("slug"), "lower-case letters, digits and single hyphens, at most 64 characters"));
        } else if field.slug == FIELD_TITLE {
            issues.push(Issue::new(at("slug"), "`title` is the entity's own title; choose another"));
        } else if !slugs.insert(&field.slug) {
            issues.push(Issue::new(at("slug"), format!("another field is called `{}`", field.slug)));
        }
        if let Some(problem) = name_problem(&field.name, NAME_CHARS_MAX) {
            issues.push(Issue::new(at("name"), problem));
        }
        check_options(field, &at("options"), &mut issues);
        match (field.kind, &field.relation_type) {
            (FieldType::Relation, None) => {
                issues.push(Issue::new(at("relationType"), "the slug of the entity type it leads to"));
            }
            (FieldType::Relation, Some(_)) | (_, None) => {}
            (_, Some(_)) => issues.push(Issue::new(at("relationType"), "only a relation can have an entity type")),
        }
    }
    issues
}

fn check_options(field: &FieldDef, at: &str, issues: &mut Vec<Issue>) {
    if field.kind != FieldType::Select {
        if !field.options.is_empty() {
            issues.push(Issue::new(at, "only a select has options"));
        }
        return;
    }
    if field.options.is_empty() || field.options.len() > SELECT_OPTIONS_MAX {
        issues.push(Issue::new(at, format!("a select has 1 to {SELECT_OPTIONS_MAX} options")));
    }
    let mut seen = BTreeSet::new();
    for (index, option) in field.options.iter().enumerate() {
        if let Some(problem) = option_problem(option, NAME_CHARS_MAX) {
            issues.push(Issue::new(format!("{at}[{index}]"), problem));
        } else if !seen.insert(option) {
            issues.push(Issue::new(format!("{at}[{index}]"), format!("`{option}` is listed twice")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(slug: &str, kind: FieldType) -> FieldDef {
        FieldDef {
            slug: slug.into(),
            name: slug.into(),
            kind,
            required: false,
            options: if kind == FieldType::Select { vec!["a".into()] } else { Vec::new() },
            relation_type: (kind == FieldType::Relation).then(|| "company".into()),
        }
    }

    #[test]
    fn one_field_of_each_type_is_fine() {
        let fields: Vec<_> = FieldType::ALL.into_iter().map(|t| field(t.as_str(), t)).collect();
        assert_eq!(check_fields(&fields), []);
        let json = serde_json::to_string(&fields).unwrap();
        assert_eq!(serde_json::from_str::<Vec<FieldDef>>(&json).unwrap(), fields);
    }

    #[test]
    fn each_wrong_part_of_a_field_is_named_by_its_path() {
        let twice = vec![field("a", FieldType::Text), field("a", FieldType::Text)];
        assert_eq!(check_fields(&twice)[0].field, "fields[1].slug");
        let cases = [
            (FieldDef { slug: "A b".into(), ..field("a", FieldType::Text) }, "fields[0].slug"),
            (field("title", FieldType::Text), "fields[0].slug"),
            (FieldDef { name: "  ".into(), ..field("a", FieldType::Text) }, "fields[0].name"),
            (FieldDef { options: vec!["x".into()], ..field("a", FieldType::Text) }, "fields[0].options"),
            (FieldDef { options: vec![], ..field("a", FieldType::Select) }, "fields[0].options"),
            (
                FieldDef { options: vec!["x".into(), "x".into()], ..field("a", FieldType::Select) },
                "fields[0].options[1]",
            ),
            (FieldDef { options: vec![" x".into()], ..field("a", FieldType::Select) }, "fields[0].options[0]"),
            (FieldDef { options: vec!["x\u{202e}y".into()], ..field("a", FieldType::Select) }, "fields[0].options[0]"),
            (FieldDef { relation_type: None, ..field("a", FieldType::Relation) }, "fields[0].relationType"),
            (FieldDef { relation_type: Some("x".into()), ..field("a", FieldType::Date) }, "fields[0].relationType"),
        ];
        for (wrong, path) in cases {
            let issues = check_fields(std::slice::from_ref(&wrong));
            assert_eq!(issues.iter().map(|i| i.field.as_str()).collect::<Vec<_>>(), [path], "{wrong:?}");
        }
        let many = vec![field("a", FieldType::Text); ENTITY_FIELDS_MAX + 1];
        assert_eq!(check_fields(&many)[0].field, "fields");
    }
}
