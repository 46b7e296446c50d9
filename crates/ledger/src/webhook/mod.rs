//! Webhooks: URLs of a workspace that receive messages about events.

mod create;
mod delete;
mod deliveries;
mod list;
mod secret;
mod test;

pub use create::{NewWebhook, create};
pub use delete::delete;
pub use deliveries::deliveries;
pub use list::list;
pub use secret::{Signature, sign};
pub use test::test;
