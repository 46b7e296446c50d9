//! The list of sessions: filters, keyset pagination, live status.

mod island;

#[cfg(feature = "hydrate")]
mod refresh;
#[cfg(feature = "hydrate")]
mod select;

#[cfg(feature = "ssr")]
mod bulk;
#[cfg(feature = "ssr")]
mod bulk_bar;
#[cfg(feature = "ssr")]
mod bulk_choice;
#[cfg(feature = "ssr")]
mod bulk_progress;
#[cfg(feature = "ssr")]
mod chips;
#[cfg(feature = "ssr")]
mod columns;
#[cfg(feature = "ssr")]
mod filter;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod row;
#[cfg(feature = "ssr")]
mod saved;
#[cfg(feature = "ssr")]
mod suggestion;
#[cfg(feature = "ssr")]
mod view_model;

#[cfg(feature = "ssr")]
pub use bulk::{BulkProps, bulk_page};
#[cfg(feature = "ssr")]
pub(crate) use bulk::{PATH as BULK_PATH, session_fields};
#[cfg(feature = "ssr")]
pub(crate) use bulk_bar::{selecting_help, tick};
#[cfg(feature = "ssr")]
pub use bulk_choice::{ChoiceProps, bulk_choice_page};
#[cfg(feature = "ssr")]
pub use bulk_progress::{BulkProgressProps, bulk_progress_page};
#[cfg(feature = "ssr")]
pub use columns::{COMPACT, Columns, ListColumn};
#[cfg(feature = "ssr")]
pub use filter::{Filter, UTC};
pub use island::LiveRows;
#[cfg(feature = "ssr")]
pub use page::{Props, page};
#[cfg(feature = "hydrate")]
pub use refresh::start;
#[cfg(feature = "ssr")]
pub use row::{RowLook, rows_fragment, session_table};
#[cfg(feature = "ssr")]
pub use saved::{CountedSearch, SavedProps, saved_page};
#[cfg(feature = "ssr")]
pub(crate) use suggestion::suggestions;
#[cfg(feature = "ssr")]
pub use view_model::{SessionEntry, cost_words, input_words, last_words, who};
