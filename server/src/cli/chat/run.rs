//! The main loop of a conversation: reads a line, sends it, shows the turn.

use super::{
    args::ChatArgs,
    input::{Input, LineReader, Prompt},
    output::{note, print},
    text::{self, TYPING, Typed},
};
use crate::{ambient::SystemEntropy, cli::common::Failure};
use client::{Backoff, Client, Error};
use domain::{Entropy as _, id::EventId, session::Status, session_feedback::Surface};
use std::{collections::BTreeSet, future::Future, time::Duration};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::Instant,
};
use wire::{
    Code,
    approval::ElicitationReply,
    thread::{NewMessage, StartThread, Thread},
};

/// Time for which a call is repeated while the server cannot be reached.
const RETRY_TIME: Duration = Duration::from_secs(15);
/// Agents that the error lists if several are possible.
const AGENTS_NAMED: usize = 20;

/// State of the conversation after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The person can send the next message.
    Open,
    /// No more messages can be sent.
    ConversationEnded,
}

/// An open conversation.
pub struct Chat {
    pub(super) client: Client,
    pub(super) reader: LineReader,
    pub(super) thread: Thread,
    /// Sequence of the newest event that was shown.
    pub(super) position: u64,
    /// Whether the agent asked a question: the next line is its answer.
    pub(super) has_question: bool,
    /// Messages of the person so far.
    pub(super) message_count: u64,
    /// The text that is already shown of a reply that is not in the log yet.
    pub(super) partial_reply: String,
}

/// Runs the command until the person leaves or the conversation ends.
pub async fn run(args: ChatArgs) -> Result<(), Failure> {
    let mut chat = Chat::begin(&args).await?;
    chat.read_lines().await
}

impl Chat {
    async fn begin(args: &ChatArgs) -> Result<Self, Failure> {
        let client = Client::new(&args.url, &args.token).map_err(|error| Failure::Misused(error.to_string()))?;
        let me = with_retries(|| client.me()).await.map_err(refused)?;
        let reader = LineReader::open()?;
        let thread = match args.thread {
            Some(id) => with_retries(|| client.get_thread(id)).await.map_err(refused)?,
            None => {
                let agent = match &args.agent {
                    Some(agent) => agent.clone(),
                    None => only_agent(&client).await?,
                };
                let key = Some(format!("chat-{}", fresh_id()));
                let new =
                    StartThread { agent, incognito: args.incognito, idempotency_key: key, ..StartThread::default() };
                with_retries(|| client.start_thread(&new)).await.map_err(refused)?
            }
        };
        if thread.status.is_final() {
            return Err(Failure::Misused(format!("conversation {} has ended: it is {}", thread.id, thread.status)));
        }
        let agent = thread.agent_slug.as_deref().unwrap_or("an agent");
        note(&format!(
            "Chatting with {agent} in {} at {}. Type /help for the commands.",
            me.tenant.slug,
            client.base_url()
        ));
        if thread.incognito {
            note(
                "Incognito: only this token can see the conversation, and a rating is kept only in the server's memory. The log \
                 is in the database until retention erases it. The agent receives what you write, and reviewers see what the \
                 agent asks them to approve.",
            );
        }
        let message_count = thread.turn_count.unwrap_or_default();
        let mut chat = Self {
            client,
            reader,
            position: thread.head_sequence,
            has_question: thread.status == Status::WaitingHuman,
            thread,
            message_count,
            partial_reply: String::new(),
        };
        if chat.has_question {
            chat.show_question().await?;
        }
        Ok(chat)
    }

