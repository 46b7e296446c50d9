//! Schemas of texts: ids, slugs, names, prose.

use super::{Named, named};
use domain::limit::{
    BROWSER_CHARS_MAX, BUNDLE_BYTES_MAX, CLOSING_CHARS_MAX, CRITERIA_DESCRIPTION_CHARS_MAX, CURSOR_CHARS_MAX,
    DELIVERY_ERROR_CHARS_MAX, DELTA_BYTES_MAX, DESCRIPTION_CHARS_MAX, EDITED_CHARS_MAX, EMAIL_BYTES_MAX,
    FIND_PHRASE_CHARS_MAX, FLAG_CHARS_MAX, HOOK_CONTEXT_UNITS_MAX, HOOK_NAME_CHARS_MAX, HOOK_SESSION_CHARS_MAX,
    IMPORT_BYTES_MAX, IMPORT_MAPPING_BYTES_MAX, KEY_CHARS_MAX, KIND_BYTES_MAX, MCP_TOOL_NAME_CHARS_MAX,
    MEMORY_CARD_BYTES_MAX, MEMORY_DOCUMENT_BYTES_MAX, MEMORY_NAME_CHARS_MAX, MEMORY_QUERY_CHARS_MAX,
    MEMORY_REASON_CHARS_MAX, NAME_CHARS_MAX, REASON_CHARS_MAX, RULE_SENTENCE_CHARS_MAX, RULE_TEXT_CHARS_MAX,
    SEARCH_QUERY_CHARS_MAX, SLUG_CHARS_MAX, SUMMARY_QUOTE_CHARS_MAX, TAG_CHARS_MAX, THREAD_MESSAGE_CHARS_MAX,
    TIMEZONE_CHARS_MAX, TITLE_CHARS_MAX, TOOL_POINTER_CHARS_MAX, TOOL_PRIVATE_FIELD_CHARS_MAX, TOOL_SECRET_BYTES_MAX,
    TOOL_SECRET_NAME_CHARS_MAX, TOOL_URL_BYTES_MAX, VIEW_KEY_CHARS_MAX, WEBHOOK_URL_BYTES_MAX,
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        KnownFormat, ObjectBuilder, RefOr, SchemaFormat, Type,
        schema::{Schema, SchemaType},
    },
};

/// Longest folder of a memory with the slash, and `.md`.
const MEMORY_FOLDER_CHARS_MAX: usize = "sessions/.md".len();
/// At least one character that is no space, none that is a control character.
const LINE: &str = r"^[^\x00-\x1F\x7F-\x9F]*[^\s\x00-\x1F\x7F-\x9F][^\x00-\x1F\x7F-\x9F]*$";
/// The same without characters that change the direction of text.
const NAME: &str = concat!(
    r"^[^\x00-\x1F\x7F-\x9F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*",
    r"[^\s\x00-\x1F\x7F-\x9F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]",
    r"[^\x00-\x1F\x7F-\x9F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*$",
);
/// A line without characters that override the direction of text.
const LABEL: &str = concat!(
    r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*",
    r"[^\s\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]",
    r"[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$",
);
/// A label without spaces around it.
const OPTION: &str = concat!(
    r"^[^\s\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]",
    r"([^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*",
    r"[^\s\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069])?$",
);
/// No control characters.
const PRINTABLE: &str = r"^[^\x00-\x1F\x7F-\x9F]+$";
/// No control characters but tab and line ends, and none that override the direction of text.
const VISIBLE: &str = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB]*$";
/// Any text but NUL, which PostgreSQL cannot store.
const NO_NUL: &str = r"^[^\x00]*$";
/// A NUL-free text that is not all spaces.
const SPOKEN: &str = r"^[^\x00]*[^\s\x00][^\x00]*$";

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(Type::String))
}

fn line(max: usize) -> ObjectBuilder {
    text().min_length(Some(1)).max_length(Some(max)).pattern(Some(LINE))
}

fn prose(max: usize) -> ObjectBuilder {
    text().max_length(Some(max)).pattern(Some(NO_NUL))
}

fn matching(pattern: &str, max: usize) -> ObjectBuilder {
    text().max_length(Some(max)).pattern(Some(pattern))
}

macro_rules! texts {
    ($($(#[doc = $doc:literal])+ $name:ident = $schema:expr;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    $schema.description(Some([$($doc.trim()),+].join(" "))).build().into()
                }
            }

            impl ToSchema for $name {}
        )+

        pub(super) fn all() -> Vec<Named> {
            vec![$(named::<$name>()),+]
        }
    };
}

