//! Forms that people answer: the member's page, the form of an agent's question, the form of a link, and the form in a
//! frame of another page.

mod embed;
mod flow;
mod member;
mod posted_form;
mod question;
mod question_page;
mod refusal;
mod site;
mod stranger;
mod visit;

pub use question::question;
pub use site::options_of;
pub use stranger::{secret_key, too_many_requests};
pub use visit::Visit;

use crate::state::AppState;
use axum::Router;

pub fn router() -> Router<AppState> {
    Router::new().merge(member::router()).merge(question::router()).merge(stranger::router()).merge(embed::router())
}
