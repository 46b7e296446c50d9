//! The worker's own limits, named. Those of the API are in `domain::limit`.

use std::time::Duration;

/// How long a claim waits for work. Short enough that proxies do not cut it.
pub const CLAIM_WAIT_SECONDS: u32 = 25;
/// Before the next claim, when one came back empty without having waited.
pub const EMPTY_PAUSE: Duration = Duration::from_secs(1);
/// For the answer of a claim that was under way when the worker was told to stop.
pub const CLAIM_GRACE: Duration = Duration::from_millis(250);
/// Longest pause between tries while the server is away.
pub const AWAY_PAUSE_MAX: Duration = Duration::from_secs(10);
/// Longest variable of a command that tells of sessions around its own; Linux takes 128 KiB.
pub const VARIABLE_BYTES_MAX: usize = 96 * 1024;
/// Longest error of a session in such a variable where not everything fits, characters.
pub const RELATED_ERROR_CHARS_MAX: usize = 100;
/// Longest line that is still read as JSON; a longer one is text, in parts.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Read from a pipe at a time.
pub const READ_BYTES: usize = 16 * 1024;
/// Room that an event's other fields take beside its text.
pub const ENVELOPE_BYTES: usize = 1024;
/// Events of one session that were read and not yet acknowledged; beyond, the pipes are not read.
pub const QUEUE_EVENTS_MAX: usize = 1_000;
/// The same in bytes of content and metadata.
pub const QUEUE_BYTES_MAX: usize = 1024 * 1024;
/// A batch is sent at this many events …
pub const BATCH_EVENTS: usize = 100;
/// … or at this many bytes of content and metadata. One event more cannot reach the API's limit of 1 MiB.
pub const BATCH_BYTES: usize = 256 * 1024;
/// … or when nothing came for this long …
pub const BATCH_QUIET: Duration = Duration::from_millis(50);
/// … or when its first event has waited this long, however steadily others come.
pub const BATCH_AGE: Duration = Duration::from_millis(250);
/// Answers 500 in a row after which a batch counts as refused.
pub const SERVER_ERRORS_MAX: u32 = 5;
/// Between the heartbeats of a conversation's turn, at most: a person who interrupts it waits for no more than this.
pub const THREAD_BEAT: Duration = Duration::from_secs(1);
/// Longest wait for the answer of one heartbeat.
pub const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(10);
/// First and longest pause between heartbeats that fail.
pub const HEARTBEAT_PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// Between SIGTERM and SIGKILL.
pub const KILL_GRACE: Duration = Duration::from_secs(5);
/// How long a pipe may stay silent and open after the command has ended, because a process it left behind holds it.
pub const OUTPUT_GRACE: Duration = Duration::from_secs(2);
/// To send what is left and give the session back, when the worker stops.
pub const RELEASE_TIME: Duration = Duration::from_secs(5);
/// End of standard error that a failure quotes.
pub const STDERR_TAIL_BYTES: usize = 3_500;
/// Times that a model is asked the same before its session fails.
pub const MODEL_TRIES_MAX: u32 = 6;
/// First and longest pause between these tries.
pub const MODEL_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// Longest `Retry-After` of a model's service that is honoured.
pub const MODEL_RETRY_AFTER_MAX: Duration = Duration::from_secs(120);
/// Silence of a model, before or within its answer, after which the connection counts as dead.
pub const MODEL_SILENCE_MAX: Duration = Duration::from_secs(180);
/// Tokens of an agent's closing words on a conversation, at most.
pub const CLOSING_TOKENS_MAX: u32 = 400;
/// Between two pieces of an answer that is told while it is given.
pub const DELTA_PAUSE: Duration = Duration::from_millis(80);
/// Longest wait for the last of them.
pub const DELTA_LAST: Duration = Duration::from_secs(1);
/// Characters of a service's error answer that are quoted.
pub const MODEL_QUOTE_CHARS: usize = 500;
/// Events of a session that are read at a time to rebuild its conversation.
pub const LOG_PAGE: u32 = 1_000;
/// Longest conversation that is rebuilt, events.
pub const LOG_EVENTS_MAX: usize = 20_000;
/// Sessions that a chat agent starts in one session of its own.
pub const CHILDREN_STARTED_MAX: usize = 50;
/// Longest result of a child that its parent's model is told whole, bytes; of a longer one its beginning.
pub const CHILD_RESULT_BYTES_MAX: usize = 32 * 1024;
/// Turns of a conversation that its agent is told again, from the newest back.
pub const THREAD_TURNS_TOLD_MAX: usize = 100;
/// The same in bytes of text; the last message is told however long it is.
pub const THREAD_BYTES_TOLD_MAX: usize = 256 * 1024;
