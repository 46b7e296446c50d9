//! Limits of the forwarding of hooks. Those of the API are in `domain::limit`.

use std::time::Duration;

/// Deadline of a hook that the agent waits for with a prompt. With the start of the process it stays below 300 ms.
pub const CONTEXT_DEADLINE: Duration = Duration::from_millis(230);
/// Deadline of any other hook. Claude Code gives all hooks at the end of a session 1.5 s together.
pub const DEADLINE: Duration = Duration::from_secs(1);
/// Time to open a connection. It ends well before [`DEADLINE`], so that a hook that is late over a connection differs
/// from one without a connection: only the first may be too large. Opening a connection takes about three round trips
/// with TLS and a name to resolve, and a call takes one more. Where opening takes longer, the call hardly ends in time.
pub const CONNECT_TIMEOUT: Duration = Duration::from_millis(600);
/// Largest payload that is read, in bytes.
pub const PAYLOAD_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Size to which the texts of a payload are truncated before it is sent, in bytes. An event holds at most 256 KiB; the
/// rest is for fields that no event holds, such as the input beside a tool's result.
pub const SENT_BYTES_MAX: usize = 300 * 1024;
/// Size below which a payload that is not sent in time is not truncated further, in bytes. Its size is not the reason.
pub const LATE_BYTES_MIN: usize = 32 * 1024;
/// Most hooks in the spool.
pub const SPOOL_FILES_MAX: usize = 5_000;
/// Most bytes in the spool.
pub const SPOOL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Age of a hook after which an internal error of the server or an error of a proxy counts as a refusal of it, hours,
/// and after which one that is too large to be sent in time is removed. One that always fails would hold up those that
/// wait behind it.
pub const FAILING_HOURS_MAX: i64 = 24;
/// Timeout of a hook as installed, seconds; it is longer than the deadlines.
pub const INSTALLED_TIMEOUT_SECONDS: u32 = 5;
/// Timeout of a hook when the agent quits, seconds: the most that Codex allows.
pub const INSTALLED_QUIT_TIMEOUT_SECONDS: u32 = 3;
/// Most prompts without context that are counted for one server and token.
pub const MISSED_MAX: u64 = 1_000_000;
