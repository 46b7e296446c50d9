//! Forms that people answer: the member's page, the form of a link, and the form in a frame of another page.

mod embed;
mod flow;
mod member;
mod posted_form;
mod stranger;

use crate::state::AppState;
use axum::Router;

pub fn router() -> Router<AppState> {
    Router::new().merge(member::router()).merge(stranger::router()).merge(embed::router())
}
