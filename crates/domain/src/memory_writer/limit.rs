//! Limits of the writer pass and of the memory block.

use crate::limit::THREAD_MESSAGE_CHARS_MAX;

/// Most operations of one answer.
pub const OPS_MAX: usize = 20;
/// Largest body of one operation or of the summary, bytes.
pub const OP_BYTES_MAX: usize = 4 * 1024;
/// Largest total of all bodies of one answer, bytes.
pub const RUN_BYTES_MAX: usize = 32 * 1024;
/// Largest answer of the model, bytes.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Most blocks of one operation or of the summary.
pub const BLOCKS_MAX: usize = 40;
/// Most turns that one block or operation names as its evidence.
pub const EVIDENCE_MAX: usize = 20;
/// Longest reason of an operation, characters.
pub const OP_REASON_CHARS_MAX: usize = 500;
/// Longest alias of a person, characters.
pub const ALIAS_CHARS_MAX: usize = 80;
/// Longest title of a summary, characters.
pub const SUMMARY_TITLE_CHARS_MAX: usize = 120;
/// Most turns of one run. What is left is the next run's.
pub const WINDOW_TURNS_MAX: usize = 200;
/// Most characters of all turns of one run.
pub const WINDOW_CHARS_MAX: usize = 120_000;
/// Longest text of an agent's or tool's turn that the model is shown, characters.
pub const TURN_CHARS_MAX: usize = 4_000;
/// Longest text of a person's turn that the model is shown, characters. No message in a conversation is longer.
pub const PERSON_TURN_CHARS_MAX: usize = THREAD_MESSAGE_CHARS_MAX;
/// Most documents that the model is shown in one run.
pub const DOCUMENTS_SHOWN_MAX: usize = 24;
/// Most characters of a document that the model is shown. Of a longer one it is shown a part, and only adds to it.
pub const DOCUMENT_CHARS_SHOWN_MAX: usize = 12_000;
/// Most documents that the prompt lists for the model to request.
pub const DOCUMENTS_LISTED_MAX: usize = 60;
/// Most times that the model may ask for further documents in one run.
pub const READ_ROUNDS_MAX: u32 = 2;
/// Likeness from which a new line is marked as a near duplicate, thousandths of the Jaccard index of trigrams.
pub const ALIKE_FROM: u16 = 800;
/// Most items of a memory block, unless the settings have another number.
pub const BLOCK_ITEMS_DEFAULT: usize = 8;
/// Most tokens of the items of a memory block, estimated with [`super::text::tokens`], unless the settings have another
/// number.
pub const BLOCK_TOKENS_DEFAULT: u32 = 800;
/// Most items of a memory block that the settings can have.
pub const BLOCK_ITEMS_MAX: usize = 50;
/// Most tokens of a memory block that the settings can have.
pub const BLOCK_TOKENS_MAX: u32 = 8_000;
/// Most candidates that are recorded with a memory block.
pub const BLOCK_CANDIDATES_MAX: usize = 50;
/// Most candidates of a memory block that have no word of the message and are near to it by their meaning: the nearest.
pub const BLOCK_NEAR_MAX: usize = 3;
/// Documents of one word that are read for a memory block: the newest. A claim waits for it.
pub const BLOCK_TERM_DOCUMENTS: u32 = 200;
/// Newest versions of a document in which the days of its lines are looked for. A claim waits for it.
pub const BLOCK_DATED_VERSIONS: u32 = 20;
/// Most characters of a message from which the words of a search are chosen. A claim waits for it.
pub const SAID_CHARS_MAX: usize = 20_000;
/// Age at which the recency of a memory is one half, days.
pub const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;
/// New turns past the watermark that start a run.
pub const TURN_THRESHOLD_DEFAULT: u32 = 50;
/// Silence after the last turn that starts a run, seconds.
pub const IDLE_SECONDS_DEFAULT: u32 = 1_800;
/// Most runs of an agent on one day (UTC).
pub const RUNS_PER_DAY_DEFAULT: u32 = 96;
/// Most tokens of an agent's runs on one day (UTC), input and output together.
pub const TOKENS_PER_DAY_DEFAULT: u64 = 2_000_000;
/// Failed runs of one session alone, or outages of the model, in a row after which the session or the writer waits for
/// a person.
pub const FAILURES_MAX: u32 = 3;
/// Failed runs in a row, of whatever windows, after which the writer waits for a person.
pub const FAILED_RUNS_MAX: u32 = 9;
/// How long a server holds an agent's lease without extending it, seconds. After a crash another server waits for it.
pub const LEASE_SECONDS: u32 = 30;
/// How often a server extends the lease of a run, seconds.
pub const HOLD_EVERY_SECONDS: u32 = 10;
/// Pauses before the second and the third try of a session alone or of a model that was away, seconds. A window of
/// several sessions is tried in halves after the first one.
pub const BACKOFF_SECONDS: [u32; 2] = [60, 600];
/// Days after which a proposal that no one decided expires.
pub const PROPOSAL_DAYS_MAX: u32 = 30;
