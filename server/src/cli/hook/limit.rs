//! The forwarder's own limits, named. Those of the API are in `domain::limit`.

use std::time::Duration;

/// For a hook that the agent waits for with a prompt in hand: together with starting, less than 300 ms.
pub const CONTEXT_DEADLINE: Duration = Duration::from_millis(230);
/// For any other hook. Claude Code gives all hooks at a session's end 1.5 s together.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// Largest payload that is read, bytes. What is larger than a request may be has its texts cut.
pub const PAYLOAD_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Hooks that wait for the server.
pub const SPOOL_FILES_MAX: usize = 5_000;
/// The same in bytes.
pub const SPOOL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How long an agent lets a hook run, seconds, as installed. It never takes that long.
pub const INSTALLED_TIMEOUT_SECONDS: u32 = 5;
/// The same where the agent is about to quit: Codex allows no more.
pub const INSTALLED_QUIT_TIMEOUT_SECONDS: u32 = 3;
