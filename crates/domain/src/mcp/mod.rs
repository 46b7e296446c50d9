//! MCP servers: programs that offer tools by the Model Context Protocol. How one is reached ([`Definition`]), which
//! tools it listed ([`Listing`]), and what is recorded of a result ([`answer`]).
//!
//! Everything that a server sends is untrusted. A tool whose name or schema breaks a limit is listed as refused and
//! cannot be imported. Control sequences of terminals and characters that change the direction of text are taken out of
//! titles and descriptions. The connection itself is made by the crate `runner`.

mod answer;
mod definition;
mod listing;
mod schema;
mod text;

pub use answer::{Block, answer, error_text, line_text};
pub use definition::{Definition, Transport, check};
pub use listing::{Change, ListedTool, Listing, OfferedTool, RefusedTool};
