//! Entities: records that work is about. An entity type has typed fields. An entity has a title and values of
//! these fields.

mod field;
mod import;
mod status_map;
mod value;

pub use field::{FIELD_TITLE, FieldDef, FieldType, check_fields};
pub use import::{Column, ImportStatus, RowError, guess_columns, named_columns};
pub use status_map::{
    EMPTY_TASK_STATUS_MAP, OutputTargets, SessionTargets, TaskStatusMap, build_task_status_map, output_targets,
};
pub use value::{Values, apply, display_text, parse_text};
