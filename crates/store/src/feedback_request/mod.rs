//! Requests of agents that people answer, and the answers to them.

mod answer;
mod request;

pub use answer::{
    AnswerRecord, answer_of_gate, answer_of_request, answers, consume, count_answers, insert_answer, of_call,
    own_answer, unconsumed,
};
pub use request::{
    OpenPosition, QuestionReader, RequestKey, RequestRecord, close, count, count_open_for, find, find_by_gate,
    find_by_key, find_locked, insert, list, of_ended, open_for, past_deadline, root_of,
};

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[answer::SQL, request::SQL];
