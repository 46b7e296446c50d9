//! One turn: what the agent says and does, as it happens.

use super::run::{Chat, note, patiently, print};
use crate::cli::run::Failure;
use client::StreamItem;
use domain::thread::text_of;
use serde_json::Value;
use std::io::IsTerminal as _;
use tokio::{select, signal::unix::Signal};
use wire::{Code, event::Event, worker::Delta};

/// How a turn ended for whoever waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The person speaks next.
    Over,
    /// The conversation has ended.
    Ended,
}

impl Chat {
    /// Shows the log from where it was shown to, until the turn that began at `asked` is over. Ctrl-C stops the turn:
    /// `interrupts` hears it also while an event is being shown, and has heard it since the message was sent.
    pub(super) async fn follow(&mut self, asked: u64, interrupts: &mut Signal) -> Result<Turn, Failure> {
        let mut stream = self.client.stream(&self.thread.id, self.position);
        loop {
            let heard = select! {
                heard = stream.next_item() => heard,
                _ = interrupts.recv() => {
                    self.break_off()?;
                    self.interrupt().await;
                    return Ok(Turn::Over);
                }
            };
            match heard {
                Ok(Some(StreamItem::Delta(delta))) => self.show_piece(&delta)?,
                Ok(Some(StreamItem::Event(event))) => {
                    self.position = event.sequence;
                    if let Some(over) = self.show(&event, asked)? {
                        self.break_off()?;
                        return Ok(over);
                    }
                }
                Ok(None) => {
                    self.break_off()?;
                    return Ok(Turn::Ended);
                }
                Err(error) => {
                    self.break_off()?;
                    note(&format!("{error}; your next line continues the conversation"));
                    return Ok(Turn::Over);
                }
            }
        }
    }

    /// Stops the turn, so that the conversation goes on.
    async fn interrupt(&self) {
        match patiently(|| self.client.interrupt_thread(&self.thread.id)).await {
            Ok(_) => note("Stopped. Type a message to continue."),
            Err(error) if error.code() == Some(Code::WrongStatus) => {
                note("No longer waiting. The turn is still queued. The agent answers it together with what you add.");
            }
            Err(error) => note(&error.to_string()),
        }
    }

    /// Shows one event; whether it ends the turn.
    fn show(&mut self, event: &Event, asked: u64) -> Result<Option<Turn>, Failure> {
        let text = text_of(event.content.get());
        let metadata: Value = serde_json::from_str(event.metadata.get()).unwrap_or_default();
        match event.kind.as_str() {
            "agent.message" => self.show_reply(&text, &metadata)?,
            "agent.tool_call" => {
                let parts: Value = serde_json::from_str(event.content.get()).unwrap_or_default();
                note(&format!("· {}", parts[0]["toolName"].as_str().unwrap_or("a tool")));
            }
            "session.error" => note(&format!("The turn failed: {text}")),
            "session.waiting_approval" => {
                if metadata["kind"] == "question" {
                    // The event's own text may be cut: it is a title.
                    let whole = metadata["task"]["question"]["message"].as_str().unwrap_or(&text);
                    print(&format!("{whole}\n"))?;
                } else {
                    let inbox = self.client.base_url();
                    note(&format!("Waiting for approval: {text} ({inbox}/inbox)"));
                }
            }
            "session.status_change" if event.sequence > asked => {
                return Ok(self.changed(metadata["to"].as_str().unwrap_or_default()));
            }
            _ => {}
        }
        Ok(None)
    }

    /// The name before a reply, on a terminal.
    fn speaker(&self) -> String {
        let agent = self.thread.agent_slug.as_deref().filter(|_| std::io::stdout().is_terminal());
        agent.map(|agent| format!("{agent}> ")).unwrap_or_default()
    }

    /// Shows what the agent is in the middle of saying. A program that reads along is given whole replies alone.
    fn show_piece(&mut self, delta: &Delta) -> Result<(), Failure> {
        if !std::io::stdout().is_terminal() {
            return Ok(());
        }
        if delta.offset == 0 {
            // It begins anew where a try of it failed.
            self.break_off()?;
            print(&self.speaker())?;
        } else if delta.offset != self.spoken.len() as u64 {
            // A piece is missing: the rest comes with the whole.
            return Ok(());
        }
        self.spoken.push_str(&delta.text);
        print(&delta.text)
    }

    /// Ends the line of a reply that never came to its end.
    fn break_off(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.spoken).is_empty() { Ok(()) } else { print("\n") }
    }

    /// A long reply comes in parts: one line break stands behind the last of them. What was shown is not shown again.
    fn show_reply(&mut self, text: &str, metadata: &Value) -> Result<(), Failure> {
        let begins = metadata["part"].as_u64().is_none_or(|part| part == 1);
        let ends = metadata["lastPart"].as_bool().unwrap_or(true);
        let end = if ends { "\n" } else { "" };
        let shown = std::mem::take(&mut self.spoken);
        if !shown.is_empty() {
            if let Some(rest) = text.strip_prefix(shown.as_str()) {
                return print(&format!("{rest}{end}"));
            }
            if let Some(rest) = shown.strip_prefix(text) {
                self.spoken = rest.to_owned();
                return print(end);
            }
            print("\n")?;
        }
        let who = if begins { self.speaker() } else { String::new() };
        print(&format!("{who}{text}{end}"))
    }

    fn changed(&mut self, to: &str) -> Option<Turn> {
        match to {
            "idle" => Some(Turn::Over),
            "waiting_human" => {
                self.is_asked = true;
                Some(Turn::Over)
            }
            "completed" | "failed" | "abandoned" | "expired" => {
                note(&format!("The conversation has ended: it is {to}."));
                Some(Turn::Ended)
            }
            _ => None,
        }
    }
}
