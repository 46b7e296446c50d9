//! What an operation does to the document that it is about.

use super::{
    answer::{Op, OpKind},
    section,
};

/// Heading of the section of aliases.
pub(super) const ALIASES: &str = "Aliases";
/// Heading of the section of links.
pub(super) const LINKS: &str = "Links";

/// Returns the document after an operation.
///
/// # Errors
/// [`section::NotFound`] unless exactly one section has the headings of the operation.
pub(super) fn carry_out(body: &str, op: &Op) -> Result<String, section::NotFound> {
    match op.op {
        OpKind::Create => section::append(body, &[], &op.body),
        OpKind::AppendSection => section::append(body, &op.heading, &op.body),
        OpKind::ReplaceSection => section::replace(body, &op.heading, &op.body),
        OpKind::AliasAdd => section::add_item(body, ALIASES, &op.added()),
        OpKind::LinkAdd => section::add_item(body, LINKS, &op.added()),
        OpKind::RetireSection => section::retire(body, &op.heading),
    }
}
