//! Criteria sets, by which outputs are judged. Every version is kept, because decisions record the version that
//! they used.

mod create;
mod get;
mod list;
mod update;
mod versions;

pub use create::{NewCriteriaSet, create};
pub use get::get;
pub(crate) use get::get_on;
pub use list::list;
pub(crate) use list::list_on;
pub use update::{CriteriaSetChange, update};
pub use versions::list_versions;
pub(crate) use versions::versions_on;

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
