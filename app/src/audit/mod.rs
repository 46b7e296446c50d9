//! The page of the audit list: acts of administrators and sign-ins.

mod page;
mod sentence;

pub use page::{Filter, Props, page};
pub use sentence::{Known, Names};
