//! Bounds of a model's answer while it arrives: its size, and the time that reading it takes.
//!
//! The crate `genai` puts the lines of an answer together before it parses them, and goes through a line from its
//! beginning with every part that arrives. So a line of many megabytes keeps a processor busy for minutes. The time
//! spent in the crate between two events shows that, however large the line is.

use super::super::limit;
use futures_util::Stream;
use genai::{Error, Result, chat::ChatStreamEvent};
use std::{
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

/// The events of an answer, which end with an error at a bound.
pub(super) struct Bounded<S> {
    events: S,
    /// Text and reasoning so far, bytes.
    bytes: usize,
    /// Time spent on the event that is being read.
    busy: Duration,
}

impl<S> Bounded<S> {
    /// Bounds the events of one answer.
    pub(super) const fn new(events: S) -> Self {
        Self { events, bytes: 0, busy: Duration::ZERO }
    }

    /// Counts an event. Returns why the answer is not read any further.
    fn count(&mut self, event: &ChatStreamEvent) -> Option<Error> {
        self.busy = Duration::ZERO;
        let size = match event {
            ChatStreamEvent::Chunk(chunk) | ChatStreamEvent::ReasoningChunk(chunk) => {
                self.bytes += chunk.content.len();
                self.bytes
            }
            // An event repeats what came before it of the same call.
            ChatStreamEvent::ToolCallChunk(chunk) => {
                self.bytes + chunk.tool_call.fn_arguments.as_str().map_or(0, str::len)
            }
            _ => 0,
        };
        let most = limit::MODEL_REPLY_BYTES_MAX;
        (size > most).then(|| Error::Internal(format!("its answer has more than {most} bytes")))
    }

    /// Counts time spent without an event. Returns why the answer is not read any further.
    fn spend(&mut self, time: Duration) -> Option<Error> {
        self.busy += time;
        let most = limit::MODEL_LINE_BUSY_MAX;
        let is_over = self.busy > most;
        is_over.then(|| Error::Internal(format!("reading one line of its answer took more than {} s", most.as_secs())))
    }
}

impl<S: Stream<Item = Result<ChatStreamEvent>> + Unpin> Stream for Bounded<S> {
    type Item = Result<ChatStreamEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let started = Instant::now();
        let polled = Pin::new(&mut self.events).poll_next(context);
        let over = match &polled {
            Poll::Ready(Some(Ok(event))) => self.count(event),
            Poll::Ready(_) => None,
            Poll::Pending => self.spend(started.elapsed()),
        };
        match over {
            Some(error) => Poll::Ready(Some(Err(error))),
            None => polled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{StreamExt as _, stream};
    use genai::chat::{StreamChunk, ToolCall, ToolChunk};
    use serde_json::Value;

    fn text(bytes: usize) -> Result<ChatStreamEvent> {
        Ok(ChatStreamEvent::Chunk(StreamChunk { content: "x".repeat(bytes) }))
    }

    fn call(bytes: usize) -> Result<ChatStreamEvent> {
        let tool_call = ToolCall {
            call_id: "c".into(),
            fn_name: "note".into(),
            fn_arguments: Value::String("x".repeat(bytes)),
            thought_signatures: None,
        };
        Ok(ChatStreamEvent::ToolCallChunk(ToolChunk { tool_call }))
    }

    async fn refused(events: Vec<Result<ChatStreamEvent>>) -> Option<String> {
        let mut bounded = Bounded::new(stream::iter(events));
        while let Some(event) = bounded.next().await {
            if let Err(error) = event {
                return Some(error.to_string());
            }
        }
        None
    }

    #[tokio::test]
    async fn an_answer_ends_at_the_bound_of_its_size() {
        let half = limit::MODEL_REPLY_BYTES_MAX / 2;
        assert_eq!(refused(vec![text(half), text(half)]).await, None);
        assert!(refused(vec![text(half), text(half), text(1)]).await.unwrap().contains("bytes"));
        // The arguments of a call arrive again and again, each time with more of them.
        assert_eq!(refused(vec![call(half), call(half + 1), call(half + 2)]).await, None);
        assert!(refused(vec![text(half), call(half + 1)]).await.unwrap().contains("bytes"));
    }

    #[test]
    fn an_answer_ends_when_one_line_takes_too_long_to_read() {
        let mut bounded = Bounded::new(());
        let most = limit::MODEL_LINE_BUSY_MAX;
        assert!(bounded.spend(most).is_none());
        assert!(bounded.spend(Duration::from_millis(1)).unwrap().to_string().contains("one line"));
        assert!(bounded.count(&ChatStreamEvent::Start).is_none());
        assert!(bounded.spend(most).is_none(), "the next line begins anew");
    }
}
