//! Ends a conversation: asks for a rating, shows the summary.

use super::{
    input::{Input, Prompt},
    output::{note, print},
    run::{Chat, with_retries},
    text::{FAREWELL, RATING_QUESTION, SUMMARY_QUESTION, label, summary, wants_summary},
};
use crate::cli::common::Failure;
use domain::session_feedback::{Label, Surface};
use wire::thread::{EndThread, EndedThread};

impl Chat {
    /// Asks for a rating, ends the conversation and shows its summary.
    pub(super) async fn end(&mut self, source: Surface) -> Result<(), Failure> {
        let feedback = self.ask_for_rating().await?;
        let ended = self.finish(EndThread { feedback, source: Some(source), summary: None }).await?;
        if let Some(what) = &ended.summary {
            print(&format!("{}\n", summary(what)))?;
        }
        print(&format!("{FAREWELL}\n"))
    }

    /// Ends the conversation without a rating and without a summary.
    pub(super) async fn end_unsaved(&mut self) -> Result<(), Failure> {
        self.finish(EndThread { feedback: None, source: Some(Surface::CliExit), summary: Some(false) }).await?;
        print(&format!("{FAREWELL}\n"))
    }

    /// Ends a conversation without messages.
    pub(super) async fn discard(&mut self) -> Result<(), Failure> {
        self.finish(EndThread { feedback: None, source: None, summary: Some(false) }).await.map(drop)
    }

    async fn finish(&self, ending: EndThread) -> Result<EndedThread, Failure> {
        let ended = with_retries(|| self.client.end_thread(self.thread.id, &ending)).await;
        ended.map_err(|error| {
            let id = &self.thread.id;
            Failure::Failed(format!(
                "the conversation could not be ended: {error}\nTo continue it: shiftbook chat --thread {id}"
            ))
        })
    }

    /// Asks for a rating. Enter, Ctrl-C and the end of input give none.
    async fn ask_for_rating(&mut self) -> Result<Option<Label>, Failure> {
        loop {
            let Input::Line(answer) = self.reader.read(Prompt::Question(RATING_QUESTION)).await? else {
                return Ok(None);
            };
            match label(&answer) {
                Some(label) => return Ok(label),
                None => note("type y for yes, n for no, s to skip, or press Enter"),
            }
        }
    }

    /// Asks whether to save a summary. `None` if the person presses Ctrl-C or Ctrl-D: the conversation continues.
    pub(super) async fn ask_for_summary(&mut self) -> Result<Option<bool>, Failure> {
        loop {
            let Input::Line(answer) = self.reader.read(Prompt::Question(SUMMARY_QUESTION)).await? else {
                return Ok(None);
            };
            match wants_summary(&answer) {
                Some(wants) => return Ok(Some(wants)),
                None => note("type y for yes or n for no"),
            }
        }
    }
}
