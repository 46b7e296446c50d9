//! How long the target of a request may be: path and query of its address.

use crate::problem::Problem;
use axum::http::Uri;
use wire::Code;

/// Longest target of a request, in bytes. A link that fills in a long text of a form has the longest ones: 10,000
/// characters, of which escaped ones take three bytes. hyper reads up to 65,534 bytes; it refuses longer ones without a
/// body.
pub const TARGET_BYTES_MAX: usize = 32 * 1024;

/// Refuses a target that is too long.
///
/// # Errors
/// [`Code::TargetTooLong`].
pub fn check(uri: &Uri) -> Result<(), Problem> {
    let bytes = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if bytes <= TARGET_BYTES_MAX {
        return Ok(());
    }
    let limit = format!("an address can have at most {TARGET_BYTES_MAX} bytes after the host; this one has {bytes}");
    Err(Problem::detailed(Code::TargetTooLong, limit))
}
