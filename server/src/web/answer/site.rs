//! Where a form is, and the page in its place while it takes no answer.

use crate::web::shell::render;
use app::form_page::{self as ui, Asker, ClosedProps, EntityOptions, Frame, Link};
use axum::{http::StatusCode, response::Response};
use domain::{
    id::{EntityId, ViewId},
    response::Closed,
};
use ledger::{ViewLinkRecord, page::answer as page, response::Respondent};
use uuid::Uuid;

/// Where a form is: who answers it, and the address and fields of its page.
pub struct Site {
    pub respondent: Respondent,
    pub view_id: ViewId,
    pub request_id: Option<Uuid>,
    /// Path that the form is posted to.
    pub action: String,
    /// Fields that the page carries.
    pub hidden: Vec<(String, String)>,
    pub frame: Frame,
    /// Who asks, if the form is an agent's question.
    pub asker: Option<Asker>,
    /// Link at the end of the page.
    pub back: Option<Link>,
    /// Whether the respondent may know why the form takes no answer.
    pub says_why: bool,
    /// Whether the browser keeps cookies of this page, so that it can come back to it.
    pub has_cookies: bool,
    pub entities: EntityOptions,
}

impl Site {
    /// The form of a signed-in member, without an agent's question. The member may know why it takes no answer.
    pub fn of_member(respondent: Respondent, view_id: ViewId, action: String, frame: Frame) -> Self {
        Self {
            respondent,
            view_id,
            request_id: None,
            action,
            hidden: Vec::new(),
            frame,
            asker: None,
            back: None,
            says_why: true,
            has_cookies: true,
            entities: EntityOptions::new(),
        }
    }

    /// The form of a link. People without an account see no entities, and not why the form takes no answer.
    pub fn of_link(link: &ViewLinkRecord, respondent: Respondent, action: String, frame: Frame) -> Self {
        Self {
            respondent,
            view_id: link.view_id,
            request_id: link.request_id,
            action,
            hidden: Vec::new(),
            frame,
            asker: None,
            back: None,
            says_why: false,
            has_cookies: true,
            entities: EntityOptions::new(),
        }
    }
}

/// The entities that the questions of a form offer, as its page shows them.
pub fn options_of(found: page::EntityOptions) -> EntityOptions {
    let titles = |entities: Vec<(EntityId, String)>| -> Vec<(String, String)> {
        entities.into_iter().map(|(id, title)| (id.to_string(), title)).collect()
    };
    found.into_iter().map(|(key, entities)| (key, titles(entities))).collect()
}

/// The page of a form that takes no answer. Without a reason it is the same for every reason.
pub async fn closed(frame: Frame, reason: Option<Closed>, back: Option<Link>) -> Response {
    let status = if reason.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let reason = reason.map(|closed| {
        let text = closed.to_string();
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{}.", letters.as_str())
    });
    render(status, move || ui::closed_page(&ClosedProps { frame, reason, back })).await
}
