//! The limits of the product, as named constants. Error messages of refused requests quote them.

/// Largest content plus metadata of one event, bytes.
pub const EVENT_BYTES_MAX: usize = 256 * 1024;
/// Most events in one append.
pub const BATCH_EVENTS_MAX: usize = 500;
/// Longest delta (piece of an unfinished answer), bytes.
pub const DELTA_BYTES_MAX: usize = 16 * 1024;
/// Largest append, bytes of content and metadata together. The body that brings it may be larger.
pub const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// Most events in one session.
pub const SESSION_EVENTS_MAX: u64 = 1_000_000;
/// Largest JSON document of a session or action (input, result, metadata, configuration), bytes.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting of a JSON document. serde_json refuses at 128; this leaves room for envelopes.
pub const JSON_DEPTH_MAX: usize = 96;
/// Largest number that pages show beside the inbox. Above it they show this number with a plus, and the items
/// beyond it are not counted.
pub const BADGE_COUNT_MAX: u32 = 999;
/// Items on a page when the caller names no number.
pub const PAGE_DEFAULT: u32 = 100;
/// Most items on a page.
pub const PAGE_MAX: u32 = 1_000;
/// Bytes of texts (for events: content and metadata) after which a page of events or interactions ends early.
/// The remaining items are on the next page.
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
/// Longest key that a client chooses (idempotency key, thread id, external event id), characters.
pub const KEY_CHARS_MAX: usize = 200;
/// Longest reason or error text, characters.
pub const REASON_CHARS_MAX: usize = 4_000;
/// Longest normalised message of a cause of failures, characters.
pub const CAUSE_MESSAGE_CHARS_MAX: usize = 500;
/// Most events of a session that are read for the tool and the step in which it failed.
pub const CAUSE_EVENTS_MAX: u32 = 8;
/// Number of equal parts of a time range for which failures of a cause are counted.
pub const CAUSE_TREND_PARTS: usize = 8;
/// Longest time range for which failures are grouped, days.
pub const CAUSE_WINDOW_DAYS_MAX: i64 = 90;
/// Most failures of a time range that are grouped. The newest ones are.
pub const CAUSE_FAILURES_MAX: u32 = 100_000;
/// Agents of a cause that are named. The others are counted.
pub const CAUSE_AGENTS_NAMED: usize = 3;
/// Most failures that one transaction groups again after an upgrade.
pub const CAUSE_REGROUP_MAX: u32 = 200;
/// Time after which looking at the causes of failures again is a new visit, minutes.
pub const CAUSE_VISIT_MINUTES: i64 = 30;
/// Longest time for which a cause is snoozed, days.
pub const CAUSE_SNOOZE_DAYS_MAX: i64 = 366;
/// Most sessions that one request runs again.
pub const RUN_AGAIN_MAX: usize = 200;
/// Most sessions of one bulk request.
pub const BULK_SESSIONS_MAX: usize = 500;
/// Most pages of a search that one bulk request reads. Each compares at most [`SESSIONS_LOOKED_MAX`] sessions.
pub const BULK_PAGES_MAX: u32 = 5;
/// Most sessions that the address of the result of a bulk request names.
pub const BULK_NAMED_MAX: usize = 100;
/// Most sessions that a page changes before it shows how far it is. More are changed in parts.
pub const BULK_AT_ONCE_MAX: usize = 100;
/// Sessions of each of these parts.
pub const BULK_PART: usize = 50;
/// Most causes of failures that one request decides about.
pub const BULK_CAUSES_MAX: usize = 200;
/// Most tasks that one request archives or restores.
pub const BULK_ACTIONS_MAX: usize = 200;
/// Most entities that one request erases.
pub const BULK_ENTITIES_MAX: usize = 200;
/// Most tags of a session.
pub const SESSION_TAGS_MAX: usize = 10;
/// Longest tag, characters.
pub const TAG_CHARS_MAX: usize = 40;
/// Most sessions of one paced run, and most of them that run at a time.
pub const PACED_RUN_SESSIONS_MAX: usize = 500;
/// Most sessions that one step of a paced run starts.
pub const PACED_STARTS_MAX: u32 = 50;
/// Most paced runs of a workspace that have sessions left to start.
pub const PACED_RUNS_OPEN_MAX: u64 = 50;
/// Most days until a paced run starts.
pub const PACED_START_DAYS_MAX: i64 = 30;
/// Days for which a paced run that has ended is kept. It is deleted when the next one is made.
pub const PACED_RUN_KEPT_DAYS: i64 = 30;
/// Number of attempts of a session after which a lost lease fails it with `lease_exhausted`. The count starts
/// anew when the session resumes, or when a person sends a message.
pub const ATTEMPTS_MAX: u32 = 3;
/// Number of attempts of a session after which a release fails it with `released_too_often`. It is larger than
/// [`ATTEMPTS_MAX`], because a worker also releases when it restarts. The count starts anew at the same times.
pub const RELEASED_ATTEMPTS_MAX: u32 = 20;
/// Lease time when the claim names none, seconds.
pub const LEASE_SECONDS_DEFAULT: u32 = 30;
/// Shortest lease, seconds.
pub const LEASE_SECONDS_MIN: u32 = 1;
/// Longest lease, seconds.
pub const LEASE_SECONDS_MAX: u32 = 3_600;
/// Most sessions that one claim returns.
pub const CLAIM_MAX: u32 = 100;
/// Longest time that a claim waits for a session when none is pending, seconds.
pub const CLAIM_WAIT_SECONDS_MAX: u32 = 60;
/// Most agent slugs in one claim.
pub const CLAIM_AGENTS_MAX: usize = 100;
/// Longest name that a worker gives itself, characters.
pub const WORKER_NAME_CHARS_MAX: usize = 64;
/// Most rows about connected workers in a workspace: one for each worker and agent.
pub const WORKER_ROWS_MAX: u64 = 2_000;
/// Most workers of a workspace that a server records for the first time within 15 s. Those that it knows are not
/// counted. A worker that changes its name with each call would be written with each of them.
pub const WORKERS_NEW_MAX: usize = 200;
/// Shortest password, characters.
pub const PASSWORD_CHARS_MIN: usize = 10;
/// Longest password, bytes. argon2 accepts any length; this bounds the work of hashing.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// Password hashes that one server computes at once. Each takes 19 MiB and tens of milliseconds of one core.
pub const PASSWORD_HASHES_AT_ONCE: usize = 2;
/// Most password hashes that wait to be computed. Further callers are refused.
pub const PASSWORD_HASHES_WAITING_MAX: usize = 32;
/// Most sign-ins of one network that are computed or wait. It is less than a quarter of all places, so that a flood
/// from one network leaves places for the others.
pub const PASSWORD_HASHES_OF_NETWORK_MAX: usize = 8;
/// Failed sign-in attempts in a row before the next ones have to wait.
pub const SIGN_IN_FREE_FAILURES: u64 = 5;
/// Longest wait between two sign-in attempts, seconds.
pub const SIGN_IN_BLOCK_SECONDS_MAX: i64 = 300;
/// Time after the last failed sign-in attempt at which the failures are forgotten, minutes. It is longer than
/// [`SIGN_IN_BLOCK_SECONDS_MAX`], so that waiting for the reset allows fewer attempts than continuing does.
pub const SIGN_IN_FAILURES_KEPT_MINUTES: i64 = 60;
/// Refused sign-ins of a workspace that get an audit entry each, in one minute. Further ones are counted, and the next
/// entry says how many they are.
pub const AUDITED_REFUSALS_PER_MINUTE: u32 = 10;
/// Most people whom an audit entry names among those who joined or left a group. It has the number of all.
pub const AUDIT_PEOPLE_MAX: usize = 10;
/// Time for which an invitation is valid, days.
pub const INVITATION_DAYS: i64 = 7;
/// Most open invitations of a workspace.
pub const INVITATIONS_MAX: u32 = 200;
/// Most tokens of one person that are not revoked, in one workspace.
pub const TOKENS_OF_PERSON_MAX: u64 = 100;
/// Most tokens of a workspace, beside those of its people, that are not revoked. A list shows all of them.
pub const TOKENS_MAX: u64 = 1_000;
/// Time for which a link to set a new password is valid, hours.
pub const RESET_LINK_HOURS: i64 = 24;
/// Most sign-ins of a person in a list.
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
/// Most sessions that are read to check that a new child does not depend on a session that waits for its
/// parent.
pub const GRAPH_WALK_MAX: usize = 1_000;
/// Most retries that are followed from a session to the newest one.
pub const RETRIES_FOLLOWED_MAX: u32 = 32;
/// Most sessions that one transaction starts, skips or cancels after another session has ended.
pub const FOLLOW_CHUNK: usize = 50;
/// Most ended sessions whose consequences a request applies itself. The sweep applies the rest.
pub const FOLLOW_AT_ONCE_MAX: usize = 20;
/// Most dependencies, and most children, that a claim lists for one session.
pub const CLAIM_RELATED_MAX: u32 = 100;
/// Largest total of the outputs of dependencies, and of children, that a claim returns for one session, bytes.
/// Outputs beyond it are left out and marked as left out.
pub const CLAIM_OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Most messages that a claim lists for a session that was idle. The others are in its log.
pub const CLAIM_MESSAGES_MAX: u32 = 100;
/// Largest total of these messages, bytes of text. It holds the longest message.
pub const CLAIM_MESSAGES_BYTES_MAX: usize = 256 * 1024;
/// Longest path of a `human.navigate` or `human.entity_view` event, characters.
pub const PATHNAME_CHARS_MAX: usize = 2_048;
/// Longest note of a `human.marker` event, characters.
pub const MARKER_CHARS_MAX: usize = 2_000;
/// Largest content and largest metadata of one `human.*` event, bytes.
pub const HUMAN_EVENT_BYTES_MAX: usize = 16 * 1024;
/// Largest time by which a `human.*` event may be ahead of the server's clock, seconds.
pub const HUMAN_AHEAD_SECONDS_MAX: i64 = 300;
/// Time after which an open working session is abandoned, hours.
pub const WORKING_HOURS_MAX: i64 = 12;
/// Most working sessions listed for one day.
pub const WORKING_SESSIONS_LISTED_MAX: usize = 100;
/// Most working sessions of one day whose times are added up.
pub const WORKING_SESSIONS_COUNTED_MAX: u32 = 2_000;
/// Most lines of events in a recent-activity block.
pub const ACTIVITY_LINES_MAX: usize = 20;
/// Longest line of a recent-activity block that holds untrusted text, characters.
pub const ACTIVITY_LINE_CHARS_MAX: usize = 200;
/// Longest session id of a coding agent, characters.
pub const HOOK_SESSION_CHARS_MAX: usize = 128;
/// Longest event name of a hook, characters.
pub const HOOK_NAME_CHARS_MAX: usize = 64;
/// Most context in the answer to a hook of any other host than Codex, UTF-16 units. Of a longer one the model of Claude
/// Code gets a preview.
pub const HOOK_CONTEXT_UNITS_MAX: usize = 10_000;
/// Most context in the answer to a hook of Codex, bytes. Of a longer one the model gets the two ends.
pub const HOOK_CONTEXT_BYTES_MAX: usize = 10_000;
/// Most fields of an entity type.
pub const ENTITY_FIELDS_MAX: usize = 50;
/// Most options of a select field or dimension.
pub const SELECT_OPTIONS_MAX: usize = 100;
/// Longest text in a field of an entity, characters.
pub const FIELD_TEXT_CHARS_MAX: usize = 10_000;
/// Most texts in an answer that is a list of texts.
pub const FIELD_TEXTS_MAX: usize = 200;
/// Most entities whose titles one request looks up.
pub const ENTITY_TITLES_MAX: usize = 200;
/// Sessions of an entity in one answer when the caller names no number.
pub const ENTITY_SESSIONS_DEFAULT: u32 = 20;
/// Most responses that an entity's page names as its origin.
pub const ENTITY_RESPONSES_MAX: u32 = 10;
/// Most sessions of an entity in one answer.
pub const ENTITY_SESSIONS_MAX: u32 = 100;
/// Largest CSV file of an import, bytes.
pub const IMPORT_BYTES_MAX: usize = 1024 * 1024;
/// Most rows of an import, the header not counted.
pub const IMPORT_ROWS_MAX: usize = 20_000;
/// Most columns of an import.
pub const IMPORT_COLUMNS_MAX: usize = 200;
/// Rows of an import that one transaction writes.
pub const IMPORT_CHUNK_ROWS: usize = 200;
/// Most refused cells that an import reports. Further ones are only counted.
pub const IMPORT_ERRORS_MAX: usize = 1_000;
/// Rows that a preview of an import shows.
pub const IMPORT_PREVIEW_ROWS: usize = 10;
/// Most reviewers named by one action.
pub const APPROVAL_REVIEWERS_MAX: usize = 50;
/// Largest number of approvals that one gate can require.
pub const APPROVAL_QUORUM_MAX: u32 = 20;
/// Shortest time until a gate expires, reminds or escalates, seconds.
pub const APPROVAL_SECONDS_MIN: i64 = 1;
/// Longest time until a gate expires, reminds or escalates, seconds: 366 days.
pub const APPROVAL_SECONDS_MAX: i64 = 366 * 24 * 3_600;
/// Most decisions recorded on one gate, undone ones included.
pub const GATE_DECISIONS_MAX: u32 = 200;
/// Longest time for which the effect of a decision is delayed so that it can be undone, seconds.
pub const UNDO_SECONDS_MAX: u32 = 60;
/// Time for which the effect of a decision is delayed when the workspace sets none, seconds.
pub const UNDO_SECONDS_DEFAULT: u32 = 5;
/// Longest time for which a reviewer can snooze an item, seconds: 90 days.
pub const SNOOZE_SECONDS_MAX: i64 = 90 * 24 * 3_600;
/// Most decisions in one batch.
pub const DECISIONS_BATCH_MAX: usize = 200;
/// Most dimensions of a criteria set.
pub const CRITERIA_DIMENSIONS_MAX: usize = 50;
/// Longest description of a dimension, characters.
pub const CRITERIA_DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Largest absolute value of an option's score, and of `min` and `max` of a number or scale.
pub const CRITERIA_NUMBER_MAX: f64 = 1_000_000.0;
/// Most steps of a scale.
pub const CRITERIA_SCALE_STEPS_MAX: f64 = 100.0;
/// Most groups of a workspace.
pub const GROUPS_MAX: u32 = 200;
/// Most members of a group.
pub const GROUP_MEMBERS_MAX: usize = 200;
/// Shortest time limit of a session's status, seconds.
pub const TIME_LIMIT_SECONDS_MIN: u32 = 1;
/// Longest time limit of a session's status, seconds: 366 days.
pub const TIME_LIMIT_SECONDS_MAX: u32 = 366 * 24 * 3_600;
/// Most criteria sets that one action names.
pub const OUTPUT_CRITERIA_SETS_MAX: usize = 10;
/// Most entities that one result creates and changes.
pub const OUTPUT_ENTITIES_MAX: usize = 100;
/// Most steps that the check of a value against a JSON Schema takes. A check that would take more is not made.
pub const SCHEMA_STEPS_MAX: usize = 500_000;
/// Most errors that are reported for one result.
pub const OUTPUT_ERRORS_MAX: usize = 50;
/// Longest message about one error of a result, characters.
pub const OUTPUT_ERROR_CHARS_MAX: usize = 300;
/// Largest refused result that is recorded with its errors, bytes. Of a larger one only the size is recorded.
pub const OUTPUT_REFUSED_BYTES_MAX: usize = 64 * 1024;
/// Largest bundle, bytes.
pub const BUNDLE_BYTES_MAX: usize = 512 * 1024;
/// Most items (groups, criteria sets, entity types, views, tools and actions) in a bundle.
pub const BUNDLE_ITEMS_MAX: usize = 200;
/// Most webhooks of one workspace.
pub const WEBHOOKS_MAX: usize = 20;
/// Attempts to deliver one message before it is given up. With the growing waits they last about a day.
pub const DELIVERY_ATTEMPTS_MAX: u32 = 12;
/// Longest wait between two attempts to deliver one message, seconds: six hours.
pub const DELIVERY_WAIT_SECONDS_MAX: i64 = 6 * 3_600;
/// Longest wait before the next attempt that a receiver can ask for, seconds: one hour.
pub const DELIVERY_ASKED_SECONDS_MAX: u64 = 3_600;
/// Longest error of a delivery that is stored, characters.
pub const DELIVERY_ERROR_CHARS_MAX: usize = 500;
/// Most messages that one server delivers concurrently.
pub const DELIVERIES_AT_ONCE: u32 = 64;
/// Most concurrent deliveries to webhooks and people of one workspace.
pub const DELIVERIES_OF_WORKSPACE: u32 = 16;
/// Most concurrent deliveries to one webhook, so that a slow webhook blocks no more than these.
pub const DELIVERIES_TO_WEBHOOK: u32 = 4;
/// Most concurrent deliveries through the mail server.
pub const DELIVERIES_BY_MAIL: u32 = 8;
/// Most events whose content one transaction of retention erases.
pub const ERASED_AT_ONCE: u64 = 5_000;
/// Most messages of a webhook in a list, newest first.
pub const DELIVERIES_LISTED_MAX: u32 = 100;
/// Time for which messages are kept after they were delivered or given up, days.
pub const MESSAGES_KEPT_DAYS: i64 = 30;
/// Most people who get an e-mail about one gate.
pub const RECIPIENTS_MAX: usize = 50;

