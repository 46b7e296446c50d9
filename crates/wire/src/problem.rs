//! Errors as `application/problem+json` (RFC 9457).

use domain::issue::Issue;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $status:literal, $title:literal;)+) => {
        /// Machine-readable error codes. The list is append-only; docs/errors.md explains each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum Code { $($(#[$doc])* $variant),+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code as text.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $code),+ } }

            /// A short text for people, the same for every occurrence.
            pub const fn title(self) -> &'static str { match self { $(Self::$variant => $title),+ } }

            /// The HTTP status it travels with: the one table of the product.
            pub const fn http_status(self) -> u16 { match self { $(Self::$variant => $status),+ } }
        }
    };
}

codes! {
    /// A field has a wrong value, or an unknown field was sent.
    InvalidRequest = "invalid_request", 422, "The request is not valid";
    /// The result violates the output contract of its action; `errors` says where.
    OutputInvalid = "output_invalid", 422, "The result breaks its output contract";
    /// The body is not JSON.
    InvalidJson = "invalid_json", 400, "The body is not valid JSON";
    /// A path or query holds something that is not an id.
    InvalidId = "invalid_id", 400, "The id is not valid";
    /// The cursor does not belong to this list.
    InvalidCursor = "invalid_cursor", 400, "The cursor does not belong to this list";
    /// No credentials, or ones that are not valid (any more).
    Unauthenticated = "unauthenticated", 401, "Sign in first";
    /// E-mail or password is wrong.
    BadCredentials = "bad_credentials", 401, "That e-mail and password do not match";
    /// The caller's role or scope does not allow it.
    Forbidden = "forbidden", 403, "You are not allowed to do that";
    /// A browser request came from another site.
    CrossOrigin = "cross_origin", 403, "Requests from other sites are refused";
    /// It does not exist, or not for this caller.
    NotFound = "not_found", 404, "Not found";
    /// The path exists, the method does not.
    MethodNotAllowed = "method_not_allowed", 405, "That method is not allowed here";
    /// The request took too long to arrive.
    RequestTimeout = "request_timeout", 408, "The request took too long to arrive";
    /// The worker lost its lease; `detail` names the current attempt.
    StaleAttempt = "stale_attempt", 409, "Another attempt holds this session";
    /// A newer version was written since the caller read the object; `detail` names it.
    StaleVersion = "stale_version", 409, "Someone else changed it in the meantime";
    /// The session is final.
    AlreadyFinal = "already_final", 409, "The session has ended";
    /// The session's status does not allow it now.
    WrongStatus = "wrong_status", 409, "Not possible in this status";
    /// The same id or key was used for something else before.
    IdConflict = "id_conflict", 409, "The id was already used for a different request";
    /// Something else is proposed now than what the reviewer was shown.
    StaleDecision = "stale_decision", 409, "The proposal has changed in the meantime";
    /// It was decided otherwise; `recorded` is the decision.
    AlreadyDecided = "already_decided", 409, "Someone else already decided differently";
    /// It does not wait for a decision any more.
    GateClosed = "gate_closed", 409, "It is not waiting for a decision any more";
    /// The respondent answered otherwise before; `recorded` is that answer.
    AlreadyAnswered = "already_answered", 409, "You have answered already";
    /// The request takes no answers any more: it was cancelled with its session or erased, or the answer is too late.
    RequestClosed = "request_closed", 409, "No one waits for an answer any more";
    /// A safety rule forbids a value; `errors` names the dimension.
    HardBlock = "hard_block", 422, "A safety rule blocks this";
    /// The slug or name is taken.
    NameTaken = "name_taken", 409, "The name is already used";
    /// This installation is set up already; sign in.
    SetupDone = "setup_done", 409, "This installation is already set up";
    /// The body is larger than allowed.
    TooLarge = "too_large", 413, "Too large";
    /// The body's media type is not supported.
    UnsupportedMediaType = "unsupported_media_type", 415, "That content type is not supported";
    /// A limit on the number of things was reached.
    LimitReached = "limit_reached", 422, "A limit was reached";
    /// Too many requests or attempts.
    TooManyRequests = "too_many_requests", 429, "Too many requests";
    /// The workspace would be without an admin.
    LastAdmin = "last_admin", 409, "A workspace needs an admin";
    /// The server is not set up yet, and until then it does not answer to this host name.
    UnknownHost = "unknown_host", 421, "This server does not answer to that name";
    /// Something broke here; it is logged under the request id.
    Internal = "internal", 500, "Something went wrong on our side";
    /// The server is over capacity or shutting down; try again.
    Unavailable = "unavailable", 503, "Not available right now";
    /// The page that asks for the change was opened under another sign-in; `detail` names the present one.
    OtherSignIn = "other_sign_in", 409, "The sign-in of this browser has changed";
    /// Path and query of the address are longer than allowed.
    TargetTooLong = "target_too_long", 414, "The address is too long";
}

/// One field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FieldProblem {
    /// Where: a field name or JSON path such as `events[3].type`.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl From<Issue> for FieldProblem {
    fn from(Issue { field, message }: Issue) -> Self {
        Self { field, message }
    }
}

/// The body of every error answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Machine-readable; decide on this.
    pub code: Code,
    /// For people, the same for every occurrence of the code.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ProblemTitle))]
    pub title: String,
    /// The HTTP status again.
    pub status: u16,
    /// For people, about this occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Quote it when you report a problem.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub request_id: String,
    /// The fields that are wrong; empty if the problem is not about fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// The recorded state that conflicts with the request, if there is one: for `already_decided` the decision, for
    /// `already_answered` the caller's other answer, for `stale_version` of a memory document both sides of the
    /// conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub recorded: Option<crate::Json>,
}
