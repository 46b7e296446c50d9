//! One turn: what the agent says and does, as it happens.

use super::run::{Chat, note, patiently, print};
use crate::cli::run::Failure;
use domain::thread::text_of;
use serde_json::Value;
use std::io::IsTerminal as _;
use tokio::{select, signal::ctrl_c};
use wire::{Code, event::Event};

/// How a turn ended for whoever waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The person speaks next.
    Over,
    /// The conversation has ended.
    Ended,
}

impl Chat {
    /// Shows the log from where it was shown to, until the turn that began at `asked` is over. Ctrl-C stops the turn.
    pub(super) async fn follow(&mut self, asked: u64) -> Result<Turn, Failure> {
        let mut stream = self.client.stream(&self.thread.id, self.position);
        loop {
            let event = select! {
                event = stream.next() => event,
                _ = ctrl_c() => {
                    self.interrupt().await;
                    return Ok(Turn::Over);
                }
            };
            match event {
                Ok(Some(event)) => {
                    self.position = event.sequence;
                    if let Some(over) = self.show(&event, asked)? {
                        return Ok(over);
                    }
                }
                Ok(None) => return Ok(Turn::Ended),
                Err(error) => {
                    note(&format!("{error}; the conversation goes on with your next line"));
                    return Ok(Turn::Over);
                }
            }
        }
    }

    /// Stops the turn, so that the conversation goes on.
    async fn interrupt(&self) {
        match patiently(|| self.client.interrupt_thread(&self.thread.id)).await {
            Ok(_) => note("Stopped. Say how to go on."),
            Err(error) if error.code() == Some(Code::WrongStatus) => {
                note("No longer waiting. The turn is still queued: what you add is answered with it.");
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
                    note(&format!("Waiting for a person's approval: {text} ({inbox}/inbox)"));
                }
            }
            "session.status_change" if event.sequence > asked => {
                return Ok(self.changed(metadata["to"].as_str().unwrap_or_default()));
            }
            _ => {}
        }
        Ok(None)
    }

    /// A long reply comes in parts: one line break stands behind the last of them.
    fn show_reply(&self, text: &str, metadata: &Value) -> Result<(), Failure> {
        let begins = metadata["part"].as_u64().is_none_or(|part| part == 1);
        let ends = metadata["lastPart"].as_bool().unwrap_or(true);
        let who = match &self.thread.agent_slug {
            Some(agent) if begins && std::io::stdout().is_terminal() => format!("{agent}> "),
            _ => String::new(),
        };
        print(&format!("{who}{text}{}", if ends { "\n" } else { "" }))
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
