//! The mapping of a CSV file's columns to fields.

use super::{FIELD_TITLE, FieldDef};
use crate::issue::Issue;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One column of a file with the field that it fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Column {
    /// Name of the column in the header.
    pub column: String,
    /// Slug of the field that the column fills, or `title`; `None` if the column is ignored.
    pub field: Option<String>,
}

/// How far an import of a file is. A final status does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportStatus {
    /// Rows remain to be imported.
    Running,
    /// Every row was imported or refused.
    Completed,
    /// The import cannot continue. The entities that it created are kept.
    Failed,
}

impl ImportStatus {
    /// All statuses.
    pub const ALL: [Self; 3] = [Self::Running, Self::Completed, Self::Failed];

    /// The stored and wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Returns the status with this stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

/// A problem of one cell of a file, or of a whole row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowError {
    /// Number of the row as in a spreadsheet: the header is row 1.
    pub row: u64,
    /// Slug of the field, or `title`; empty for a problem of the whole row.
    pub field: String,
    /// What is wrong or what a valid value is, for people.
    pub message: String,
}

/// Guesses the mapping by names. A column fills the field with the same name or slug, and the column `title`,
/// `name` or with the name of the type fills the title. If there is no such column, the first unused column
/// fills the title, or else the first column.
pub fn guess_columns(header: &[String], fields: &[FieldDef], type_name: &str) -> Vec<Column> {
    let mut free: BTreeSet<&str> = fields.iter().map(|f| f.slug.as_str()).chain([FIELD_TITLE]).collect();
    let mut columns: Vec<Column> = header
        .iter()
        .map(|column| {
            let called = plain(column);
            let by_name = fields.iter().find(|f| plain(&f.slug) == called || plain(&f.name) == called);
            let field = by_name.map(|f| f.slug.as_str()).filter(|slug| free.remove(slug));
            Column { column: column.clone(), field: field.map(str::to_owned) }
        })
        .collect();
    let titles = [FIELD_TITLE.to_owned(), "name".to_owned(), plain(type_name)];
    let unused = |c: &Column| c.field.is_none() && !c.column.trim().is_empty();
    let title = titles
        .iter()
        .find_map(|title| columns.iter().position(|c| unused(c) && plain(&c.column) == *title))
        .or_else(|| columns.iter().position(unused))
        .or_else(|| (!columns.is_empty()).then_some(0));
    if let Some(title) = title {
        columns[title].field = Some(FIELD_TITLE.to_owned());
    }
    columns
}

/// Returns the mapping that the caller gives. Columns that are not named are ignored.
///
/// # Errors
/// The first [`Issue`] of the mapping, with the field `mapping`.
pub fn named_columns(
    header: &[String],
    fields: &[FieldDef],
    names: &BTreeMap<String, Option<String>>,
) -> Result<Vec<Column>, Issue> {
    let wrong = |message: String| Err(Issue::new("mapping", message));
    let mut used = BTreeSet::new();
    for (column, field) in names {
        match header.iter().filter(|name| *name == column).count() {
            1 => {}
            0 => return wrong(format!("the file has no column `{column}`")),
            _ => return wrong(format!("the file has several columns `{column}`")),
        }
        let Some(field) = field else { continue };
        if field != FIELD_TITLE && !fields.iter().any(|f| f.slug == *field) {
            return wrong(format!("this entity type has no field `{field}`"));
        }
        if !used.insert(field) {
            return wrong(format!("two columns fill `{field}`"));
        }
    }
    if !used.iter().any(|field| *field == FIELD_TITLE) {
        return wrong("no column fills `title`".into());
    }
    let column = |name: &String| Column { column: name.clone(), field: names.get(name).cloned().flatten() };
    Ok(header.iter().map(column).collect())
}

/// Returns a name without case, white space and punctuation, for comparison.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::FieldType;

    fn fields() -> Vec<FieldDef> {
        let field = |slug: &str, name: &str| FieldDef {
            slug: slug.into(),
            name: name.into(),
            kind: FieldType::Text,
            required: false,
            options: Vec::new(),
            relation_type: None,
        };
        vec![field("stage", "Stage"), field("closes-on", "Expected close")]
    }

    fn guessed(header: &[&str]) -> Vec<Option<String>> {
        let header: Vec<String> = header.iter().map(|h| (*h).to_owned()).collect();
        guess_columns(&header, &fields(), "Company").into_iter().map(|c| c.field).collect()
    }

    #[test]
    fn columns_are_guessed_by_name() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(guessed(&["Company", "STAGE", "expected close"]), [some("title"), some("stage"), some("closes-on")]);
        assert_eq!(guessed(&["id", "Closes On", "Name"]), [None, some("closes-on"), some("title")]);
        assert_eq!(guessed(&["stage", "Account"]), [some("stage"), some("title")]);
        assert_eq!(guessed(&["stage", "Stage"]), [some("stage"), some("title")]);
        assert_eq!(guessed(&["stage"]), [some("title")]);
    }

    #[test]
    fn a_mapping_that_does_not_fit_says_why() {
        let header = ["Account".to_owned(), "S".to_owned(), "S".to_owned()];
        let named = |pairs: &[(&str, Option<&str>)]| {
            let names = pairs.iter().map(|(c, f)| ((*c).to_owned(), f.map(str::to_owned))).collect();
            named_columns(&header, &fields(), &names)
        };
        assert_eq!(named(&[("Account", Some("title"))]).unwrap()[0].field.as_deref(), Some("title"));
        for (pairs, message) in [
            (vec![("Nope", None)], "the file has no column `Nope`"),
            (vec![("S", Some("stage"))], "the file has several columns `S`"),
            (vec![("Account", Some("nope"))], "this entity type has no field `nope`"),
            (vec![("Account", Some("stage"))], "no column fills `title`"),
        ] {
            assert_eq!(named(&pairs).unwrap_err().message, message);
        }
    }
}