/// Most days in a window of insights.
pub const INSIGHT_DAYS_MAX: u32 = 366;
/// Most sessions, and most gates, that are counted for one window of insights. If there are more, the newest
/// count.
pub const INSIGHT_ROWS_MAX: u32 = 100_000;
/// Longest message in a conversation, characters.
pub const THREAD_MESSAGE_CHARS_MAX: usize = 20_000;
/// Most messages of a person in one conversation.
pub const THREAD_MESSAGES_MAX: u64 = 500;
/// Longest text that a conversation's summary quotes, characters.
pub const SUMMARY_QUOTE_CHARS_MAX: usize = 500;
/// Longest closing of an agent that a conversation's summary keeps, characters.
pub const CLOSING_CHARS_MAX: usize = 2_000;
/// Longest time that ending a conversation waits for the agent's closing, milliseconds.
pub const CLOSING_MS_MAX: u64 = 10_000;
/// Most ratings of incognito conversations that a server keeps in memory. Beyond it the oldest are dropped.
pub const INCOGNITO_FEEDBACK_MAX: usize = 10_000;
/// Most ratings of one session in a list.
pub const FEEDBACK_LISTED_MAX: u32 = 1_000;

/// Longest corrected text that is recorded with feedback on an answer, characters.
pub const EDITED_CHARS_MAX: usize = 100_000;
/// Most export jobs of a workspace that are remembered. Only the job's record is kept, not its files.
pub const EXPORT_JOBS_REMEMBERED: u32 = 50;
/// Longest options of an export, and longest name of its folder, that the audit list keeps, characters.
pub const EXPORT_NOTED_CHARS_MAX: usize = 4_000;
/// Hours that an export is assumed to run at most: one that began so long before data was captured can have it.
pub const EXPORT_HOURS_MAX: i64 = 24;
/// Most exports that are named to someone who forgets a person or a session, newest first.
pub const FORGET_EXPORTS_MAX: u32 = 100;
/// Most interactions that are read for one page of a filtered list.
pub const INTERACTIONS_LOOKED_MAX: u32 = 5_000;
/// Most sessions that one page of a search by title or by a search line compares.
pub const SESSIONS_LOOKED_MAX: u32 = 20_000;
/// Most published tools whose names the palette compares, counted from the newest.
pub const TOOLS_LOOKED_MAX: u32 = 2_000;
/// Most entities whose titles are compared for one page of a search by title.
pub const ENTITIES_LOOKED_MAX: u32 = 20_000;

