//! What whoever has a link to a session reads: pages without the shell, without scripts and without a stream. They name
//! no person of the workspace and link to nothing in it.

mod document;
mod input;
mod page;

pub use document::Frame;
pub(crate) use document::document as shared_document;
pub(crate) use input::input_section;
pub use page::{OpenProps, Part, Props, gone_page, open_page, page, wait_page};
