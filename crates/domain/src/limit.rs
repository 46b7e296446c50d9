//! Every limit of the product, named. Refusals quote these numbers.

/// Largest content plus metadata of one event, bytes.
pub const EVENT_BYTES_MAX: usize = 256 * 1024;
/// Most events in one append.
pub const BATCH_EVENTS_MAX: usize = 500;
/// Longest piece of an unfinished answer, bytes.
pub const DELTA_BYTES_MAX: usize = 16 * 1024;
/// Largest append, bytes of content and metadata together; also the largest request body of the API.
pub const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// Most events in one session.
pub const SESSION_EVENTS_MAX: u64 = 1_000_000;
/// Largest JSON document of a session or action (input, result, metadata, configuration), bytes.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting of a JSON document. serde_json refuses at 128; this leaves room for envelopes.
pub const JSON_DEPTH_MAX: usize = 96;
/// Largest figure that the shell shows beside the inbox; more are this and a plus, and are not counted.
pub const BADGE_COUNT_MAX: u32 = 999;
/// Items on a page when the caller does not say.
pub const PAGE_DEFAULT: u32 = 100;
/// Most items on a page.
pub const PAGE_MAX: u32 = 1_000;
/// Bytes of content and metadata after which a page of events ends early; the rest is on the next page.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest title, characters.
pub const TITLE_CHARS_MAX: usize = 300;
/// Longest name of an action, token or workspace, characters.
pub const NAME_CHARS_MAX: usize = 200;
/// Longest description, characters.
pub const DESCRIPTION_CHARS_MAX: usize = 10_000;
/// Longest slug, characters.
pub const SLUG_CHARS_MAX: usize = 64;
/// Longest event kind, bytes.
pub const KIND_BYTES_MAX: usize = 100;
/// Longest client-made key (idempotency key, thread id, external event id), characters.
pub const KEY_CHARS_MAX: usize = 200;
/// Longest reason or error text, characters.
pub const REASON_CHARS_MAX: usize = 4_000;
/// Attempts of one session before it fails with `lease_exhausted`.
pub const ATTEMPTS_MAX: u32 = 3;
/// Lease when the claimer does not say, seconds.
pub const LEASE_SECONDS_DEFAULT: u32 = 30;
/// Shortest and longest lease, seconds.
pub const LEASE_SECONDS_MIN: u32 = 1;
/// Longest lease, seconds.
pub const LEASE_SECONDS_MAX: u32 = 3_600;
/// Sessions handed out by one claim.
pub const CLAIM_MAX: u32 = 100;
/// Longest wait of a claim that found nothing, seconds.
pub const CLAIM_WAIT_SECONDS_MAX: u32 = 60;
/// Agent slugs named in one claim.
pub const CLAIM_AGENTS_MAX: usize = 100;
/// Shortest password, characters.
pub const PASSWORD_CHARS_MIN: usize = 10;
/// Longest password, bytes; argon2 hashes any length, this only bounds the work.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// Password hashes computed at once: each takes 19 MiB and tens of milliseconds of a core.
pub const PASSWORD_HASHES_AT_ONCE: usize = 2;
/// Password hashes that wait for a core; further callers are refused.
pub const PASSWORD_HASHES_WAITING_MAX: usize = 32;
/// Sign-in attempts in a row that may fail before attempts are slowed down.
pub const SIGN_IN_FREE_FAILURES: u64 = 5;
/// Longest wait between two sign-in attempts, seconds.
pub const SIGN_IN_BLOCK_SECONDS_MAX: i64 = 300;
/// Failed sign-in attempts are forgotten this long after the last one, minutes. Longer than the longest wait, so that
/// waiting for it allows fewer attempts than going on.
pub const SIGN_IN_FAILURES_KEPT_MINUTES: i64 = 60;
/// How long an invitation works, days.
pub const INVITATION_DAYS: i64 = 7;
/// Most invitations of a workspace that are open at a time.
pub const INVITATIONS_MAX: u32 = 200;
/// How long a link for a new password works, hours.
pub const RESET_LINK_HOURS: i64 = 24;
/// Sign-ins of a person that are listed.
pub const SIGN_INS_LISTED_MAX: u32 = 200;
/// Longest description of a browser that is kept with a sign-in, characters.
pub const BROWSER_CHARS_MAX: usize = 60;
/// Longest e-mail address, bytes (RFC 5321).
pub const EMAIL_BYTES_MAX: usize = 254;
/// Deepest chain of parent sessions.
pub const PARENT_DEPTH_MAX: u32 = 32;
/// Most sessions that one session depends on.
pub const DEPENDENCIES_MAX: usize = 100;
/// Most sessions that depend on one session.
pub const DEPENDENTS_MAX: u32 = 200;
/// Most sessions that are looked at to be sure that a child does not wait for what waits for its parent.
pub const GRAPH_WALK_MAX: usize = 1_000;
/// Retries of retries that are followed to the newest one.
pub const RETRIES_FOLLOWED_MAX: u32 = 32;
/// Sessions that one transaction moves on or stops after another session ended.
pub const FOLLOW_CHUNK: usize = 50;
/// Endings that a request follows itself; the sweep follows the rest.
pub const FOLLOW_AT_ONCE_MAX: usize = 20;
/// Dependencies, and children, that a claim tells of.
pub const CLAIM_RELATED_MAX: u32 = 100;
/// Outputs of dependencies, and of children, that one claimed session brings, bytes; further ones are left out and said to be.
pub const CLAIM_OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Longest path of a `human.navigate` or `human.entity_view` event, characters.
pub const PATHNAME_CHARS_MAX: usize = 2_048;
/// Longest note of a `human.marker` event, characters.
pub const MARKER_CHARS_MAX: usize = 2_000;
/// Largest content and largest metadata of one `human.*` event, bytes.
pub const HUMAN_EVENT_BYTES_MAX: usize = 16 * 1024;
/// How far the time of a `human.*` event may be ahead of the server's clock, seconds.
pub const HUMAN_AHEAD_SECONDS_MAX: i64 = 300;
/// A working session that is open for this long is abandoned, hours.
pub const WORKING_HOURS_MAX: i64 = 12;
/// Working sessions listed for one day.
pub const WORKING_SESSIONS_LISTED_MAX: usize = 100;
/// Working sessions of one day that are added up.
pub const WORKING_SESSIONS_COUNTED_MAX: u32 = 2_000;
/// Lines of events in a recent-activity block.
pub const ACTIVITY_LINES_MAX: usize = 20;
/// Longest line of a recent-activity block that holds somebody's text, characters.
pub const ACTIVITY_LINE_CHARS_MAX: usize = 200;
/// Longest session id of a coding agent, characters.
pub const HOOK_SESSION_CHARS_MAX: usize = 128;
/// Longest name of a hook, characters.
pub const HOOK_NAME_CHARS_MAX: usize = 64;
/// Most context that a hook's answer carries, characters: coding agents cut what is longer than 10,000.
pub const HOOK_CONTEXT_CHARS_MAX: usize = 9_900;
/// Most fields of an entity type.
pub const ENTITY_FIELDS_MAX: usize = 50;
/// Most options of a select field or dimension.
pub const SELECT_OPTIONS_MAX: usize = 100;
/// Longest text in a field of an entity, characters.
pub const FIELD_TEXT_CHARS_MAX: usize = 10_000;
/// Entities whose titles are looked up at once.
pub const ENTITY_TITLES_MAX: usize = 200;
/// Sessions of an entity when the caller does not say.
pub const ENTITY_SESSIONS_DEFAULT: u32 = 20;
/// Most sessions of an entity in one answer.
pub const ENTITY_SESSIONS_MAX: u32 = 100;
/// Largest CSV file of an import, bytes.
pub const IMPORT_BYTES_MAX: usize = 1024 * 1024;
/// Most rows of an import, the header not counted.
pub const IMPORT_ROWS_MAX: usize = 20_000;
/// Most columns of an import.
pub const IMPORT_COLUMNS_MAX: usize = 200;
/// Rows of an import that are made in one transaction.
pub const IMPORT_CHUNK_ROWS: usize = 200;
/// Refused cells that an import reports; further ones are only counted.
pub const IMPORT_ERRORS_MAX: usize = 1_000;
/// Rows that a preview of an import shows.
pub const IMPORT_PREVIEW_ROWS: usize = 10;
/// Most reviewers named by one action.
pub const APPROVAL_REVIEWERS_MAX: usize = 50;
/// Most approvals that one gate can need.
pub const APPROVAL_QUORUM_MAX: u32 = 20;
/// Shortest time until a gate expires, reminds or escalates, seconds.
pub const APPROVAL_SECONDS_MIN: i64 = 1;
/// Longest such time, seconds: a year.
pub const APPROVAL_SECONDS_MAX: i64 = 366 * 24 * 3_600;
/// Decisions recorded on one gate, undone ones included.
pub const GATE_DECISIONS_MAX: u32 = 200;
/// Longest time for which a decision's effect is held back, seconds.
pub const UNDO_SECONDS_MAX: u32 = 60;
/// The same when a workspace does not say, seconds.
pub const UNDO_SECONDS_DEFAULT: u32 = 5;
/// Longest time for which a reviewer puts an item aside, seconds: 90 days.
pub const SNOOZE_SECONDS_MAX: i64 = 90 * 24 * 3_600;
/// Decisions in one batch.
pub const DECISIONS_BATCH_MAX: usize = 200;
/// Earlier denials that an agent is told of.
pub const DENIALS_TOLD_MAX: u32 = 10;
/// Most dimensions of a criteria set.
pub const CRITERIA_DIMENSIONS_MAX: usize = 50;
/// Longest description of a dimension, characters.
pub const CRITERIA_DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Greatest score of an option and end of a number or scale, either side of zero.
pub const CRITERIA_NUMBER_MAX: f64 = 1_000_000.0;
/// Most steps of a scale.
pub const CRITERIA_SCALE_STEPS_MAX: f64 = 100.0;
/// Most groups of a workspace.
pub const GROUPS_MAX: u32 = 200;
/// Most members of a group.
pub const GROUP_MEMBERS_MAX: usize = 200;
/// Shortest time limit of a session's status, seconds.
pub const TIME_LIMIT_SECONDS_MIN: u32 = 1;
/// Longest time limit of a session's status, seconds: a year.
pub const TIME_LIMIT_SECONDS_MAX: u32 = 366 * 24 * 3_600;
/// Criteria sets that one action names.
pub const OUTPUT_CRITERIA_SETS_MAX: usize = 10;
/// Entities that one result makes and changes.
pub const OUTPUT_ENTITIES_MAX: usize = 100;
/// Wrong places of a result that are reported.
pub const OUTPUT_ERRORS_MAX: usize = 50;
/// Longest text about one wrong place of a result, characters.
pub const OUTPUT_ERROR_CHARS_MAX: usize = 300;
/// Largest refused result that is kept beside its errors, bytes; of larger ones the size is.
pub const OUTPUT_REFUSED_BYTES_MAX: usize = 64 * 1024;
/// Largest bundle, bytes.
pub const BUNDLE_BYTES_MAX: usize = 512 * 1024;
/// Most things in a bundle.
pub const BUNDLE_ITEMS_MAX: usize = 200;
/// Most webhooks of one workspace.
pub const WEBHOOKS_MAX: usize = 20;
/// Deliveries of one message before it is given up: about a day.
pub const DELIVERY_ATTEMPTS_MAX: u32 = 12;
/// Longest wait between two deliveries of one message, seconds: six hours.
pub const DELIVERY_WAIT_SECONDS_MAX: i64 = 6 * 3_600;
/// Longest wait that a receiver can ask for, seconds: an hour.
pub const DELIVERY_ASKED_SECONDS_MAX: u64 = 3_600;
/// Longest error of a delivery that is kept, characters.
pub const DELIVERY_ERROR_CHARS_MAX: usize = 500;
/// Messages that one server delivers side by side.
pub const DELIVERIES_AT_ONCE: u32 = 64;
/// Of these, to one workspace's webhooks and people.
pub const DELIVERIES_OF_WORKSPACE: u32 = 16;
/// Of these, to one webhook: a slow one holds no more than these.
pub const DELIVERIES_TO_WEBHOOK: u32 = 4;
/// Of these, through the mail server.
pub const DELIVERIES_BY_MAIL: u32 = 8;
/// Events whose content one transaction of retention erases.
pub const ERASED_AT_ONCE: u64 = 5_000;
/// Newest messages of a webhook that are listed.
pub const DELIVERIES_LISTED_MAX: u32 = 100;
/// How long messages are kept that were delivered or given up, days.
pub const MESSAGES_KEPT_DAYS: i64 = 30;
/// People who get an e-mail about one gate.
pub const RECIPIENTS_MAX: usize = 50;

