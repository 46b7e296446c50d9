//! The settings page: account, members, groups, tokens, webhooks, approvals, notifications, appearance, keyboard.

mod account;
mod api;
mod approvals;
mod groups;
mod member_page;
mod members;
mod notifications;
mod page;
mod telemetry;
mod tokens;
mod webhooks;

pub use api::{SaveTheme, SettingsBackend, save_theme};
pub use member_page::{MemberProps, member_page};
pub use members::{Inviting, NewLink, role_word};
pub use notifications::{EmailChoice, notify_button};
pub use page::{Props, page};
pub use telemetry::TelemetryChoice;
pub use webhooks::{EVENT_FIELD, WebhookEntry};
