//! Asks the model of a memory writer how well the agent continued from what was known, after the end of each session.

use super::WriterModel;
use crate::execute::chat::{Message, ModelRequest};
use domain::{id::TenantId, limit::CONTINUITY_FAILURES_MAX, relevance::read_continuity};
use ledger::{
    Error, Ledger, Result,
    relevance::{Unscored, lease_scoring, next_unscored, postpone_score, save_score},
};
use std::{sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

/// Interval between two searches for sessions to be scored.
const EVERY: Duration = Duration::from_secs(60);
/// Time for one answer. What takes longer has failed.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// Longest answer of the model, tokens.
const ANSWER_TOKENS_MAX: u32 = 1_000;

/// What became of the next session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scored {
    /// There was none.
    Nothing,
    /// It has a score, or the model gave none and would again.
    Done,
    /// The model did not answer, for this reason. It is asked again later.
    Postponed(String),
}

/// Scores the sessions of one agent.
#[derive(Debug, Clone)]
pub struct ContinuityScorer {
    /// Workspace of the agent.
    pub tenant_id: TenantId,
    /// Slug of the agent.
    pub agent: String,
    /// Tokens that the agent's writer may use on one day (UTC), those of the scores included.
    pub tokens_per_day: u64,
    /// What is asked.
    pub writer_model: Arc<WriterModel>,
}

impl ContinuityScorer {
    /// Scores sessions until `stop`. A session for which the model does not answer is tried again later, a bounded
    /// number of times, while the others go on. Nothing waits for a score.
    pub async fn work(self, ledger: Ledger, stop: CancellationToken) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            match stop.run_until_cancelled(self.score_all(&ledger)).await {
                Some(Ok(())) => {}
                Some(Err(error)) => tracing::warn!(%error, agent = self.agent, "sessions got no score of continuity"),
                None => return,
            }
        }
    }

    /// Scores what there is. After some failures in a row the model, rather than a session, is likely to be at fault.
    ///
    /// # Errors
    /// [`Error::Unavailable`] after [`CONTINUITY_FAILURES_MAX`] failures in a row; those of the database.
    pub async fn score_all(&self, ledger: &Ledger) -> Result<()> {
        let mut failures = 0;
        while lease_scoring(ledger).await? {
            match self.score_next(ledger).await? {
                Scored::Nothing => break,
                Scored::Done => failures = 0,
                Scored::Postponed(reason) => {
                    failures += 1;
                    if failures >= CONTINUITY_FAILURES_MAX {
                        return Err(Error::Unavailable(reason));
                    }
                }
            }
        }
        Ok(())
    }

    /// Scores one session.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn score_next(&self, ledger: &Ledger) -> Result<Scored> {
        let of = (self.tenant_id, self.agent.as_str());
        let next = next_unscored(ledger, of, self.tokens_per_day).await?;
        let Some(Unscored { session_id, attempts, prompt }) = next else { return Ok(Scored::Nothing) };
        let messages = vec![Message::user(prompt.user)];
        let question = ModelRequest { system: prompt.system, messages, tools: Vec::new(), reply_schema: None };
        let model = &self.writer_model.model;
        let session = (session_id, self.agent.as_str());
        let missing = match timeout(ANSWER_TIME, model.ask_once(&question, ANSWER_TOKENS_MAX)).await {
            Ok(Ok(reply)) => {
                let tokens = reply.tokens.map_or(0, |tokens| tokens.input.saturating_add(tokens.output));
                let score = (read_continuity(&reply.text), model.name());
                save_score(ledger, self.tenant_id, session, score, tokens).await?;
                return Ok(Scored::Done);
            }
            Ok(Err(failure)) if failure.code == "model_unavailable" => failure.message,
            // The model refuses this session, and would again.
            Ok(Err(_)) => {
                save_score(ledger, self.tenant_id, session, (None, model.name()), 0).await?;
                return Ok(Scored::Done);
            }
            Err(_) => "the model took too long".to_owned(),
        };
        postpone_score(ledger, self.tenant_id, session, (attempts, model.name())).await?;
        Ok(Scored::Postponed(missing))
    }
}
