//! The messages with which a session continues that its worker left idle.

use crate::{commit::is_thread, wait::Wait};
use domain::{
    Timestamp,
    event::Known,
    limit::{CLAIM_MESSAGES_BYTES_MAX, CLAIM_MESSAGES_MAX},
    session::{Session, Status},
    thread::text_of,
};
use store::{Conn, Result};

/// A message of a person or a program, as the log has it.
#[derive(Debug, Clone)]
pub struct ClaimedMessage {
    /// Sequence of its event.
    pub sequence: u64,
    /// The text, 1 to 20,000 characters.
    pub text: String,
    /// `user:…` or `token:…`.
    pub by: String,
    /// When it was recorded (UTC).
    pub at: Timestamp,
}

/// Returns the messages since the session became idle, oldest first, and whether more follow them in the log. Empty if
/// its last wait was another one, and for a conversation, whose worker reads all of its messages.
pub(super) async fn of_wait(
    conn: &mut Conn<'_>,
    session: &Session,
    wait: Option<Wait>,
) -> Result<(Vec<ClaimedMessage>, bool)> {
    let Some(wait) = wait.filter(|wait| wait.status == Status::Idle && !is_thread(session)) else {
        return Ok((Vec::new(), false));
    };
    let (range, kinds) = ((wait.began, session.head_sequence), [Known::UserMessage.as_str().to_owned()]);
    let page = store::event::after(conn, session.tenant_id, session.id, range, &kinds, CLAIM_MESSAGES_MAX).await?;
    let (mut has_more, mut bytes, mut messages) = (page.has_more, 0, Vec::with_capacity(page.items.len()));
    for event in page.items {
        let text = text_of(&event.content);
        bytes += text.len();
        if bytes > CLAIM_MESSAGES_BYTES_MAX {
            has_more = true;
            break;
        }
        messages.push(ClaimedMessage { sequence: event.sequence, text, by: event.actor, at: event.recorded_at });
    }
    Ok((messages, has_more))
}
