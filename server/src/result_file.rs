//! The result of a session as a file.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};

/// An answer that browsers save as `name` and never show: what is in a result was chosen by whoever made it.
pub fn saved(name: &str, result: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    (headers, result).into_response()
}
