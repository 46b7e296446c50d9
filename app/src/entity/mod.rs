//! Entities: the list, the page of an entity, its type, and imports.
//!
//! Blocks of an entity's page that an action's `outputConfig` can name: `fields`, `tasks`, `sessions`, `history`. The
//! name `title` among its `fields` means the title.

mod progress;

#[cfg(feature = "ssr")]
mod choices;
#[cfg(feature = "ssr")]
mod form;
#[cfg(feature = "ssr")]
mod history;
#[cfg(feature = "ssr")]
mod import_page;
#[cfg(feature = "ssr")]
mod list_page;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod progress_page;
#[cfg(feature = "ssr")]
mod status_dot;
#[cfg(feature = "ssr")]
mod type_form;
#[cfg(feature = "ssr")]
mod type_page;

#[cfg(feature = "ssr")]
pub use choices::{Choices, People, Relations};
#[cfg(feature = "ssr")]
pub use import_page::{ImportProps, import_page};
#[cfg(feature = "ssr")]
pub use list_page::{ListProps, list_page};
#[cfg(feature = "ssr")]
pub use page::{Props, page};
pub use progress::ImportProgress;
#[cfg(feature = "ssr")]
pub use progress_page::{ProgressProps, progress_fragment, progress_page};
#[cfg(feature = "ssr")]
pub use type_page::{TypeProps, type_page};
