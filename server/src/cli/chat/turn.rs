//! Shows one turn of the agent while it happens.

use super::{
    output::{note, print},
    run::{Chat, TurnEnd, with_retries},
};
use crate::cli::common::Failure;
use client::{EventRange, EventStream, StreamItem};
use domain::{
    event::{
        Body, Known,
        kind::{AgentMessage, AgentToolCall},
    },
    session::Status,
};
use std::io::IsTerminal as _;
use tokio::{select, signal::unix::Signal};
use wire::{Code, event::Event, worker::Delta};

/// Events of this kind that are read to find the open question. Behind it there may be reminders.
const WAITING_READ: u32 = 10;

impl Chat {
    /// Shows the events of `stream`, which begins at the current position, until the turn that began at `asked` is
    /// over. Ctrl-C stops the turn; `interrupts` has been registered before the message was sent, so no Ctrl-C is
    /// missed.
    pub(super) async fn follow(
        &mut self,
        mut stream: EventStream,
        asked: u64,
        interrupts: &mut Signal,
    ) -> Result<TurnEnd, Failure> {
        loop {
            let item = select! {
                item = stream.next_item() => item,
                _ = interrupts.recv() => {
                    self.end_partial_reply()?;
                    self.interrupt().await;
                    return Ok(TurnEnd::Open);
                }
            };
            match item {
                Ok(Some(StreamItem::Delta(delta))) => self.show_delta(&delta)?,
                Ok(Some(StreamItem::Progress(_))) => {}
                Ok(Some(StreamItem::Event(event))) => {
                    self.position = event.sequence;
                    if let Some(over) = self.show(&event, asked)? {
                        self.end_partial_reply()?;
                        return Ok(over);
                    }
                }
                Ok(None) => {
                    self.end_partial_reply()?;
                    return Ok(TurnEnd::ConversationEnded);
                }
                Err(error) => {
                    self.end_partial_reply()?;
                    note(&format!("{error}; your next line continues the conversation"));
                    return Ok(TurnEnd::Open);
                }
            }
        }
    }

    /// Shows the question at which the conversation waits, if it was asked before the current position.
    pub(super) async fn show_question(&mut self) -> Result<(), Failure> {
        let range = EventRange {
            before_sequence: Some(self.position.saturating_add(1)),
            event_types: vec![Known::SessionWaitingApproval.as_str().to_owned()],
            limit: Some(WAITING_READ),
            ..EventRange::default()
        };
        let read = with_retries(|| self.client.events(self.thread.id, &range)).await;
        match read {
            Ok(read) => {
                if let Some(question) = read.events.iter().rfind(|event| is_question(event)) {
                    self.show(question, self.position)?;
                }
            }
            Err(error) => note(&error.to_string()),
        }
        note("The agent waits for an answer. Your next line is the answer.");
        Ok(())
    }

    /// Stops the turn; the conversation stays open.
    async fn interrupt(&self) {
        match with_retries(|| self.client.interrupt_thread(self.thread.id)).await {
            Ok(_) => note("Stopped. Type a message to continue."),
            Err(error) if error.code() == Some(Code::WrongStatus) => {
                note("No longer waiting. The turn is still queued. The agent answers it together with what you add.");
            }
            Err(error) => note(&error.to_string()),
        }
    }

    /// Shows one event. Returns how the turn ended if the event ends it.
    fn show(&mut self, event: &Event, asked: u64) -> Result<Option<TurnEnd>, Failure> {
        match event.body() {
            Body::AgentMessage(message) => self.show_reply(&message)?,
            Body::AgentToolCall(AgentToolCall(calls)) => {
                let name = calls.into_iter().next().and_then(|call| call.name);
                note(&format!("· {}", name.as_deref().unwrap_or("a tool")));
            }
            Body::SessionError(error) => note(&format!("The turn failed: {}", error.message.unwrap_or_default())),
            Body::SessionWaitingApproval(waiting) => match waiting.question() {
                Some(question) => print(&format!("{question}\n"))?,
                None => {
                    let inbox = self.client.base_url();
                    note(&format!("Waiting for approval: {} ({inbox}/inbox)", waiting.text.unwrap_or_default()));
                }
            },
            Body::SessionStatusChange(change) if event.sequence > asked => return Ok(self.turn_end(change.to)),
            _ => {}
        }
        Ok(None)
    }

    /// The agent's name before a reply, on terminals only.
    fn agent_prefix(&self) -> String {
        let agent = self.thread.agent_slug.as_deref().filter(|_| std::io::stdout().is_terminal());
        agent.map(|agent| format!("{agent}> ")).unwrap_or_default()
    }

    /// Shows a piece of an unfinished reply, on terminals only: a program that reads the output gets whole replies.
    fn show_delta(&mut self, delta: &Delta) -> Result<(), Failure> {
        if !std::io::stdout().is_terminal() {
            return Ok(());
        }
        if delta.offset == 0 {
            // The model was asked again, so the reply starts again.
            self.end_partial_reply()?;
            print(&self.agent_prefix())?;
        } else if delta.offset != self.partial_reply.len() as u64 {
            // A piece is missing: the rest is shown with the whole reply.
            return Ok(());
        }
        self.partial_reply.push_str(&delta.text);
        print(&delta.text)
    }

    /// Ends the line of a reply that was not completed.
    fn end_partial_reply(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.partial_reply).is_empty() { Ok(()) } else { print("\n") }
    }

    /// Shows a reply, or one part of a long reply, without the text that is already shown.
    fn show_reply(&mut self, message: &AgentMessage) -> Result<(), Failure> {
        let text = message.text.as_deref().unwrap_or_default();
        let end = if message.ends() { "\n" } else { "" };
        let shown = std::mem::take(&mut self.partial_reply);
        if !shown.is_empty() {
            if let Some(rest) = text.strip_prefix(shown.as_str()) {
                return print(&format!("{rest}{end}"));
            }
            if let Some(rest) = shown.strip_prefix(text) {
                self.partial_reply = rest.to_owned();
                return print(end);
            }
            print("\n")?;
        }
        let who = if message.continues() { String::new() } else { self.agent_prefix() };
        print(&format!("{who}{text}{end}"))
    }

    fn turn_end(&mut self, to: Status) -> Option<TurnEnd> {
        match to {
            Status::Idle => Some(TurnEnd::Open),
            Status::WaitingHuman => {
                self.has_question = true;
                Some(TurnEnd::Open)
            }
            Status::Completed | Status::Failed | Status::Abandoned | Status::Expired => {
                note(&format!("The conversation has ended: it is {to}."));
                Some(TurnEnd::ConversationEnded)
            }
            Status::Draft | Status::Pending | Status::Running | Status::AwaitingTool => None,
        }
    }
}

fn is_question(event: &Event) -> bool {
    matches!(event.body(), Body::SessionWaitingApproval(waiting) if waiting.is_question())
}
