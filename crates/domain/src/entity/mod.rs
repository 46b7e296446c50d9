//! Entities: records that work is about. A type has typed fields; an entity has a title and their values.

mod field;
mod import;
mod status_map;
mod value;

pub(crate) use field::is_line;
pub use field::{FIELD_TITLE, FieldDef, FieldType, check_fields};
pub use import::{Column, ImportStatus, RowError, guess_columns, named_columns};
pub use status_map::{
    EMPTY_TASK_STATUS_MAP, OutputTargets, SessionStanding, TaskStatusMap, build_task_status_map, output_targets,
};
pub use value::{Values, apply, parse_text, shown};

/// One thing that is wrong, and where: a field's slug, or a path such as `fields[2].slug`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Where.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Issue {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}
