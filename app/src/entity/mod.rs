//! Entities: the list, the page of an entity, its type, and imports.
//!
//! Blocks of an entity's page that an action's `outputConfig` can name: `fields`, `tasks`, `sessions`, `history`. The
//! name `title` among its `fields` means the title.

mod bulk;
mod choices;
mod erase_page;
mod form;
mod history;
mod import_page;
mod list_page;
mod page;
mod progress_page;
mod status_dot;
mod type_form;
mod type_page;

pub use bulk::FORM as BULK_FORM;
pub use choices::{Choices, Relations};
pub use erase_page::{Erasable, EraseProps, erase_page};
pub use import_page::{ImportProps, import_page};
pub use list_page::{ListProps, list_page};
pub use page::{Props, page};
pub use progress_page::{ProgressProps, progress_fragment, progress_page};
pub use type_page::{TypeProps, type_page};

pub use crate::text::people::People;