/// Days of a window of insights.
pub const INSIGHT_DAYS_MAX: u32 = 366;
/// Sessions, and gates, that the figures of one window are made of. Of more, the newest count.
pub const INSIGHT_ROWS_MAX: u32 = 100_000;
/// Longest message in a conversation, characters.
pub const THREAD_MESSAGE_CHARS_MAX: usize = 20_000;
/// Most messages of a person in one conversation.
pub const THREAD_MESSAGES_MAX: u64 = 500;
/// Longest text that a conversation's summary quotes, characters.
pub const SUMMARY_QUOTE_CHARS_MAX: usize = 500;
/// Longest closing words of an agent that a conversation's summary keeps, characters.
pub const CLOSING_CHARS_MAX: usize = 2_000;
/// Longest wait of an ending for its agent's closing words, milliseconds.
pub const CLOSING_MS_MAX: u64 = 10_000;
/// Ratings of incognito conversations that a server keeps in memory; beyond, the oldest go.
pub const INCOGNITO_FEEDBACK_MAX: usize = 10_000;
/// Ratings of one session that are listed.
pub const FEEDBACK_LISTED_MAX: u32 = 1_000;

/// Longest text that was used in the place of an answer, characters.
pub const EDITED_CHARS_MAX: usize = 100_000;
/// Exports of a workspace whose fate is remembered, without their files.
pub const EXPORT_JOBS_REMEMBERED: u32 = 50;
/// Interactions that one page of a filtered list looks at.
pub const INTERACTIONS_LOOKED_MAX: u32 = 5_000;

/// Largest sequence that can be asked about: the largest number that every JSON reader keeps exact.
pub const SEQUENCE_MAX: u64 = (1 << 53) - 1;
/// Longest cursor of a list, characters.
pub const CURSOR_CHARS_MAX: usize = 64;
/// Longest name of a time zone, characters.
pub const TIMEZONE_CHARS_MAX: usize = 64;
/// Longest address of a webhook, bytes.
pub const WEBHOOK_URL_BYTES_MAX: usize = 2_048;
/// Longest mapping of an import's columns, bytes.
pub const IMPORT_MAPPING_BYTES_MAX: usize = 16 * 1024;
/// Longest flag of a gate, characters: the number of a result, a dimension and its option.
pub const FLAG_CHARS_MAX: usize = "100. : ".len() + SLUG_CHARS_MAX + NAME_CHARS_MAX;
/// Where counting what waits for a caller may be told to end, at most.
pub const COUNT_AT_MOST_MAX: u32 = 1_000_000;
