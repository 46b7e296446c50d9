//! MCP servers: the list, and the page of a server with the tools that it lists.

mod form;
mod list_page;
mod page;

pub use list_page::{ListProps, list_page};
pub use page::{Props, page};

use domain::mcp::Transport;

/// How a server is reached, in words.
fn transport_words(transport: &Transport) -> String {
    match transport {
        Transport::Http { url, .. } => url.clone(),
        Transport::Stdio { program } => format!("program {program}"),
    }
}