/// Largest sequence that a request can name: the largest integer that every JSON reader keeps exactly.
pub const SEQUENCE_MAX: u64 = (1 << 53) - 1;
/// Longest cursor of a list, characters.
pub const CURSOR_CHARS_MAX: usize = 64;
/// Longest name of a time zone, characters.
pub const TIMEZONE_CHARS_MAX: usize = 64;
/// Longest URL of a webhook, bytes.
pub const WEBHOOK_URL_BYTES_MAX: usize = 2_048;
/// Longest mapping of columns to fields in an import, bytes.
pub const IMPORT_MAPPING_BYTES_MAX: usize = 16 * 1024;
/// Longest flag of a gate, characters. A flag holds the number of an entity of the result, a dimension and its
/// option.
pub const FLAG_CHARS_MAX: usize = "100. : ".len() + SLUG_CHARS_MAX + NAME_CHARS_MAX;
/// Largest value of `atMost`, the number at which counting a caller's open gates may stop.
pub const COUNT_AT_MOST_MAX: u32 = 1_000_000;

/// Most hours between two backups that a server makes: 31 days.
pub const BACKUP_HOURS_MAX: u32 = 744;
/// Most backups that a server keeps.
pub const BACKUPS_KEPT_MAX: u32 = 1_000;

/// Longest id that the sender of a request can give it, characters.
pub const REQUEST_ID_CHARS_MAX: usize = 64;
/// Longest name of a service in traces, characters.
pub const OTLP_SERVICE_NAME_CHARS_MAX: usize = 128;
/// Most spans that wait to be exported. Further ones are dropped and counted.
pub const SPANS_QUEUED_MAX: usize = 8_192;

