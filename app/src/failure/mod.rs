//! The pages of causes of failures: the list, one cause, and running its sessions again.

mod again;
mod again_many;
mod cause;
mod list;
mod parts;

pub use again::{AgainProps, again_page};
pub use again_many::{CauseRow, CausesAgainProps, causes_again_page};
pub use cause::{CauseProps, cause_page};
pub use list::{Filter, ListProps, list_page};
