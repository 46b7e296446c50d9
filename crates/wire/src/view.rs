//! Views: published input forms, and their versions.

use domain::{
    Timestamp,
    id::ViewId,
    view::{Field, FormSchema, Publication, State},
};
use serde::{Deserialize, Serialize};

/// A view with its working copy.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// UUID of the view.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: ViewId,
    /// URL name, unique in the workspace; never changes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Title of the form.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Text above the questions.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description))]
    pub introduction: String,
    /// Questions, in the order of the form.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::ViewField>))]
    pub fields: Vec<Field>,
    /// Who may answer, how often and when.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ViewPublication))]
    pub publish_config: Publication,
    /// Whether the view takes responses.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ViewState))]
    pub state: State,
    /// Number of the version published last; absent in a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Number of the working copy: 1 at first, one more with each change.
    pub revision: u64,
    /// Whether the working copy differs from the version published last.
    pub changed: bool,
    /// Creator of the view: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Who changed, published or unpublished it last.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub updated_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the last change, publication or withdrawal.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// A view as it was published once. It never changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ViewVersion {
    /// UUID of the view.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub view_id: ViewId,
    /// Number of the version, from 1.
    pub version: u64,
    /// Title of the form.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Text above the questions.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description))]
    pub introduction: String,
    /// Questions, in the order of the form. Ratings have the dimensions that their criteria sets had then.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::ViewField>))]
    pub fields: Vec<Field>,
    /// Who may answer, how often and when.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ViewPublication))]
    pub publish_config: Publication,
    /// `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub published_by: String,
    /// Time of publication.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub published_at: Timestamp,
}

/// `POST /api/views`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateView {
    /// 1 to 300 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RecordTitle))]
    pub title: String,
    /// Default: derived from the title. `new` is refused, because a page has that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// At most 10,000 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description))]
    pub introduction: String,
    /// At most 50 questions, in the order of the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Option<Vec<crate::schema::NewViewField>>, max_items = 50)
    )]
    pub fields: Option<Vec<Field>>,
    /// The questions as JSON Schema instead of `fields`: the subset that MCP's elicitation allows in
    /// `requestedSchema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RequestedSchema>))]
    pub schema: Option<FormSchema>,
    /// Who may answer, how often and when. Default: each member once.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::NewViewPublication))]
    pub publish_config: Publication,
}

/// `PATCH /api/views/{id}`: absent fields stay.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateView {
    /// The revision that was read; another one is refused with `stale_version`.
    pub revision: u64,
    /// 1 to 300 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RecordTitle>))]
    pub title: Option<String>,
    /// At most 10,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Description>))]
    pub introduction: Option<String>,
    /// All questions, in the order of the form.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Option<Vec<crate::schema::NewViewField>>, max_items = 50)
    )]
    pub fields: Option<Vec<Field>>,
    /// The questions as JSON Schema instead of `fields`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::RequestedSchema>))]
    pub schema: Option<FormSchema>,
    /// Who may answer, how often and when, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::NewViewPublication>))]
    pub publish_config: Option<Publication>,
}

/// `POST /api/views/{id}/publish`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PublishView {
    /// The revision that was read; another one is refused with `stale_version`. Absent: whatever is newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}
