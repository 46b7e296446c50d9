//! The worker's own limits. Those of the API are in `domain::limit`.

use std::time::Duration;

/// Seconds that a claim waits for a session: shorter than the idle timeouts of common proxies.
pub const CLAIM_WAIT_SECONDS: u32 = 25;
/// Pause after a claim that returned nothing sooner than this.
pub const EMPTY_PAUSE: Duration = Duration::from_secs(1);
/// Longest wait for the answer of a claim that was sent before the worker started to stop.
pub const CLAIM_GRACE: Duration = Duration::from_millis(250);
/// Longest pause between attempts while the server cannot be reached.
pub const AWAY_PAUSE_MAX: Duration = Duration::from_secs(10);
/// Longest environment variable that describes related sessions, bytes. Linux allows 128 KiB.
pub const VARIABLE_BYTES_MAX: usize = 96 * 1024;
/// Longest error message of a session in such a variable when its outputs do not fit, characters.
pub const RELATED_ERROR_CHARS_MAX: usize = 100;
/// Longest line of the line protocol that is parsed as JSON, bytes. A longer line is recorded as text in parts.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// The same for coding agents, whose lines hold whole files and pictures.
pub const AGENT_LINE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most warnings about repairs of one output. Further repairs are made without one.
pub const REPAIR_WARNINGS_MAX: u32 = 100;
/// Bytes read from a pipe at a time.
pub const READ_BYTES: usize = 16 * 1024;
/// Bytes reserved for the fields of an event besides content and metadata.
pub const ENVELOPE_BYTES: usize = 1024;
/// Unacknowledged events of one session at which reading the pipes pauses.
pub const QUEUE_EVENTS_MAX: usize = 1_000;
/// Unacknowledged bytes of content and metadata at which reading the pipes pauses.
pub const QUEUE_BYTES_MAX: usize = 1024 * 1024;
/// Events at which a batch is sent.
pub const BATCH_EVENTS: usize = 100;
/// Bytes of content and metadata at which a batch is sent. One event more still fits into the API's limit of 1 MiB.
pub const BATCH_BYTES: usize = 256 * 1024;
/// A batch is sent when no event arrived for this long.
pub const BATCH_QUIET: Duration = Duration::from_millis(50);
/// A batch is sent when its first event has waited this long.
pub const BATCH_AGE: Duration = Duration::from_millis(250);
/// Consecutive 5xx answers after which a batch counts as refused.
pub const SERVER_ERRORS_MAX: u32 = 5;
/// First and longest pause before a part of such a batch is sent again. The whole has waited longer.
pub const STUCK_PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(500));
/// Longest interval between heartbeats of a conversation: an interruption takes effect within this time.
pub const THREAD_BEAT: Duration = Duration::from_secs(1);
/// Longest wait for the answer of one heartbeat.
pub const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(10);
/// First and longest pause before a failed heartbeat is repeated.
pub const HEARTBEAT_PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// Time between SIGTERM and SIGKILL.
pub const KILL_GRACE: Duration = Duration::from_secs(5);
/// After the command has exited, its pipes are read until they are closed or silent for this long. A background process
/// may keep them open.
pub const OUTPUT_GRACE: Duration = Duration::from_secs(2);
/// Longest time for which the pipes are read after the command has exited, however much a background process writes.
pub const OUTPUT_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes that are still read of a pipe after this time, because the command may have written them: what a pipe holds.
pub const OUTPUT_LATE_BYTES: usize = 64 * 1024;
/// Time to append the remaining events and release the session when the worker stops.
pub const RELEASE_TIME: Duration = Duration::from_secs(5);
/// Longest time that is kept of the time to drain for stopping commands, appending their last events and releasing
/// their sessions.
pub const STOP_TIME: Duration = KILL_GRACE.saturating_add(RELEASE_TIME);
/// After the time to drain, how long the worker waits for the release of sessions before it exits.
pub const EXIT_TIME: Duration = Duration::from_secs(1);
/// Bytes at the end of standard error that a failure quotes.
pub const STDERR_TAIL_BYTES: usize = 3_500;
/// Requests for one reply of a model before its session fails.
pub const MODEL_TRIES_MAX: u32 = 6;
/// First and longest pause between these requests.
pub const MODEL_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// Longest `Retry-After` of a model's service that is followed; a longer one is cut to this.
pub const MODEL_RETRY_AFTER_MAX: Duration = Duration::from_secs(120);
/// Silence before or within a model's reply after which the connection counts as broken.
pub const MODEL_SILENCE_MAX: Duration = Duration::from_secs(180);
/// Time for which a service that reported no tokens is taken for one that never does. Sessions with a budget of tokens
/// or cost do not start within it.
pub const USAGE_UNKNOWN_TIME: Duration = Duration::from_mins(10);
/// Longest time for one reply of a model from its request to its end.
pub const MODEL_REPLY_TIME_MAX: Duration = Duration::from_secs(1_800);
/// Longest reply of a model, bytes of its text, its reasoning and the arguments of its calls together.
pub const MODEL_REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest line, and longest frame, of the stream in which a model's service sends a reply, bytes. A service that does
/// not cut the arguments of a call into parts sends all of them in one line.
pub const MODEL_LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest stream of one reply, bytes. Services send a frame of about 300 bytes for each token: this is enough for
/// 200,000 of them.
pub const MODEL_ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most bytes that are read of an error of a model's service.
pub const MODEL_ERROR_BYTES_MAX: usize = 64 * 1024;
/// Largest number of tokens of a reply in Anthropic's format, which requires one, if the settings name none. All
/// models since Claude 4 allow it.
pub const ANTHROPIC_TOKENS_MAX: u32 = 32_000;
/// Longest summary of a conversation by its agent, tokens.
pub const SUMMARY_TOKENS_MAX: u32 = 400;
/// Pause between two reports of progress: five are sent in a second.
pub const PROGRESS_PAUSE: Duration = Duration::from_millis(200);
/// Pause between two deltas of a reply.
pub const DELTA_PAUSE: Duration = Duration::from_millis(80);
/// Longest wait for the last delta of a reply.
pub const DELTA_LAST: Duration = Duration::from_secs(1);
/// Characters of a model service's error that a failure quotes.
pub const MODEL_QUOTE_CHARS: usize = 500;
/// Events on a page when a session's log is read.
pub const LOG_PAGE: u32 = 1_000;
/// Longest log that is read to rebuild a conversation, events.
pub const LOG_EVENTS_MAX: usize = 20_000;
/// Most child sessions that a chat agent starts in one session.
pub const CHILDREN_STARTED_MAX: usize = 50;
/// Most tools of the workspace that the settings of a chat agent name.
pub const WORKSPACE_TOOLS_MAX: usize = 64;
/// Most runs of tools of the workspace that a chat agent starts in one session.
pub const TOOL_RUNS_STARTED_MAX: usize = 500;
/// Longest time that one request waits for the end of such a run, seconds, and never more than a quarter of the lease.
pub const TOOL_RUN_WAIT_SECONDS: u64 = 10;
/// Such requests in a row before a session waits without a worker for the runs that it started.
pub const TOOL_RUN_WAITS: u32 = 1;
/// The same for a turn of a conversation, whose agent then gets the ids of the runs instead of their results.
pub const THREAD_TOOL_RUN_WAITS: u32 = 8;
/// Longest result of a child that its parent's model receives whole, bytes; of a longer one it receives the beginning.
pub const CHILD_RESULT_BYTES_MAX: usize = 32 * 1024;
/// Most turns of a conversation that its agent receives, counted from the newest.
pub const THREAD_TURNS_SENT_MAX: usize = 100;
/// Most bytes of a conversation that its agent receives. The last message is always sent whole.
pub const THREAD_BYTES_SENT_MAX: usize = 256 * 1024;
/// First and longest pause before a failed call of a tool is repeated.
pub const TOOL_RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// Characters of a service's answer that the failure of a call quotes.
pub const TOOL_QUOTE_CHARS_MAX: usize = 300;
/// Pause of an agent that waits for a change of a canvas after a request that was answered at once and brought none of
/// others.
pub const CANVAS_LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Time between two patches of canvases that a command prints: five are sent in a second.
pub const CANVAS_PATCH_PAUSE: Duration = Duration::from_millis(200);
/// Time after which the wait for the end of a session is begun anew.
pub const TOOL_END_WAIT: Duration = Duration::from_secs(600);
/// Pause after a failure of this wait.
pub const TOOL_END_LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Longest wait for an MCP server when its session ends or a call is cancelled.
pub const MCP_CLOSE: Duration = Duration::from_secs(1);
/// Most output of a program that is an MCP server in one session, bytes.
pub const MCP_PROGRAM_BYTES_MAX: u64 = 4 * 1024 * 1024;
