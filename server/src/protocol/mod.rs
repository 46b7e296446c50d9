//! Protocols that others have defined, each in a file or folder of its own. `README.md` beside this file says what a
//! protocol may use and what it must not do.

pub mod json_lines;

use crate::state::AppState;
use utoipa_axum::{router::OpenApiRouter, routes};

/// Adds the routes of the protocols to those of the API.
pub fn add_routes(router: OpenApiRouter<AppState>) -> OpenApiRouter<AppState> {
    router.routes(routes!(json_lines::read))
}
