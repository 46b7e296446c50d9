//! Settings: members, tokens, webhooks, notifications, appearance, keyboard.

mod approvals;
mod groups;
mod members;
mod notifications;
mod page;
mod tokens;
mod webhooks;

pub use notifications::{EmailChoice, notify_button};
pub use page::{Props, page};
pub use webhooks::{EVENT_FIELD, WebhookEntry};
