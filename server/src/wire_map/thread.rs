//! Converts conversations and ratings.

use crate::problem::Problem;
use domain::{memory_writer::channel::Channel, session::Session, session_feedback::Surface, thread::is_incognito};
use ledger::{FeedbackRecord, feedback, thread};
use wire::{Code, thread as wire_thread};

/// Converts a conversation. `turns` is the number of messages of its person, if it was counted.
pub fn thread(record: Session, turns: Option<u64>) -> wire_thread::Thread {
    wire_thread::Thread {
        id: record.id,
        status: record.status(),
        end_reason: record.end_reason(),
        completed_at: record.completed_at(),
        incognito: is_incognito(&record.metadata),
        channel: Channel::of_metadata(&record.metadata).map(wire_channel),
        title: record.title,
        agent_slug: record.agent_slug,
        action_id: record.action_id,
        turn_count: turns,
        head_sequence: record.head_sequence,
        created_by: record.created_by,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

fn channel(body: wire_thread::Channel) -> Channel {
    let wire_thread::Channel { platform, id, name, kind, parent } = body;
    Channel { platform, id, name, kind, parent }
}

pub(super) fn wire_channel(channel: Channel) -> wire_thread::Channel {
    let Channel { platform, id, name, kind, parent } = channel;
    wire_thread::Channel { platform, id, name, kind, parent }
}

/// Converts the body of a request that starts a conversation.
pub fn new_thread(body: wire_thread::StartThread) -> thread::NewThread {
    thread::NewThread {
        agent: body.agent,
        incognito: body.incognito,
        title: body.title,
        message: body.message,
        channel: body.channel.map(channel),
        idempotency_key: body.idempotency_key,
    }
}

/// Converts the author of a relayed message.
pub fn relayed_author(of: wire_thread::MessageAuthor) -> thread::RelayedAuthor {
    thread::RelayedAuthor { platform: of.platform, id: of.id, name: of.name }
}

/// Converts a message to the agent of a session.
pub fn session_message(body: wire::session::SendSessionMessage) -> thread::Message {
    thread::Message { text: body.text, id: body.id }
}

/// Converts the event and the sequence of a message to the agent of a session.
pub fn session_message_receipt(said: thread::MessageReceipt) -> wire::session::SessionMessageReceipt {
    let (event_id, sequence) = (said.event_id, said.sequence);
    wire::session::SessionMessageReceipt { event_id, sequence, session: super::session(said.session) }
}

/// Converts a message of a person.
pub fn message(body: wire_thread::NewMessage) -> thread::Message {
    thread::Message { text: body.text, id: body.id }
}

/// Converts the event and the sequence of a recorded message.
pub fn message_receipt(said: thread::MessageReceipt) -> wire_thread::MessageReceipt {
    wire_thread::MessageReceipt {
        event_id: said.event_id,
        sequence: said.sequence,
        thread: thread(said.session, Some(said.turns)),
    }
}

/// Converts the body of a request that ends a conversation. Only the form of the page can use `web_end`.
pub fn ending(body: &wire_thread::EndThread) -> Result<thread::Ending, Problem> {
    let source = body.source.unwrap_or(Surface::ApiEnd);
    if source == Surface::WebEnd {
        return Err(Problem::field(Code::InvalidRequest, "source", "cli_end, cli_exit or api_end"));
    }
    Ok(thread::Ending { feedback: body.feedback, source, summary: body.summary.unwrap_or(true) })
}

/// Converts the summary of a conversation.
pub fn thread_summary(summary: thread::Summary) -> wire_thread::ThreadSummary {
    wire_thread::ThreadSummary {
        title: summary.title,
        turns: summary.turns,
        duration_ms: summary.duration_ms,
        first_request: summary.first_request,
        last_reply: summary.last_reply,
        by: summary.by,
        closing: summary.closing,
        closing_missing: summary.closing_missing,
    }
}

/// Converts a conversation that has ended.
pub fn ended(ended: thread::Ended) -> wire_thread::EndedThread {
    wire_thread::EndedThread {
        summary: ended.summary.map(thread_summary),
        thread: thread(ended.session, Some(ended.turns)),
    }
}

/// Converts the counts of what is stored.
pub fn memory_status(status: &feedback::Status) -> wire_thread::MemoryStatus {
    let session = status.session;
    wire_thread::MemoryStatus {
        thread_id: session.map(|session| session.id),
        status: session.map(|session| session.status),
        incognito: session.is_some_and(|session| session.incognito),
        turn_count: session.map_or(0, |session| session.turn_count),
        event_count: session.map_or(0, |session| session.event_count),
        session_feedback_count: status.session_feedback_count,
        own_feedback_count: status.own_feedback_count,
        ratings_missing: status.ratings_missing.map(super::ratings_missing),
        feedback_backend: status.feedback_backend.to_owned(),
    }
}

/// Converts the caller's rating. Without one both fields are null.
pub fn own_feedback(record: Option<&FeedbackRecord>) -> wire_thread::OwnFeedback {
    wire_thread::OwnFeedback {
        label: record.map(|record| record.label),
        recorded_at: record.map(|record| record.recorded_at),
    }
}
