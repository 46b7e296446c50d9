//! Calls MCP servers: lists their tools, and calls one.
//!
//! Each call has a session of its own: it connects, initializes, asks, and ends the session. So no run sees what
//! another left in a session, a run that is broken off disturbs no other, and a changed header is in force at once. The
//! protocol is that of the crate `rmcp`; connections over HTTP go through `outbound`, and programs are those that the
//! operator of the server allows by name.
//!
//! Whatever a server sends is bounded before it is read: the body of an answer by `outbound`, the output of a program
//! by [`limit::MCP_PROGRAM_BYTES_MAX`](super::limit::MCP_PROGRAM_BYTES_MAX), and everything by the time of the call.

mod call;
mod connection;
mod fault;
mod http;
mod list;
mod program;
mod progress;
mod refresh;
mod turns;

pub use call::Called;
pub use fault::Fault;
pub use program::Program;
pub use refresh::refresh;

use outbound::Client;
use std::{collections::BTreeMap, fmt, sync::Arc};
use turns::Turns;

/// Calls MCP servers. Clones share their settings.
#[derive(Clone)]
pub struct Mcp {
    http: Client,
    programs: Arc<BTreeMap<String, Program>>,
    /// Names of variables that programs do not inherit: secrets of the server.
    withheld: Arc<Vec<String>>,
    lists: Arc<Turns>,
}

impl fmt::Debug for Mcp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mcp").field("programs", &self.programs.keys()).finish_non_exhaustive()
    }
}

impl Mcp {
    /// Creates the caller. `programs` are those that the operator allows, by their names; `withheld` are names of
    /// variables that they do not inherit.
    pub fn new(http: Client, programs: BTreeMap<String, Program>, withheld: Vec<String>) -> Self {
        let lists = Arc::new(Turns::new());
        Self { http, programs: Arc::new(programs), withheld: Arc::new(withheld), lists }
    }

    /// The names of the programs that a workspace may use.
    pub fn programs_of<'a>(&'a self, workspace: &'a str) -> impl Iterator<Item = &'a str> {
        let of_workspace = self.programs.iter().filter(move |(_, program)| program.workspace == workspace);
        of_workspace.map(|(name, _)| name.as_str())
    }
}