    async fn read_lines(&mut self) -> Result<(), Failure> {
        loop {
            let line = match self.reader.read(Prompt::Turn("you> ")).await? {
                Input::Line(line) => line,
                Input::Interrupted => {
                    note("/end ends the conversation. Ctrl-D leaves it open, to continue later.");
                    continue;
                }
                Input::End => return self.leave().await,
            };
            match Typed::of(&line) {
                Typed::Nothing => {}
                Typed::Help => print(&format!("{TYPING}\n"))?,
                Typed::MemoryStatus => self.show_memory().await?,
                Typed::Unknown(what) => note(&format!("{what}: there is no such command; type /help for the commands")),
                Typed::End => return self.end(Surface::CliEnd).await,
                Typed::Exit => match self.ask_for_summary().await? {
                    Some(true) => return self.end(Surface::CliExit).await,
                    Some(false) => return self.end_unsaved().await,
                    None => {}
                },
                Typed::Message(text) => {
                    let text = text.to_owned();
                    if self.run_turn(text).await? == TurnEnd::ConversationEnded {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Sends a message or an answer and shows the agent's turn.
    async fn run_turn(&mut self, text: String) -> Result<TurnEnd, Failure> {
        // Registered before the message is sent: from then on Ctrl-C stops the turn. Before, it would end the program.
        let mut interrupts = signal(SignalKind::interrupt()).map_err(Failure::io("cannot listen to Ctrl-C"))?;
        // Connected before the message is sent: pieces of a reply are not repeated to a stream that opens later.
        let mut stream = self.client.stream(self.thread.id, self.position);
        if let Err(error) = stream.connect().await {
            tracing::debug!(%error, "the stream is opened again after the message is sent");
        }
        let mut asked = self.deliver(text.clone()).await;
        let refused = matches!(&asked, Err(error) if error.code() == Some(Code::WrongStatus));
        let now = if refused { with_retries(|| self.client.get_thread(self.thread.id)).await.ok() } else { None };
        match (self.has_question, now.map(|thread| (thread.status == Status::WaitingHuman, thread.head_sequence))) {
            // Someone else answered, it expired, or the response to the answer was lost.
            (true, Some((false, _))) => {
                note("The question is no longer open. Your line is sent as a message.");
                self.has_question = false;
                asked = self.deliver(text).await;
            }
            // A question that the person has not seen is not answered with a line that was meant for something else.
            (false, Some((true, head))) => {
                note("Your line was not sent: the agent has asked a question. Your next line is the answer.");
                self.has_question = true;
                if head > self.position {
                    return self.follow(stream, self.position, &mut interrupts).await;
                }
                return Ok(TurnEnd::Open);
            }
            _ => {}
        }
        match asked {
            Ok(sequence) => self.follow(stream, sequence, &mut interrupts).await,
            Err(error) => {
                note(&error.to_string());
                Ok(if error.code() == Some(Code::AlreadyFinal) { TurnEnd::ConversationEnded } else { TurnEnd::Open })
            }
        }
    }

    /// Sends a line as the answer to the open question, or else as a message. Returns the sequence after which the turn
    /// begins.
    async fn deliver(&mut self, text: String) -> Result<u64, Error> {
        if self.has_question { self.answer(text).await } else { self.send(text).await }
    }

    async fn send(&mut self, text: String) -> Result<u64, Error> {
        let message = NewMessage { text, id: Some(EventId(fresh_id())), author: None };
        let said = with_retries(|| self.client.send_message(self.thread.id, &message)).await?;
        self.message_count += 1;
        Ok(said.sequence)
    }

    /// Answers the agent's question.
    async fn answer(&mut self, text: String) -> Result<u64, Error> {
        let content = serde_json::value::to_raw_value(&text).ok();
        let reply = ElicitationReply { action: None, content, request_id: None };
        let answered = self.client.reply(self.thread.id, &reply).await?;
        self.has_question = false;
        Ok(answered.head_sequence)
    }

    async fn show_memory(&self) -> Result<(), Failure> {
        match with_retries(|| self.client.memory_status(Some(self.thread.id))).await {
            Ok(status) => print(&format!("{}\n", text::memory(&status))),
            Err(error) => {
                note(&error.to_string());
                Ok(())
            }
        }
    }

    /// Leaves the conversation open. A conversation without messages is ended instead.
    async fn leave(&mut self) -> Result<(), Failure> {
        if self.message_count == 0 {
            return self.discard().await;
        }
        note(&format!("The conversation is still open. To continue: shiftbook chat --thread {}", self.thread.id));
        Ok(())
    }
}

/// Repeats a call while the server cannot be reached, for at most [`RETRY_TIME`].
pub(super) async fn with_retries<T, F: Future<Output = client::Result<T>>>(
    call: impl FnMut() -> F,
) -> client::Result<T> {
    client::retry(Backoff::new(0), Instant::now() + RETRY_TIME, call).await
}

/// A refusal of the server as the command's failure.
pub(super) fn refused(error: Error) -> Failure {
    Failure::Failed(error.to_string())
}

/// The only agent that the workspace's tasks name.
///
/// # Errors
/// If they name none or several.
async fn only_agent(client: &Client) -> Result<String, Failure> {
    let mut agents = BTreeSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = with_retries(|| client.list_actions(None, cursor.as_deref())).await.map_err(refused)?;
        agents.extend(page.items.into_iter().filter_map(|action| action.agent_slug));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    match agents.len() {
        1 => Ok(agents.into_iter().next().unwrap_or_default()),
        0 => Err(Failure::Misused("no task of this workspace names an agent: add --agent SLUG".into())),
        _ => {
            let named: Vec<_> = agents.into_iter().take(AGENTS_NAMED).collect();
            Err(Failure::Misused(format!("several agents are possible; add --agent {}", named.join(" | "))))
        }
    }
}

/// A random UUID.
fn fresh_id() -> uuid::Uuid {
    let mut random = [0; 16];
    SystemEntropy.fill(&mut random);
    uuid::Builder::from_random_bytes(random).into_uuid()
}
