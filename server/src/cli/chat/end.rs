//! Ending a conversation: the question, the rating, the summary, goodbye.

use super::{
    ear::{Heard, Prompt},
    run::{Chat, note, patiently, print},
    words::{FAREWELL, QUESTION, SAVE, label, summary, wants_summary},
};
use crate::cli::run::Failure;
use domain::session_feedback::{Label, Surface};
use wire::thread::{EndThread, EndedThread};

impl Chat {
    /// Asks, rates, sums up, and says goodbye.
    pub(super) async fn end(&mut self, source: Surface) -> Result<(), Failure> {
        let feedback = self.asks_for_feedback().await?;
        let ended = self.finish(EndThread { feedback, source: Some(source), summary: None }).await?;
        if let Some(what) = &ended.summary {
            print(&format!("{}\n", summary(what)))?;
        }
        print(&format!("{FAREWELL}\n"))
    }

    /// Ends it without a question and without a summary.
    pub(super) async fn end_unsaved(&mut self) -> Result<(), Failure> {
        self.finish(EndThread { feedback: None, source: Some(Surface::CliExit), summary: Some(false) }).await?;
        print(&format!("{FAREWELL}\n"))
    }

    /// Ends a conversation in which nothing was said.
    pub(super) async fn discard(&mut self) -> Result<(), Failure> {
        self.finish(EndThread { feedback: None, source: None, summary: Some(false) }).await.map(drop)
    }

    async fn finish(&self, ending: EndThread) -> Result<EndedThread, Failure> {
        let ended = patiently(|| self.client.end_thread(&self.thread.id, &ending)).await;
        ended.map_err(|error| {
            let id = &self.thread.id;
            Failure::BadNews(format!(
                "the conversation could not be ended: {error}\nTo continue it: shiftbook chat --thread {id}"
            ))
        })
    }

    /// What the person says of it. Enter, Ctrl-C and the end of input say nothing.
    async fn asks_for_feedback(&mut self) -> Result<Option<Label>, Failure> {
        loop {
            let Heard::Line(answer) = self.ear.hear(Prompt::Question(QUESTION)).await? else { return Ok(None) };
            match label(&answer) {
                Some(label) => return Ok(label),
                None => note("type y for yes, n for no, s to skip, or press Enter"),
            }
        }
    }

    /// Whether a summary is to be saved; `None` where somebody thinks better of leaving.
    pub(super) async fn asks_to_save(&mut self) -> Result<Option<bool>, Failure> {
        loop {
            let Heard::Line(answer) = self.ear.hear(Prompt::Question(SAVE)).await? else { return Ok(None) };
            match wants_summary(&answer) {
                Some(wants) => return Ok(Some(wants)),
                None => note("type y for yes or n for no"),
            }
        }
    }
}
