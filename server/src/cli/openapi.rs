//! `shiftbook openapi`: prints the OpenAPI document, for tests and client generators.

use super::common::{Failure, print_line};
use crate::api;

/// Prints the document on standard output.
pub fn run() -> Result<(), Failure> {
    print_line(api::document_json())
}
