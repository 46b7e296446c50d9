//! Webhooks: URLs of a workspace that receive messages about events.

mod create;
mod delete;
mod read;
mod secret;
mod test;

pub use create::{NewWebhook, create};
pub use delete::delete;
pub use read::{deliveries, list};
pub use secret::{Signature, sign};
pub use test::test;
