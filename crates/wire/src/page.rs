//! Pages of lists with keyset pagination: `{items, nextCursor}`.

use serde::{Deserialize, Serialize};

/// One page of a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items, newest first unless the list says otherwise.
    pub items: Vec<T>,
    /// Opaque; pass as `cursor` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Cursor>))]
    pub next_cursor: Option<String>,
}
