//! What whoever has a link to a tool uses: the form of the tool, and a run that the same browser has begun.
//!
//! The pages have no shell, no scripts and no stream. They name no person of the workspace and link to nothing in it.

mod page;

pub use page::{FormProps, OpenProps, RunProps, form_page, open_page, run_page};
