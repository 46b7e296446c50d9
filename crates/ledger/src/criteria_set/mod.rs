//! Criteria sets, by which outputs are judged. Every version is kept, because decisions record the version that
//! they used.

mod create;
mod read;
mod update;

pub use create::{NewCriteriaSet, create};
pub use read::{get, list, list_versions};
pub(crate) use read::{get_on, list_on, versions_on};
pub use update::{CriteriaSetChange, update};

use crate::{CriteriaSetRecord, Result, guard::Fields};
use domain::{
    criteria_set::check_dimensions,
    limit::{DESCRIPTION_CHARS_MAX, DOCUMENT_BYTES_MAX, NAME_CHARS_MAX},
};

/// Checks every field of a criteria set before it is stored.
pub(crate) fn check(record: &CriteriaSetRecord) -> Result<()> {
    let mut fields = Fields::default();
    fields.name("name", &record.name, NAME_CHARS_MAX);
    fields.slug("slug", Some(&record.slug));
    fields.text("description", Some(&record.description), DESCRIPTION_CHARS_MAX);
    for issue in check_dimensions(&record.dimensions) {
        fields.refuse(&issue.field, issue.message);
    }
    let bytes = serde_json::to_string(&record.dimensions).map_or(usize::MAX, |json| json.len());
    if bytes > DOCUMENT_BYTES_MAX {
        fields.refuse("dimensions", format!("at most {DOCUMENT_BYTES_MAX} bytes as JSON"));
    }
    fields.check()
}