/// Most fields of a view.
pub const VIEW_FIELDS_MAX: usize = 50;
/// Longest key of a view's field, characters.
pub const VIEW_KEY_CHARS_MAX: usize = 64;
/// Longest explanation of a view's field, characters.
pub const VIEW_HELP_CHARS_MAX: usize = 2_000;
/// Largest answers of one response as JSON, bytes.
pub const VIEW_ANSWERS_BYTES_MAX: usize = 64 * 1024;
/// Longest URL in an answer or in a view's publication, bytes.
pub const VIEW_URL_BYTES_MAX: usize = 2_048;
/// Most origins that may embed one view.
pub const VIEW_EMBED_ORIGINS_MAX: usize = 20;
/// Most responses of one view.
pub const VIEW_RESPONSES_MAX: u32 = 100_000;

/// Largest memory document with its front matter, bytes.
pub const MEMORY_DOCUMENT_BYTES_MAX: usize = 100 * 1024;
/// Largest total of an agent's memory documents, bytes.
pub const MEMORY_AGENT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most memory documents of an agent.
pub const MEMORY_DOCUMENTS_MAX: u64 = 100_000;
/// Longest name of a memory document without `.md`, characters.
pub const MEMORY_NAME_CHARS_MAX: usize = 120;
/// Longest name of a new memory document with `.md`, bytes of UTF-8. Most file systems take no longer name.
pub const MEMORY_NAME_BYTES_MAX: usize = 255;
/// Longest reason for a version of a memory document, characters.
pub const MEMORY_REASON_CHARS_MAX: usize = 500;
/// Most places of logs that a caller names as the origin of a version of a memory document. The server names one for
/// each line that an agent's memory tool writes.
pub const MEMORY_EVIDENCE_MAX: usize = 2_000;
/// Most sessions that the origin of one version names. One that brings an earlier text back names those of all its
/// lines.
pub const MEMORY_EVIDENCE_SESSIONS_MAX: usize = 50;
/// Fewest letters and digits of a name that is looked for when a person is forgotten.
pub const MEMORY_NAME_FOUND_CHARS_MIN: usize = 3;
/// Most names of a person that is forgotten.
pub const MEMORY_FORGET_NAMES_MAX: usize = 50;
/// Most lines that the answer to forgetting a person quotes.
pub const MEMORY_FORGET_LINES_MAX: usize = 1_000;
/// Leads that are erased with a person who is forgotten. The next call erases the next ones.
pub const MEMORY_FORGET_LEADS_MAX: usize = 1_000;
/// Most entities that the answer to forgetting a person names as made from their responses.
pub const MEMORY_FORGET_PROMOTED_MAX: u32 = 100;
/// Most words of a search in memory. Of a text with more words, those that the fewest documents have are looked for.
pub const MEMORY_QUERY_TERMS_MAX: usize = 32;
/// Most words of a text whose documents are counted to choose the words of a search. Of more words, the longest.
pub const MEMORY_QUERY_WORDS_MAX: usize = 512;
/// Documents at which counting those of one word ends: words that more documents have are equally common.
pub const MEMORY_HOLDERS_MAX: u32 = 32;
/// Most other forms of one word that a search in memory looks for.
pub const MEMORY_WORD_FORMS_MAX: usize = 8;
/// Most other forms of all words together that a search in memory looks for.
pub const MEMORY_QUERY_FORMS_MAX: usize = 64;
/// Documents of a word at which a search does not look for other forms of it: those with the word itself come first.
pub const MEMORY_FORMS_DOCUMENTS: u32 = 50;
/// Most words of an agent's documents that are read to find the other forms of one word.
pub const MEMORY_VOCABULARY_MAX: u32 = 64;
/// Longest search in memory, characters.
pub const MEMORY_QUERY_CHARS_MAX: usize = 2_000;
/// Longest word that search compares, characters. Of longer words the start is compared.
pub const MEMORY_TERM_CHARS_MAX: usize = 48;
/// Documents that the database returns for a search, of which the best are shown.
pub const MEMORY_CANDIDATES: u32 = 100;
/// Documents of one word and agent that a search reads. Of a word that more documents have, the newest documents count.
pub const MEMORY_TERM_DOCUMENTS: u32 = 1_000;
/// Most documents in the answer to a search.
pub const MEMORY_FOUND_MAX: u32 = 50;
/// Most versions of a document that are compared to find where its lines come from.
pub const MEMORY_BLAME_VERSIONS_MAX: u32 = 200;
/// Most documents with lines of one session that are reverted at once.
pub const MEMORY_REVERT_DOCUMENTS_MAX: u32 = 100;
/// Most ratings of memories that are read from one object. The others are counted and not read.
pub const MEMORY_RATINGS_MAX: usize = 100;
/// Most ids of memories that are left out of a block because of their ratings: those with the lowest mean.
pub const MEMORY_HARMFUL_MAX: u32 = 200;
/// Most proposals of an agent that come from ratings and wait for a decision. More are made once some are decided.
pub const MEMORY_HARMFUL_PROPOSALS_MAX: usize = 20;
/// Most sessions to which such a proposal has links: those with the newest ratings.
pub const MEMORY_HARMFUL_SESSIONS_MAX: u32 = 20;
/// Labelled memories from which a ranker learns: those of the newest sessions.
pub const MEMORY_RANKER_SAMPLES_MAX: usize = 1_000_000;
/// Versions of the ranker of a workspace that are kept. The one in use is kept too.
pub const MEMORY_RANKERS_MAX: u32 = 20;
/// Bytes of a stored ranker.
pub const MEMORY_RANKER_BYTES_MAX: usize = 512 * 1024;
/// Memories that agents were given of which figures are made: the newest.
pub const MEMORY_FIGURES_MAX: u32 = 10_000;
/// Memories of one document that agents were given of which the figures of its lines are made: the newest.
pub const MEMORY_LINE_FIGURES_MAX: u32 = 2_000;
/// Workspaces whose ranker is cached on a server.
pub const MEMORY_RANKERS_CACHED_MAX: usize = 64;
/// Most turns of a session by which its continuity is scored: the newest.
pub const CONTINUITY_TURNS_MAX: u32 = 60;
/// Most characters of these turns.
pub const CONTINUITY_CHARS_MAX: usize = 24_000;
/// Days after its beginning in which a session is scored.
pub const CONTINUITY_DAYS: i64 = 3;
/// Most sessions of an agent that are scored in 24 hours.
pub const CONTINUITY_SESSIONS_PER_DAY_MAX: u64 = 200;
/// Most times that a model is asked to score one session.
pub const CONTINUITY_ATTEMPTS_MAX: u32 = 7;
/// Failures in a row after which an agent's scoring rests until its next interval.
pub const CONTINUITY_FAILURES_MAX: u32 = 3;
/// Most passages of a document that get vectors: the first.
pub const MEMORY_VECTORS_OF_DOCUMENT_MAX: usize = 32;
/// Characters of a passage of which a vector is made, and of a text that is looked for by its vector: the first.
pub const MEMORY_VECTOR_TEXT_CHARS_MAX: usize = 2_000;
/// Bytes of the vectors of an agent that a server compares: those of the documents that changed last.
pub const MEMORY_VECTORS_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of vectors that a server keeps in memory.
pub const MEMORY_VECTORS_CACHE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Documents whose new vectors are read at once. A claim reads no more; the next one continues.
pub const MEMORY_VECTORS_READ_MAX: u32 = 512;
/// Documents that get vectors in one step.
pub const MEMORY_VECTORS_STEP: u32 = 64;
/// Agents of a workspace up to which a search in the memories of all of them compares vectors. With more it compares
/// words alone.
pub const MEMORY_VECTOR_AGENTS_MAX: u32 = 32;
/// Bytes of vectors that a server reads into memory when it starts.
pub const MEMORY_VECTORS_WARM_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Characters of the reason why the vectors of an agent could not be made: the first.
pub const MEMORY_VECTORS_FAILURE_CHARS_MAX: usize = 200;
/// Time for the vector of a search from an endpoint, milliseconds. After that the search continues without it.
pub const MEMORY_VECTOR_MS_MAX: u64 = 500;
/// Most turns in one answer of an agent's history.
pub const HISTORY_TURNS_MAX: u32 = 200;
/// Most sessions whose turns one answer of an agent's history has.
pub const HISTORY_SESSIONS_MAX: u32 = 50;
/// Largest character card as it is uploaded, bytes.
pub const MEMORY_CARD_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Minutes for which a card is kept between its preview and its use.
pub const MEMORY_CARD_DRAFT_MINUTES_MAX: u32 = 60;
/// Most requests with a character card at the same time on one server.
pub const MEMORY_CARD_REQUESTS_MAX: usize = 4;
/// Most of these of one caller.
pub const MEMORY_CARD_REQUESTS_OF_CALLER_MAX: usize = 2;
/// Most pixels of the image of a character card.
pub const MEMORY_CARD_PIXELS_MAX: u64 = 64 * 1024 * 1024;
/// Most bytes that the compressed texts and the colour profile of a card's image unpack to, together.
pub const MEMORY_CARD_UNPACKED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Most drafts of one view that are open at the same time.
pub const VIEW_DRAFTS_MAX: u32 = 1_000;
/// Least time between two `user.form_draft` events of one response, seconds. Saves in between change the draft only.
pub const DRAFT_EVENT_SECONDS: i64 = 10;
/// Most `user.form_draft` events of one response.
pub const DRAFT_EVENTS_MAX: u32 = 50;
/// Time without a save after which a draft is abandoned, hours.
pub const DRAFT_HOURS_DEFAULT: i64 = 24;
/// Largest body that a form posts, bytes.
pub const FORM_BYTES_MAX: usize = 64 * 1024;
/// Most links to one form that work at the same time, without those to questions of agents.
pub const VIEW_LINKS_MAX: u32 = 200;
/// Most links to one question of an agent that work at the same time.
pub const REQUEST_LINKS_MAX: u32 = 20;
/// Longest time for which a link to a form works, days.
pub const VIEW_LINK_DAYS_MAX: u32 = 366;
/// Time for which a browser may answer after it opened a link to a form, days.
pub const CLEARANCE_DAYS: i64 = 30;
/// Longest note on a link to a form, characters.
pub const VIEW_LINK_NOTE_CHARS_MAX: usize = 200;
/// Most links to one session that work at the same time.
pub const SHARE_LINKS_MAX: u32 = 20;
/// Longest time for which a link to a session works, days.
pub const SHARE_LINK_DAYS_MAX: u32 = 30;
/// Most links to one tool that work at the same time.
pub const TOOL_LINKS_MAX: u32 = 20;
/// Longest time for which a link to a tool works, days.
pub const TOOL_LINK_DAYS_MAX: u32 = 30;
/// Most runs that are begun by one link to a tool within an hour.
pub const TOOL_LINK_RUNS_PER_HOUR_MAX: u32 = 60;
/// Most runs that one network begins by links to tools within an hour, counted by the forms that it sends. It is less
/// than what a link begins, so that one network cannot use up a link that other people have.
pub const TOOL_LINK_RUNS_OF_NETWORK_MAX: u32 = 30;
/// Most events on one page of a shared session.
pub const SHARED_EVENTS_MAX: u32 = 200;
/// Most columns of a table of responses. A form that changed often can have answers to more questions than that.
pub const RESPONSE_COLUMNS_MAX: usize = 1_000;
/// Most versions of a form whose answers one table of responses shows.
pub const RESPONSE_VERSIONS_MAX: u32 = 200;
/// Responses that a chart of answers counts at most, newest first.
pub const RESPONSE_SUMMARY_MAX: u32 = 5_000;
/// Most requests for answers of one session.
pub const FEEDBACK_REQUESTS_MAX: u32 = 200;
/// Length of a window of time in which a person gets at most one e-mail about the responses to one form, seconds.
pub const FORM_EMAIL_SECONDS: i64 = 300;
/// Length of a window of time in which a person gets at most one e-mail about sessions that are assigned to them,
/// seconds.
pub const ASSIGNED_EMAIL_SECONDS: i64 = 300;
/// Most questions shown in the inbox and on Today for which no session waits.
pub const OPEN_QUESTIONS_MAX: u32 = 50;
/// Most answers to one request, late ones included.
pub const REQUEST_ANSWERS_MAX: u32 = 1_000;
/// Most answers that one claim or one call of a running worker takes.
pub const ANSWERS_TAKEN_MAX: u32 = 10;
/// Most events that the status of a task has: the newest of its newest session.
pub const TASK_STATUS_EVENTS_MAX: u32 = 10;
/// Most results of custom tools for which a session waits at once, and of one request that supplies them.
pub const TOOL_RESULTS_MAX: usize = 100;
/// Longest text of one answer in the block for an agent, characters. The answers beside the block are whole.
pub const ANSWER_TEXT_CHARS_MAX: usize = 2_000;
/// Largest block of answers for an agent, bytes. Answers beyond it are named and left out.
pub const ANSWERS_BLOCK_BYTES_MAX: usize = 64 * 1024;

