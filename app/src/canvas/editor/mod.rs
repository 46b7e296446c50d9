//! The editor of a canvas in the browser: a lazy part of its page.
//!
//! The document and its changes are those of `domain::canvas`: [`Client`](domain::canvas::Client) has the document that
//! is shown while changes wait for an answer, and `domain::canvas::edit` makes changes out of keys and pasted texts.
//! This folder shows the document, moves the cursor and transports: `sender` sends, and `live` follows the log.
//! [`offline`](super::offline) keeps what waits, and [`presence`](super::presence) says who else is here.

#[cfg(any(feature = "hydrate", all(test, feature = "ssr")))]
mod answer;
mod island;
#[cfg(any(feature = "hydrate", all(test, feature = "ssr")))]
mod status;

#[cfg(feature = "hydrate")]
mod block;
#[cfg(feature = "hydrate")]
mod block_menu;
#[cfg(feature = "hydrate")]
mod checklist;
#[cfg(feature = "hydrate")]
mod drag;
#[cfg(feature = "hydrate")]
mod input;
#[cfg(feature = "hydrate")]
mod keys;
#[cfg(feature = "hydrate")]
mod live;
#[cfg(feature = "hydrate")]
mod model;
#[cfg(feature = "hydrate")]
mod notice;
#[cfg(feature = "hydrate")]
mod notice_view;
#[cfg(feature = "hydrate")]
mod peers;
#[cfg(feature = "hydrate")]
mod press;
#[cfg(feature = "hydrate")]
mod result;
#[cfg(feature = "hydrate")]
mod sender;
#[cfg(feature = "hydrate")]
mod slash;
#[cfg(feature = "hydrate")]
mod state;
#[cfg(feature = "hydrate")]
mod suggestion;
#[cfg(feature = "hydrate")]
mod table;
#[cfg(feature = "hydrate")]
mod text_field;
#[cfg(feature = "hydrate")]
mod view;

pub use island::CanvasEditor;
