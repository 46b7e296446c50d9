//! Criteria sets and their versions.

use domain::{Timestamp, criteria_set::Dimension, id::CriteriaSetId};
use serde::{Deserialize, Serialize};

/// What outputs are judged by, at one version.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CriteriaSet {
    /// UUID of the criteria set.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: CriteriaSetId,
    /// URL name, unique in the workspace; never changes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Display name.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Purpose of the set, for people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description))]
    pub description: String,
    /// In the order evaluated: `{slug, name, type, description, options, min, max}`. `type` is select, text, number
    /// or scale. An option is `{value, label, style, score, hardBlock}`; `style` is neutral, positive, caution or
    /// negative.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Dimension>))]
    pub dimensions: Vec<Dimension>,
    /// The version that this is, from 1.
    pub version: u64,
    /// The newest version that there is.
    pub newest_version: u64,
    /// Creator of the set: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Who wrote this version.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub updated_by: String,
    /// Time of the set's creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When this version was written.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// `POST /api/criteria-sets`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateCriteriaSet {
    /// 1 to 200 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Default: derived from the name.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// At most 10,000 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description))]
    pub description: String,
    /// 1 to 50. Options may be written in short: `"options": ["pass", "fail"]` with
    /// `"optionStyles": {"fail": {"style": "negative", "score": 0, "hardBlock": true}}`.
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Vec<crate::schema::NewDimension>, min_items = 1, max_items = 50)
    )]
    pub dimensions: Vec<Dimension>,
}

/// `PATCH /api/criteria-sets/{id}`: absent fields stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateCriteriaSet {
    /// The version that was read; another one is refused with `stale_version`.
    pub version: u64,
    /// 1 to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub name: Option<String>,
    /// At most 10,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Description>))]
    pub description: Option<String>,
    /// All dimensions, in the order evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Option<Vec<crate::schema::NewDimension>>, min_items = 1, max_items = 50)
    )]
    pub dimensions: Option<Vec<Dimension>>,
}
