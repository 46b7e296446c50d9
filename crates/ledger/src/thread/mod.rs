//! Conversations with an agent: sessions that are idle between turns. The id of a conversation is the id of its
//! session.

mod end;
mod interrupt;
mod message_session;
mod read;
mod send_message;
mod start;
mod summary;

pub use domain::event::kind::RelayedAuthor;
pub use end::{Ended, Ending, end, end_with};
pub use interrupt::interrupt;
pub use message_session::message_session;
pub use read::{get, list};
pub(crate) use read::{get_on, list_on};
pub use send_message::{Message, MessageReceipt, is_recorded, relay_message, resend_id, send_message};
pub use start::{NewThread, Started, start};
pub use summary::{Closing, Summary};

pub use crate::{commit::is_thread, session::turns, visibility::is_own};

use crate::{Error, Result};
use domain::{Scope, session::Session};

/// Returns the session if it is a conversation of the caller, who may write in it and end it.
fn own(scope: &Scope, session: Option<Session>) -> Result<Session> {
    let session = session.filter(is_thread).ok_or(Error::NotFound("thread"))?;
    if is_own(scope, &session) {
        return Ok(session);
    }
    if session.private_to.is_some() {
        return Err(Error::NotFound("thread"));
    }
    Err(Error::Forbidden(
        "only the person who started a conversation can write in it and end it; operators can cancel its session",
    ))
}
