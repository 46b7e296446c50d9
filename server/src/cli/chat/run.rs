//! Leading a conversation: one line after the other.

use super::{
    args::ChatArgs,
    ear::{Ear, Heard, Prompt},
    turn::Turn,
    words::{self, HELP, Typed},
};
use crate::{ambient::SystemEntropy, cli::run::Failure};
use client::{Backoff, Client, Error};
use domain::{Entropy as _, session_feedback::Surface};
use std::{
    collections::BTreeSet,
    future::Future,
    io::{IsTerminal as _, Write as _},
    time::Duration,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::Instant,
};
use wire::{
    Code,
    approval::ElicitationReply,
    thread::{Say, StartThread, Thread},
};

/// How long a call is tried again while the server is away.
const PATIENCE: Duration = Duration::from_secs(15);
/// Agents that are named when somebody has to choose one.
const AGENTS_NAMED: usize = 20;

/// A conversation that goes on.
pub struct Chat {
    pub(super) client: Client,
    pub(super) ear: Ear,
    pub(super) thread: Thread,
    /// Sequence of the newest event that was shown.
    pub(super) position: u64,
    /// Whether the agent asked something, so that the next line is the answer.
    pub(super) is_asked: bool,
    /// Messages that were said.
    pub(super) said: u64,
    /// What was shown of a reply that is not in the log yet.
    pub(super) spoken: String,
}

/// Talks until somebody leaves.
pub async fn run(args: ChatArgs) -> Result<(), Failure> {
    let mut chat = Chat::begin(&args).await?;
    chat.lead().await
}

impl Chat {
    async fn begin(args: &ChatArgs) -> Result<Self, Failure> {
        let client = Client::new(&args.url, &args.token).map_err(|error| Failure::Misused(error.to_string()))?;
        let me = patiently(|| client.me()).await.map_err(refused)?;
        let ear = Ear::open()?;
        let thread = match &args.thread {
            Some(id) => patiently(|| client.get_thread(id)).await.map_err(refused)?,
            None => {
                let agent = match &args.agent {
                    Some(agent) => agent.clone(),
                    None => only_agent(&client).await?,
                };
                let key = Some(format!("chat-{}", fresh_id()));
                let new =
                    StartThread { agent, incognito: args.incognito, idempotency_key: key, ..StartThread::default() };
                patiently(|| client.start_thread(&new)).await.map_err(refused)?
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
        let said = thread.turn_count.unwrap_or_default();
        Ok(Self { client, ear, position: thread.head_sequence, thread, is_asked: false, said, spoken: String::new() })
    }

    async fn lead(&mut self) -> Result<(), Failure> {
        loop {
            let line = match self.ear.hear(Prompt::Turn("you> ")).await? {
                Heard::Line(line) => line,
                Heard::Interrupted => {
                    note("/end ends the conversation. Ctrl-D leaves it open, to continue later.");
                    continue;
                }
                Heard::End => return self.leave().await,
            };
            match Typed::of(&line) {
                Typed::Nothing => {}
                Typed::Help => print(&format!("{HELP}\n"))?,
                Typed::MemoryStatus => self.show_memory().await?,
                Typed::Unknown(what) => note(&format!("{what}: there is no such command; type /help for the commands")),
                Typed::End => return self.end(Surface::CliEnd).await,
                Typed::Exit => match self.asks_to_save().await? {
                    Some(true) => return self.end(Surface::CliExit).await,
                    Some(false) => return self.end_unsaved().await,
                    None => {}
                },
                Typed::Message(text) => {
                    let text = text.to_owned();
                    if self.say(text).await? == Turn::Ended {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Says it, and shows what comes of it.
    async fn say(&mut self, text: String) -> Result<Turn, Failure> {
        // Before the message is sent: from then on Ctrl-C is about this turn, and without this it would end the program.
        let mut interrupts = signal(SignalKind::interrupt()).map_err(Failure::io("cannot listen to Ctrl-C"))?;
        let asked = if self.is_asked { self.answer(text).await } else { self.tell(text).await };
        match asked {
            Ok(sequence) => self.follow(sequence, &mut interrupts).await,
            Err(error) => {
                note(&error.to_string());
                Ok(if error.code() == Some(Code::AlreadyFinal) { Turn::Ended } else { Turn::Over })
            }
        }
    }

    async fn tell(&mut self, text: String) -> Result<u64, Error> {
        let message = Say { text, id: Some(fresh_id()) };
        let said = patiently(|| self.client.say(&self.thread.id, &message)).await?;
        self.said += 1;
        Ok(said.sequence)
    }

    /// Answers what the agent asked.
    async fn answer(&mut self, text: String) -> Result<u64, Error> {
        let content = serde_json::value::to_raw_value(&text).ok();
        let reply = ElicitationReply { action: None, content };
        self.client.reply(&self.thread.id, &reply).await?;
        self.is_asked = false;
        Ok(self.position)
    }

    async fn show_memory(&self) -> Result<(), Failure> {
        match patiently(|| self.client.memory_status(Some(&self.thread.id))).await {
            Ok(status) => print(&format!("{}\n", words::memory(&status))),
            Err(error) => {
                note(&error.to_string());
                Ok(())
            }
        }
    }

    /// Goes without ending it; one in which nothing was said leaves nothing behind.
    async fn leave(&mut self) -> Result<(), Failure> {
        if self.said == 0 {
            return self.discard().await;
        }
        note(&format!("The conversation is still open. To continue: shiftbook chat --thread {}", self.thread.id));
        Ok(())
    }
}

/// A call, tried again while the server is away.
pub(super) async fn patiently<T, F: Future<Output = client::Result<T>>>(call: impl FnMut() -> F) -> client::Result<T> {
    client::retry(Backoff::new(0), Instant::now() + PATIENCE, call).await
}

/// What the server said, as the reason to give up.
pub(super) fn refused(error: Error) -> Failure {
    Failure::BadNews(error.to_string())
}

/// The one agent that the workspace's actions name.
async fn only_agent(client: &Client) -> Result<String, Failure> {
    let mut agents = BTreeSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = patiently(|| client.list_actions(None, cursor.as_deref())).await.map_err(refused)?;
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
fn fresh_id() -> String {
    let mut random = [0; 16];
    SystemEntropy.fill(&mut random);
    uuid::Builder::from_random_bytes(random).into_uuid().to_string()
}

/// Says something that is no part of the conversation.
pub(super) fn note(text: &str) {
    let mut stderr = std::io::stderr();
    let (dim, plain) = if stderr.is_terminal() { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    // A closed stderr has nobody to tell.
    let _ = writeln!(stderr, "{dim}{}{plain}", words::harmless(text));
}

/// Writes to standard output at once; to a terminal nothing that it would obey, because agents and models say most of it.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let text = if out.is_terminal() { words::harmless(text) } else { text.to_owned() };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::io("cannot write to stdout"))
}