/// Most rules of a workspace that are not deleted.
pub const RULES_MAX: u64 = 200;
/// Most rules about the same gates.
pub const RULES_ALIKE_MAX: u64 = 20;
/// Longest time for which one version of a rule decides, days.
pub const RULE_DAYS_MAX: i64 = 180;
/// Time for which a suggested rule decides, days.
pub const RULE_DAYS_DEFAULT: i64 = 90;
/// Share of gates of a suggested rule that still ask a person, percent.
pub const RULE_CANARY_PERCENT: u32 = 10;
/// Most decisions of a rule on one day.
pub const RULE_PER_DAY_MAX: u32 = 1_000;
/// Largest number that rules compare, in either direction. A sum of one day has room in 64 bits as millionths.
pub const RULE_NUMBER_MAX: i64 = 1_000_000_000_000;
/// Most names of values of a rule's gates.
pub const RULE_FIELDS_MAX: usize = 100;
/// Most conditions of a rule.
pub const RULE_CONDITIONS_MAX: usize = 20;
/// Most values that one condition of a rule takes.
pub const RULE_VALUES_MAX: usize = 20;
/// Longest name of a value, and longest text that a condition of a rule compares, characters.
pub const RULE_TEXT_CHARS_MAX: usize = 500;
/// Longest sentence about a rule, characters.
pub const RULE_SENTENCE_CHARS_MAX: usize = 2_000;
/// Like decisions without another one after which a rule is suggested.
pub const RULE_LIKE_DECISIONS: u64 = 20;
/// Most rules that are suggested at once.
pub const RULE_SUGGESTIONS_MAX: usize = 20;
/// Newest decisions that are looked at to suggest rules.
pub const RULE_DECISIONS_LOOKED_AT: u32 = 5_000;
/// Time that a back-test covers, days. Suggestions look at the same time.
pub const BACK_TEST_DAYS: i64 = 90;
/// Most gates that a back-test looks at: the newest ones.
pub const BACK_TEST_GATES_MAX: u32 = 1_000;
/// Most gates that a back-test lists.
pub const BACK_TEST_LISTED_MAX: usize = 200;

