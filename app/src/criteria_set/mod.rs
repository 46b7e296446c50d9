//! Criteria sets: the list, the page of a set with its versions, the editor with its preview; and bundles.

mod bundle_page;
mod editor;
mod list_page;
mod option_lines;
mod page;
mod preview;

pub use bundle_page::{BundleProps, bundle_page};
pub use list_page::{ListProps, list_page};
pub use option_lines::read as read_options;
pub use page::{Props, new_page, page};
pub use preview::{NO_VALUE, Preview, try_name};
