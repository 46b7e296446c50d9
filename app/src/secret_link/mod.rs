//! Links with a secret in their address, as the pages of their makers show them: the table of links, and the address of
//! one that was just made.

mod made;
mod table;

pub use made::new_link;
pub use table::{Link, link_row, links_table};
