//! Requests of agents that people answer.
//!
//! A request names a view, or gets one of its own that no list shows. A request for which the session waits opens a
//! gate of kind question (`crate::gate`); its answer takes effect like any decision, and the claim that follows carries
//! it. A request for which the session continues collects answers, and a claim or a call of the running worker takes
//! them ([`take`]). Sessions are always locked before gates, and gates before requests.

mod answer;
mod ask;
mod expire;
mod list;
mod open;
mod reply;
mod take;

pub(crate) use answer::{AnswerOf, answer_on};
pub use answer::{Answered, NewAnswer, answer};
pub use ask::{Form, NewRequest, RecordedRequest, ask};
pub use expire::expire;
pub use list::{ListAnswers, RequestItem, answers, get, list};
pub use open::{Answerable, answerable, open};
pub(crate) use open::{answerable_on, answerable_request_on, count_open_on, open_on};
pub use reply::reply;
pub use store::feedback_request::OpenPosition;
pub(crate) use take::take_on;
pub use take::{TakenAnswers, take};

use crate::Error;

fn not_found() -> Error {
    Error::NotFound("feedback request")
}
