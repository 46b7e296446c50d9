//! `user.form_submit`: a person answered a question or submitted a form.

use super::{
    decision::Decision,
    form_answers::FormAnswers,
    payload::{Payload, json_text, read_fields, text_content, text_of},
};
use crate::{
    feedback_request::{Assurance, Outcome},
    id::{FeedbackRequestId, RequestAnswerId, SessionId},
    respondent::RespondentKind,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was submitted.
#[derive(Debug, Clone, PartialEq)]
pub enum FormSubmit {
    /// The answer to a question for which the session waits, or the withdrawal of one.
    Decision(Decision),
    /// The answer to a request that did not block the session.
    Answer(RequestAnswer),
    /// A response to a form.
    Response(FormAnswers),
}

/// The answer to a request that did not block its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestAnswer {
    /// What the person wrote beside the answer.
    #[serde(skip)]
    pub note: Option<String>,
    /// Which one was answered.
    pub request_id: FeedbackRequestId,
    /// Workers that take the answer name it.
    pub answer_id: RequestAnswerId,
    /// How the request ended.
    pub outcome: Outcome,
    /// The answers by field; `null` without any.
    pub value: Value,
    /// How the server knows who answered.
    pub respondent_kind: RespondentKind,
    /// How sure that is.
    pub assurance: Assurance,
    /// The session of the response, if a form was filled in.
    pub response_session_id: Option<SessionId>,
}

impl FormSubmit {
    /// The decision at a gate, if it is one.
    pub const fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Decision(decision) => Some(decision),
            Self::Answer(_) | Self::Response(_) => None,
        }
    }

    /// The answer to a question or a request.
    pub const fn value(&self) -> Option<&Value> {
        match self {
            Self::Decision(decision) => decision.value.as_ref(),
            Self::Answer(answer) => Some(&answer.value),
            Self::Response(_) => None,
        }
    }
}

impl Payload for RequestAnswer {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { note: text_of(content), ..read_fields(metadata)? })
    }

    fn content(&self) -> String {
        text_content(self.note.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }
}

impl Payload for FormSubmit {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Decision::read(content, metadata)
            .map(Self::Decision)
            .or_else(|| RequestAnswer::read(content, metadata).map(Self::Answer))
            .or_else(|| FormAnswers::read(content, metadata).map(Self::Response))
    }

    fn content(&self) -> String {
        match self {
            Self::Decision(decision) => decision.content(),
            Self::Answer(answer) => answer.content(),
            Self::Response(answers) => answers.content(),
        }
    }

    fn metadata(&self) -> String {
        match self {
            Self::Decision(decision) => decision.metadata(),
            Self::Answer(answer) => answer.metadata(),
            Self::Response(answers) => answers.metadata(),
        }
    }
}
