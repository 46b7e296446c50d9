//! The result of installing a bundle.

pub use domain::bundle::{Bundle, PlannedItem};

use serde::{Deserialize, Serialize};

/// `POST /api/bundles`: what it did, or with `dryRun=true` what it would do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    /// Whether it was done.
    pub applied: bool,
    /// Each item of the bundle: `{kind, slug, operation, fields}`. `kind` is `group`, `criteria_set`, `entity_type`,
    /// `view`, `tool` or `action`; `operation` is `create`, `change` or `keep`. `fields` are those that the bundle
    /// names: `{field, operation, before, after}`.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::PlannedItem>))]
    pub items: Vec<PlannedItem>,
}