/// Shortest time limit of one attempt of a tool, seconds.
pub const TOOL_TIME_LIMIT_SECONDS_MIN: u32 = 1;
/// Longest time limit of one attempt of a tool, seconds: one day.
pub const TOOL_TIME_LIMIT_SECONDS_MAX: u32 = 24 * 3_600;
/// Time limit of one attempt of a tool when its definition names none, seconds.
pub const TOOL_TIME_LIMIT_SECONDS_DEFAULT: u32 = 60;
/// Most further attempts of a tool after the first one failed.
pub const TOOL_RETRIES_MAX: u32 = 10;
/// Largest JSON Schema of a tool's input or result, bytes.
pub const TOOL_SCHEMA_BYTES_MAX: usize = 128 * 1024;
/// Most private fields of a tool's input.
pub const TOOL_PRIVATE_FIELDS_MAX: usize = 50;
/// Longest name or JSON Pointer of a private field, characters.
pub const TOOL_PRIVATE_FIELD_CHARS_MAX: usize = 500;
/// Most groups whose members may run a tool.
pub const TOOL_GROUPS_MAX: usize = 50;
/// Most secrets of a tool.
pub const TOOL_SECRETS_MAX: usize = 20;
/// Longest name of a tool's secret, characters.
pub const TOOL_SECRET_NAME_CHARS_MAX: usize = 64;
/// Longest secret of a tool, bytes.
pub const TOOL_SECRET_BYTES_MAX: usize = 8 * 1024;
/// Longest address of an `http` tool, before and after its values are filled in, bytes.
pub const TOOL_URL_BYTES_MAX: usize = 2_048;
/// Most headers of an `http` tool.
pub const TOOL_HEADERS_MAX: usize = 32;
/// Longest value of a header of an `http` tool, with its placeholders, characters.
pub const TOOL_HEADER_CHARS_MAX: usize = 2_000;
/// Largest result of a session of the type `tool`, bytes as JSON. Lists leave out results of more than
/// [`DOCUMENT_BYTES_MAX`].
pub const TOOL_RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Largest body of a service's answer in the result of an `http` tool, and largest result of an `mcp` tool, bytes as
/// JSON. The beginning of a larger one is kept. It leaves room for the members of the result around it.
pub const TOOL_ANSWER_BYTES_MAX: usize = TOOL_RESULT_BYTES_MAX - 4 * 1024;
/// Longest JSON Pointer into the result of a tool that is written to an entity, characters.
pub const TOOL_POINTER_CHARS_MAX: usize = 500;
/// Longest time that a request to run a tool waits for the end of the run, seconds.
pub const TOOL_RUN_WAIT_SECONDS_MAX: u32 = 30;
/// Most drafts of runs of one tool that a caller has at the same time.
pub const TOOL_DRAFTS_MAX: u32 = 20;
/// Most fields of a draft of a run.
pub const TOOL_DRAFT_FIELDS_MAX: usize = 200;
/// Most `tool.field_changed` events of one draft.
pub const TOOL_FIELD_EVENTS_MAX: u32 = 200;
/// Largest value of a field in a `tool.field_changed` event, bytes as JSON. A larger one is left out of the event.
pub const TOOL_FIELD_BYTES_MAX: usize = 2_000;
/// Most inputs that a person saves for one tool.
pub const TOOL_SAVED_INPUTS_MAX: u32 = 50;
/// Most runs that the page of a tool counts for its failure rate, the newest first.
pub const TOOL_RUNS_COUNTED_MAX: u32 = 1_000;
/// Largest input that a person saves, bytes as JSON.
pub const TOOL_SAVED_INPUT_BYTES_MAX: usize = 64 * 1024;
/// Longest note about the progress of a session, characters.
pub const PROGRESS_NOTE_CHARS_MAX: usize = 200;
/// Least time between two reports of progress that followers of a session get, milliseconds.
pub const PROGRESS_PAUSE_MS: i64 = 200;
/// Most steps of a composite tool.
pub const TOOL_STEPS_MAX: usize = 32;
/// Most levels of composite tools inside of each other, the outermost included.
pub const TOOL_COMPOSITE_DEPTH_MAX: usize = 8;
/// Most sessions that one run of a composite tool starts, those of composite steps included, if no step is tried again.
pub const TOOL_COMPOSITE_RUNS_MAX: usize = 256;
/// Longest pause before a step of a composite tool is tried again, seconds.
pub const TOOL_STEP_BACKOFF_SECONDS_MAX: u32 = 3_600;
/// Longest name of a tool of an MCP server, characters.
pub const MCP_TOOL_NAME_CHARS_MAX: usize = 128;
/// Most tools that are kept of the list of an MCP server.
pub const MCP_TOOLS_MAX: usize = 200;
/// Most bytes of tools that are kept of the list of an MCP server, as JSON.
pub const MCP_LISTING_BYTES_MAX: usize = 1024 * 1024;
/// Most pages of its list for which an MCP server is asked.
pub const MCP_LIST_PAGES_MAX: usize = 20;
/// Longest time for listing the tools of an MCP server, from connecting to the last page, seconds.
pub const MCP_LIST_SECONDS_MAX: u64 = 20;
/// Most lists of tools that a server asks MCP servers for at the same time. Further ones wait.
pub const MCP_LISTS_AT_ONCE: usize = 8;
/// Most of them for one workspace.
pub const MCP_LISTS_OF_WORKSPACE_AT_ONCE: usize = 2;
/// Most fields and groups of a form made from a JSON Schema. A part that would have more is typed as JSON.
pub const SCHEMA_FORM_PARTS_MAX: usize = 300;
/// Most values of schemas that are read for such a form, each as often as it is read. What follows is typed as JSON.
pub const SCHEMA_FORM_NODES_MAX: usize = 2_000_000;
/// Most levels of groups of such a form. What is deeper is typed as JSON.
pub const SCHEMA_FORM_DEPTH_MAX: usize = 8;
/// Most rows of a list in such a form. A longer list is typed as JSON.
pub const SCHEMA_FORM_ROWS_MAX: usize = 100;
/// Most named members of an object in such a form. One with more is typed as JSON.
pub const SCHEMA_FORM_MEMBERS_MAX: usize = 100;
/// Most variants of a part of such a form. A part with more is typed as JSON.
pub const SCHEMA_FORM_VARIANTS_MAX: usize = 50;
/// Largest text file that is taken as a value in such a form, bytes.
pub const SCHEMA_FORM_FILE_BYTES_MAX: usize = 256 * 1024;
/// Most text of one event that search finds, bytes: its beginning.
pub const SEARCH_EVENT_BYTES_MAX: usize = 64 * 1024;
/// Most words of one event that search finds: the first.
pub const SEARCH_EVENT_WORDS_MAX: usize = 8_000;
/// Places of one word in an event that search knows: the first. PostgreSQL stores no more.
pub const SEARCH_WORD_PLACES_MAX: u8 = 255;
/// Longest search line, characters.
pub const SEARCH_QUERY_CHARS_MAX: usize = 500;
/// Most words and phrases of a search for events.
pub const SEARCH_QUERY_WORDS_MAX: usize = 16;
/// Most conditions on fields of a search.
pub const SEARCH_CONDITIONS_MAX: usize = 20;
/// Most values of one condition of a search.
pub const SEARCH_VALUES_MAX: usize = 20;
/// Fewest letters and digits before the `*` of a search for events.
pub const SEARCH_PREFIX_CHARS_MIN: usize = 2;
/// Most other forms of one word that a search for events looks for.
pub const SEARCH_WORD_FORMS_MAX: usize = 64;
/// Length of the part of an event that a search shows, characters.
pub const SEARCH_SNIPPET_CHARS: usize = 240;
/// Sessions on a page of a search for events.
pub const SEARCH_PAGE_SESSIONS: usize = 20;
/// Events of one session that a page of a search shows. It counts the others that it found.
pub const SEARCH_SESSION_HITS_MAX: usize = 3;
/// Events with the words that one page of a search looks at. The next page looks at older ones.
pub const SEARCH_LOOKED_MAX: usize = 4_000;
/// Longest text that is looked for in one log, characters.
pub const FIND_PHRASE_CHARS_MAX: usize = 200;
/// Most events of one log that a search in it counts and leads to.
pub const FIND_MATCHES_MAX: usize = 10_000;
/// Most events of one log that a search in it reads: the first.
pub const FIND_EVENTS_MAX: usize = 100_000;
/// Content and metadata after which a search in one log reads no further page, bytes.
pub const FIND_BYTES_MAX: usize = 128 * 1024 * 1024;
/// Approvals that one page of a search of them compares.
pub const APPROVALS_LOOKED_MAX: usize = 2_000;
/// Most words of the name of a record by which a search finds it: the first.
pub const SEARCH_NAME_WORDS_MAX: usize = 200;
/// Records of one kind whose texts a search looks at: the newest tasks, entities, and questions.
pub const SEARCH_RECORDS_LOOKED_MAX: u32 = 5_000;
/// Records of one kind whose texts a search compares: first those with a searched word in their names.
pub const SEARCH_RECORDS_COMPARED_MAX: u32 = 500;
/// Records that a search shows above the events.
pub const SEARCH_RECORDS_MAX: usize = 10;
/// Records that a search for one kind of record shows.
pub const SEARCH_RECORDS_OF_KIND_MAX: usize = 50;
/// Most searches that a person can save.
pub const SAVED_SEARCHES_OF_PERSON_MAX: u32 = 50;
/// Most shared searches of a workspace.
pub const SAVED_SEARCHES_SHARED_MAX: u32 = 100;
/// Most saved searches that are links with counts above the list of sessions.
pub const SAVED_SEARCHES_COUNTED_MAX: usize = 7;
/// Most sessions that are counted for one saved search.
pub const SAVED_SEARCH_COUNT_MAX: u32 = 99;
/// Saved searches in the navigation at the side.
pub const SAVED_SEARCHES_IN_RAIL_MAX: usize = 5;
/// For how long the navigation shows a count before it counts again, seconds.
pub const SAVED_SEARCH_COUNT_SECONDS: i64 = 20;
/// Counts of saved searches that a server keeps.
pub const SAVED_SEARCH_COUNTS_KEPT_MAX: usize = 4_096;
/// Newest sessions that are looked at for the count of one saved search.
pub const SAVED_SEARCH_LOOKED_MAX: u32 = 1_000;
/// Most operations of a patch of a canvas that write. It may have as many `test` operations beside them.
pub const CANVAS_OPS_MAX: usize = 64;
/// Largest patch of a canvas, bytes of its operations as JSON. A canvas begins with such a patch.
pub const CANVAS_PATCH_BYTES_MAX: usize = 64 * 1024;
/// Largest document of a canvas, bytes of JSON.
pub const CANVAS_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting of the document of a canvas.
pub const CANVAS_DEPTH_MAX: usize = 32;
/// Most values in the document of a canvas, at all depths.
pub const CANVAS_NODES_MAX: usize = 20_000;
/// Most values in the JSON Schema of a canvas, when each reference is replaced by what it refers to.
pub const CANVAS_SCHEMA_NODES_MAX: usize = 2_000;
/// Longest key of a member in the document of a canvas, bytes.
pub const CANVAS_KEY_BYTES_MAX: usize = 200;
/// Longest order key of an item in a list of a canvas, bytes.
pub const CANVAS_ORDER_BYTES_MAX: usize = 64;
/// Longest string of which two changes are joined, bytes. Of a longer one the later change counts.
pub const CANVAS_MERGE_BYTES_MAX: usize = 32 * 1024;
/// Patches of a canvas after which its document is stored as a snapshot.
pub const CANVAS_SNAPSHOT_PATCHES: u64 = 100;
/// Bytes of patches of a canvas after which its document is stored as a snapshot.
pub const CANVAS_SNAPSHOT_BYTES: u64 = 64 * 1024;
/// Most patches of a canvas that were committed after the base of a new one, and most that one answer lists.
pub const CANVAS_BEHIND_MAX: u32 = 500;
/// Most changes of a client of a canvas that wait for the server's answer.
pub const CANVAS_PENDING_MAX: usize = 1_000;
/// Most changes that a client of a canvas can undo.
pub const CANVAS_UNDO_MAX: usize = 200;
/// Deepest indentation of a block of a canvas, and of an item of its checklists.
pub const CANVAS_INDENT_MAX: u8 = 5;
/// Most blocks that one pasted text makes in a canvas. What comes after them is the text of the last one.
pub const CANVAS_PASTE_BLOCKS_MAX: usize = 50;
/// Most items of a list of a canvas that get new order keys in one change, when there is no key left between two.
pub const CANVAS_REORDER_MAX: usize = 50;
/// Most patches that one person sends to a canvas in a second.
pub const CANVAS_PATCHES_PER_SECOND: u64 = 20;
/// Most patches that one program sends to a canvas in a second.
pub const CANVAS_AGENT_PATCHES_PER_SECOND: u64 = 5;
/// Most patches of one participant of a canvas in a minute that change nothing: rejected ones and suggestions.
pub const CANVAS_UNCOMMITTED_PER_MINUTE: u32 = 120;
/// Most participants of a canvas.
pub const CANVAS_PARTICIPANTS_MAX: u32 = 100;
/// Most suggestions of a canvas that wait for a decision.
pub const CANVAS_SUGGESTIONS_MAX: u32 = 200;
/// Most canvases of a workspace that are templates.
pub const CANVAS_TEMPLATES_MAX: u32 = 50;
/// Most declined suggestions of one author that the page of a canvas shows them.
pub const CANVAS_DECLINED_MAX: u32 = 5;
/// Most suggestions on one page of the inbox. Each is compared with the newest document of its canvas.
pub const CANVAS_INBOX_PAGE: u32 = 20;
/// Minutes for which a decision about a suggestion can be undone.
pub const CANVAS_UNDO_MINUTES: i64 = 60;
/// Most changes of a canvas in the text that tells an agent what others changed.
pub const CANVAS_DIFF_LINES_MAX: usize = 50;
/// Longest value and longest path of one of these changes, characters.
pub const CANVAS_DIFF_CHARS_MAX: usize = 300;
/// Longest wait for a change of a canvas in one request or one call of an agent, seconds.
pub const CANVAS_WAIT_SECONDS_MAX: u32 = 60;
/// Least time between two reports of where one participant of a canvas is, milliseconds. Browsers keep it; the server
/// sends no report that comes earlier.
pub const CANVAS_PRESENCE_PAUSE_MS: i64 = 100;
/// Time for which a report of where a participant of a canvas is counts, milliseconds.
pub const CANVAS_PRESENCE_MS_MAX: i64 = 30_000;
/// Most reports of where participants of one canvas are that are sent in a second.
pub const CANVAS_PRESENCE_PER_SECOND: u32 = 60;
/// Most participants who are shown on one canvas at a time.
pub const CANVAS_PEERS_MAX: usize = 50;
/// Longest name of a participant in a report of where they are, characters.
pub const CANVAS_PEER_NAME_CHARS_MAX: usize = 80;
/// Most canvases of which one server knows who is on them.
pub const CANVASES_WITH_PEERS_MAX: usize = 1_000;
/// Most patches of a canvas that are looked at to find which one changed each block last.
pub const CANVAS_BLAME_PATCHES_MAX: u32 = 2_000;
/// Versions of a canvas that are listed before the one that is shown, and most that are listed after it.
pub const CANVAS_HISTORY_PAGE: u32 = 25;
/// Time without a change after which a canvas is abandoned when the settings name none, days.
pub const CANVAS_LEFT_DAYS_DEFAULT: i64 = 30;
