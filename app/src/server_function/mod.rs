//! What all server functions share: why a call is refused, where the server's part comes from, and how the
//! browser calls them.
//!
//! A server function is declared in the `api.rs` of its feature. The browser calls it by its arguments, and a form
//! without scripts posts to the same URL below `/fn`. Its body asks the server through a trait of the same file. The
//! server implements the trait over the ledger, so this crate does not depend on it.

#[cfg(feature = "hydrate")]
mod call;
mod form_fields;
mod refusal;

#[cfg(feature = "hydrate")]
pub use call::{Answer, Arguments, Call, call, fields, json, list, stringified, submit};
pub use form_fields::page_fields;
/// The client that the declarations name. Nothing calls it: the browser uses [`call`].
pub use leptos::server_fn::client::browser::BrowserClient as Client;
pub use refusal::{FieldRefusal, Refusal};

/// What a function made. A form continues with its page by `{id}` in its field `next`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Created {
    /// Id of the new session, export or conversation.
    pub id: String,
}

/// The server's part of the server functions of one feature, as the server put it into the context of this call.
///
/// # Errors
/// [`Refusal::internal`] if the server has not provided it.
#[cfg(feature = "ssr")]
pub fn backend<B: ?Sized + Send + Sync + 'static>() -> Result<std::sync::Arc<B>, Refusal> {
    leptos::prelude::use_context().ok_or_else(|| Refusal::internal("the server does not provide this function"))
}
