//! Runs the tools of a workspace. [`ServerTool`] calls an HTTP service or an MCP server from the server;
//! [`WorkerTool`] runs a command of `shiftbook work --tool`.
//!
//! Both record each call before they make it ([`calls`]). A run that is claimed again finds in its log that a call was
//! begun, and repeats it only if the tool says that it may be repeated.

mod calls;
mod mcp;
mod server;
mod terms;
mod worker;

pub use server::ServerTool;
pub use worker::WorkerTool;