/// The base64url of 17, 25 or 33 bytes, the first of which is at most 55: the list, one or two numbers in some lists,
/// and an id.
const CURSOR: &str = "^[A-N]([A-Za-z0-9_-]{21}[AEIMQUYcgkosw048]|[A-Za-z0-9_-]{32}[AQgw]|[A-Za-z0-9_-]{43})$";

/// The base64url of 33 bytes, the first of which is at most 55: the list, a number, an id and a sequence.
const EVENT_CURSOR: &str = "^[A-N][A-Za-z0-9_-]{43}$";

/// A JSON object whose values are texts or null. Halves of surrogate pairs in it are not matched, whole pairs neither:
/// such characters are sent as they are.
fn json_object_of_texts() -> String {
    const SPACE: &str = r"[ \t\n\r]*";
    const TEXT: &str =
        r#""([^"\\\x00-\x1F]|\\(["\\/bfnrt]|u([0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})))*""#;
    let pair = format!("{TEXT}{SPACE}:{SPACE}({TEXT}|null)");
    format!("^{SPACE}\\{{{SPACE}({pair}({SPACE},{SPACE}{pair})*{SPACE})?\\}}{SPACE}$")
}

texts! {
    /// A UUID in its hyphenated form.
    Id = text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
    /// A user id; empty where no person decided.
    DeciderId = matching("^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$", 36);
    /// Lower-case letters, digits and single inner hyphens.
    Slug = matching("^[a-z0-9]+(-[a-z0-9]+)*$", SLUG_CHARS_MAX).min_length(Some(1));
    /// A tag of a session: a short slug.
    Tag = matching("^[a-z0-9]+(-[a-z0-9]+)*$", TAG_CHARS_MAX).min_length(Some(1));
    /// The agent of a session: a slug. Sessions that run a tool have `tool:` and its slug, or `http:` or `mcp:` and
    /// its slug if the server makes the call.
    AgentName = matching("^((tool|http|mcp):)?[a-z0-9]+(-[a-z0-9]+)*$", SLUG_CHARS_MAX + 5).min_length(Some(1));
    /// The key of a dimension in an output: a slug that may have underscores in place of hyphens.
    DimensionKey = matching("^[a-z0-9]+([-_][a-z0-9]+)*$", SLUG_CHARS_MAX).min_length(Some(1));
    /// A part of a tool's input: the name of a top-level field, or a JSON Pointer.
    ToolPrivateField = text().min_length(Some(1)).max_length(Some(TOOL_PRIVATE_FIELD_CHARS_MAX));
    /// A JSON Pointer into the result of a tool; empty for the whole result.
    ToolPointer = text().max_length(Some(TOOL_POINTER_CHARS_MAX));
    /// The name of a tool's secret: letters, digits and underscores, a letter first.
    ToolSecretName = matching("^[A-Za-z][A-Za-z0-9_]*$", TOOL_SECRET_NAME_CHARS_MAX).min_length(Some(1));
    /// The value of a tool's secret, as a header can have it: one line of ASCII.
    ToolSecretValue = matching("^[ -~]+$", TOOL_SECRET_BYTES_MAX).min_length(Some(1));
    /// The address of the HTTP call of a tool.
    ToolUrl = text().min_length(Some(1)).max_length(Some(TOOL_URL_BYTES_MAX));
    /// The name of a tool of an MCP server.
    McpToolName = matching("^[A-Za-z0-9_./-]+$", MCP_TOOL_NAME_CHARS_MAX).min_length(Some(1));
    /// The name of a value that a rule compares.
    RuleText = prose(RULE_TEXT_CHARS_MAX);
    /// What a rule approves and how much of it, for people.
    RuleSentence = text().max_length(Some(RULE_SENTENCE_CHARS_MAX));
    /// The key of a field of a form.
    AnswerKey = matching("^[A-Za-z][A-Za-z0-9_-]*$", VIEW_KEY_CHARS_MAX).min_length(Some(1));
    /// One line that is not all spaces, without characters that change the direction of text.
    Name = matching(NAME, NAME_CHARS_MAX).min_length(Some(1));
    /// One line that is not all spaces, without characters that change the direction of text.
    RecordTitle = matching(NAME, TITLE_CHARS_MAX).min_length(Some(1));
    /// One line that is not all spaces, without characters that override the direction of text.
    Label = matching(LABEL, TITLE_CHARS_MAX).min_length(Some(1));
    /// One line that is not all spaces.
    Title = line(TITLE_CHARS_MAX);
    /// One line that is not all spaces, without characters that override the direction of text.
    OptionLabel = matching(LABEL, NAME_CHARS_MAX).min_length(Some(1));
    /// One line without spaces around it and without characters that override the direction of text.
    OptionValue = matching(OPTION, NAME_CHARS_MAX).min_length(Some(1));
    /// Id of a submission, made by the client: visible ASCII.
    SubmissionId = matching("^[!-~]+$", KEY_CHARS_MAX).min_length(Some(1));
    /// A key that a client made: printable characters.
    Key = matching(PRINTABLE, KEY_CHARS_MAX).min_length(Some(1));
    /// Text of several lines.
    Description = prose(DESCRIPTION_CHARS_MAX);
    /// What the rater should look at, for people.
    DimensionDescription = prose(CRITERIA_DESCRIPTION_CHARS_MAX);
    /// A person: `me`, or a user id.
    Assignee = matching("^(me|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$", 36);
    /// Text that the name must contain.
    NamePart = prose(NAME_CHARS_MAX);
    /// Text that the title must contain.
    TitlePart = prose(TITLE_CHARS_MAX);
    /// A reason, note or error, for people.
    Reason = prose(REASON_CHARS_MAX);
    /// What an agent asks.
    QuestionText = matching(SPOKEN, REASON_CHARS_MAX).min_length(Some(1));
    /// What to look at twice: a dimension and an option of it.
    Flag = text().max_length(Some(FLAG_CHARS_MAX));
    /// The path of a memory document: a folder and a name that ends with `.md`. After an erasure `erased/` and an id.
    MemoryPath = matching(PRINTABLE, MEMORY_NAME_CHARS_MAX + MEMORY_FOLDER_CHARS_MAX).min_length(Some(1));
    /// Why a memory document was changed.
    MemoryReason = prose(MEMORY_REASON_CHARS_MAX);
    /// Words to look for in memory.
    MemoryQuery = prose(MEMORY_QUERY_CHARS_MAX);
    /// The text of a memory document, or a part of it. Control characters other than tab and line ends are refused.
    MemoryText = matching(VISIBLE, MEMORY_DOCUMENT_BYTES_MAX);
    /// A path as the memory tool names it.
    MemoryToolPath = prose(MEMORY_QUERY_CHARS_MAX);
    /// What the memory tool answers.
    MemoryToolText = text().max_length(Some(9 * MEMORY_DOCUMENT_BYTES_MAX));
    /// A PNG with a character card in a text chunk. Its bytes are counted.
    CardImage = text().max_length(Some(MEMORY_CARD_BYTES_MAX));
    /// A sign-in address.
    EmailAddress = matching(r"^[^@\s\x00-\x1F\x7F-\x9F]+@[^@\s\x00-\x1F\x7F-\x9F]+$", EMAIL_BYTES_MAX);
    /// A person's sign-in address; where no person decided, who did, as in `requestedBy`.
    Decider = text().max_length(Some(EMAIL_BYTES_MAX));
    /// An e-mail address, a group's name, or a phrase.
    ReviewerName = text().max_length(Some(EMAIL_BYTES_MAX));
    /// Who did it: `user:…` and `token:…` with an id, `agent:…` with a slug, or `system`.
    Actor = matching("^(system|(user|token|agent|respondent|rule):[a-z0-9-]+)$", "token:".len() + SLUG_CHARS_MAX);
    /// Who is asked to decide: `user:…` with an id, or `group:…` with a slug.
    HandedTo = matching(
        "^(user:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|group:[a-z0-9]+(-[a-z0-9]+)*)$",
        "group:".len() + SLUG_CHARS_MAX,
    );
    /// Whose acts are listed: `user:…` and `token:…` with an id, `agent:…` with a slug, or `system`.
    AuditActor = matching(
        "^(system|(user|token):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|agent:[a-z0-9]+(-[a-z0-9]+)*)$",
        "agent:".len() + SLUG_CHARS_MAX,
    );
    /// Path of a page where people answer.
    AnswerPath = text().max_length(Some(WEBHOOK_URL_BYTES_MAX));
    /// SHA-256, hexadecimal.
    Digest = matching("^[0-9a-f]{64}$", 64);
    /// The digest of what was shown. Capitals are taken too.
    ShownDigest = matching("^[0-9a-fA-F]{64}$", 64);
    /// A memory that an agent was given.
    MemoryId = matching("^mem_[0-9a-f]{12}$", 16);
    /// Equal for approvals with the same kind, agent, tool and keys; for questions with the same agent, text and form.
    SimilarKey = matching("^[0-9a-f]{16}$", 16);
    /// Two or more words of `a-z 0-9 _`, joined by dots; the first begins with a letter.
    EventType = matching(r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$", KIND_BYTES_MAX);
    /// The sequence of an event, as `Last-Event-ID` takes it.
    StreamEventId = matching("^[0-9]+$", 16);
    /// A coding agent's own session.
    HookSession = matching(PRINTABLE, HOOK_SESSION_CHARS_MAX).min_length(Some(1));
    /// Event types, separated by commas.
    EventTypes = text().pattern(Some(r"^ *[a-z][a-z0-9_]*(\.[a-z0-9_]+)+ *(, *[a-z][a-z0-9_]*(\.[a-z0-9_]+)+ *)*$"));
    /// A search line: conditions on fields of sessions, such as `agent:scout status:failed cost>0.5`, and words.
    SearchLine = text().max_length(Some(SEARCH_QUERY_CHARS_MAX));
    /// A search for events: words, `"a phrase"`, `begin*` and `-not`, and conditions on fields of their sessions.
    EventQuery = text().min_length(Some(1)).max_length(Some(SEARCH_QUERY_CHARS_MAX));
    /// A text to find in one log, as it is written.
    LogPhrase = text().min_length(Some(1)).max_length(Some(FIND_PHRASE_CHARS_MAX));
    /// The place in what a search found. Opaque: only what a search answered is one.
    EventCursor = matching(EVENT_CURSOR, CURSOR_CHARS_MAX);
    /// The place in a list. Opaque: only what a list answered is one.
    Cursor = matching(CURSOR, CURSOR_CHARS_MAX);
    /// An IANA zone such as `Europe/Berlin`.
    TimeZone = matching("^[A-Za-z][A-Za-z0-9_+/-]*$", TIMEZONE_CHARS_MAX);
    /// Text of a message.
    Message = matching(SPOKEN, THREAD_MESSAGE_CHARS_MAX).min_length(Some(1));
    /// The beginning of a message.
    Quote = text().max_length(Some(SUMMARY_QUOTE_CHARS_MAX));
    /// The closing text of a conversation's agent.
    Closing = text().max_length(Some(CLOSING_CHARS_MAX));
    /// What an answer was changed to.
    Edited = prose(EDITED_CHARS_MAX);
    /// A piece of an answer. Its bytes (UTF-8) are counted, not its characters.
    DeltaText = text().min_length(Some(1)).max_length(Some(DELTA_BYTES_MAX));
    /// The name that a worker gives itself: 1 to 64 visible ASCII characters. Another text counts as none.
    WorkerName = text();
    /// An address that messages are sent to.
    WebhookUrl = matching("^https?://", WEBHOOK_URL_BYTES_MAX)
        .format(Some(SchemaFormat::Custom("uri".to_owned())));
    /// A single-use link.
    Link = matching("^https?://", WEBHOOK_URL_BYTES_MAX).format(Some(SchemaFormat::Custom("uri".to_owned())));
    /// A browser, such as `Firefox on Linux`; empty where it is not known.
    Browser = text().max_length(Some(BROWSER_CHARS_MAX));
    /// Verifies the signatures of a webhook's messages.
    WebhookSecret = matching("^whsec_[A-Za-z0-9+/]+=*$", NAME_CHARS_MAX);
    /// Why a delivery failed.
    DeliveryError = text().max_length(Some(DELIVERY_ERROR_CHARS_MAX));
    /// The agent of a conversation: a slug, or the id of an action that names one.
    AgentOrAction = matching(
        "^([a-z0-9]+(-[a-z0-9]+)*|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$",
        SLUG_CHARS_MAX,
    );
    /// Name of a hook, as the coding agent sends it.
    HookName = matching(PRINTABLE, HOOK_NAME_CHARS_MAX).min_length(Some(1));
    /// Context for a coding agent's next turn.
    HookContext = text().max_length(Some(HOOK_CONTEXT_UNITS_MAX));
    /// A cell of a file.
    ImportCell = text().max_length(Some(IMPORT_BYTES_MAX));
    /// A CSV file in UTF-8. Its bytes are counted, not its characters.
    CsvFile = text().max_length(Some(IMPORT_BYTES_MAX));
    /// A bundle. Its bytes are counted, not its characters.
    BundleFile = text().max_length(Some(BUNDLE_BYTES_MAX));
    /// A JSON object: column to field slug, `title` or null. Its bytes are counted, not its characters.
    ImportMapping = matching(&json_object_of_texts(), IMPORT_MAPPING_BYTES_MAX);
}
