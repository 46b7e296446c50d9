//! The state of a conversation's page, and what the page shows at first.

use crate::{
    fragment::Slot,
    session::{Rating, RatingState},
};
use leptos::prelude::*;

/// What the page shows at first. The server provides it for the island; the browser reads from the page what it needs
/// of it, so that nothing is sent twice and no parser of arguments is loaded.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// UUID of the conversation's session.
    pub session_id: String,
    /// Header and refusals, HTML of the server.
    pub head: String,
    /// Messages and state, HTML of the server.
    pub conversation: String,
    /// What the rating panel shows.
    pub rating: Rating,
    /// The form for the next message; absent if none can be written.
    pub composer: Option<Written>,
}

/// What the form for the next message shows at first.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The name of the agent.
    pub agent: String,
    /// The typed text.
    pub text: String,
    /// The same as HTML.
    pub text_html: String,
    /// Longest message, characters.
    pub chars_max: String,
    /// Idempotency key of the message.
    pub key: String,
    /// Why the message was refused; empty if it was not.
    pub said: String,
    /// Whether the agent works and nothing is typed. The page without scripts then reloads itself, which would discard
    /// the typed text, so the form needs scripts.
    pub needs_scripts: bool,
    /// Whether the field has the focus when the page opens.
    pub is_focused: bool,
}

impl Content {
    /// What was provided for this page.
    #[cfg(not(feature = "hydrate"))]
    pub fn of_page() -> Self {
        use_context().unwrap_or_default()
    }

    /// What the page was rendered with, and the text typed since.
    #[cfg(feature = "hydrate")]
    pub fn of_page() -> Self {
        use crate::browser::dom;
        let Some(chat) = dom::root().and_then(|root| dom::find(&root, "[data-session]")) else {
            return Self::default();
        };
        let composer = dom::find(&chat, ".composer").map(|form| {
            let value = |selector| dom::find(&form, selector).and_then(|field| dom::text(&field, "value"));
            let said = dom::find(&form, ".field-error").and_then(|said| said.text_content());
            Written {
                text: value("textarea").unwrap_or_default(),
                key: value("[name=id]").unwrap_or_default(),
                said: said.unwrap_or_default().trim().to_owned(),
                ..Written::default()
            }
        });
        let rating = dom::find(&chat, "[data-rating]").as_ref().map(Rating::of).unwrap_or_default();
        Self { session_id: chat.get_attribute("data-session").unwrap_or_default(), rating, composer, ..Self::default() }
    }
}

/// State of the page. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Store {
    /// UUID of the conversation's session.
    pub session_id: StoredValue<String>,
    /// Header and refusals.
    pub head: Slot,
    /// Messages and state.
    pub conversation: Slot,
    /// The rating panel.
    pub rating: RatingState,
    /// The typed text.
    pub text: RwSignal<String>,
    /// Idempotency key of the message that is being written: the first one is the server's, so that the form has one
    /// without scripts. The browser makes the next one when a message was sent.
    pub key: RwSignal<String>,
    /// Why something was refused; empty if nothing was.
    pub said: RwSignal<String>,
    /// Whether the message is being sent.
    pub is_sending: RwSignal<bool>,
    /// Whether another form of the page is being sent.
    #[cfg(feature = "hydrate")]
    pub is_calling: RwSignal<bool>,
    /// The reads of the conversation.
    #[cfg(feature = "hydrate")]
    pub reads: crate::browser::reads::Reads,
}

impl Store {
    /// The state of a page with this content.
    pub fn new(content: &Content) -> Self {
        let written = content.composer.clone().unwrap_or_default();
        Self {
            session_id: StoredValue::new(content.session_id.clone()),
            head: Slot::default(),
            conversation: Slot::default(),
            rating: RatingState::new(&content.session_id, content.rating),
            text: RwSignal::new(written.text),
            key: RwSignal::new(written.key),
            said: RwSignal::new(written.said),
            is_sending: RwSignal::new(false),
            #[cfg(feature = "hydrate")]
            is_calling: RwSignal::new(false),
            #[cfg(feature = "hydrate")]
            reads: Default::default(),
        }
    }
}
