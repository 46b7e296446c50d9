//! `shiftbook openapi`: the document, for tests and client generators.

use super::run::{Failure, print_line};
use crate::api;

/// Prints it.
pub fn run() -> Result<(), Failure> {
    print_line(&api::document_json())
}
