//! Claims of a lane. Claims with the same terms share a statement, and the claimed sessions are distributed
//! in the order of the claims.

use super::{PostgresLane, connection};
use crate::{
    engine::{Access, Error, LaneSpan, Result, with_timeout},
    event::{Head, publish},
    session::FirstClaim,
    writer::job::WaitingClaim,
};
use domain::session::Session;
use tokio::sync::oneshot;
use tracing::{Instrument as _, Span};

/// A claim that waits for its share.
struct Waiting {
    /// How many sessions it wants at most.
    wanted: usize,
    reply: oneshot::Sender<Result<Option<Vec<Session>>>>,
    span: LaneSpan,
}

impl Waiting {
    fn answer(self, answer: Result<Option<Vec<Session>>>) {
        // The span ends before that of the use case, which goes on with the answer.
        drop(self.span);
        // Sending fails when the client went away. Its lease then expires.
        let _ = self.reply.send(answer);
    }
}

/// Claims that share a statement.
struct Shared {
    access: Access,
    claim: FirstClaim,
    waiting: Vec<Waiting>,
}

impl Shared {
    /// The same claims with a statement each.
    fn apart(self) -> Vec<Self> {
        let Self { access, claim, waiting } = self;
        let mut events = claim.events.into_iter();
        let one = |waiting: Waiting| {
            let events = events.by_ref().take(waiting.wanted).collect();
            let claim = FirstClaim { terms: claim.terms.clone(), at: claim.at, events };
            Self { access, claim, waiting: vec![waiting] }
        };
        waiting.into_iter().map(one).collect()
    }
}

impl PostgresLane {
    pub(super) async fn claim(&mut self, claims: Vec<WaitingClaim>) {
        let mut statements: Vec<Shared> = Vec::new();
        for WaitingClaim { access, claim, reply, span } in claims {
            // No session is claimed for a client that went away.
            if reply.is_closed() {
                continue;
            }
            let waiting = Waiting { wanted: claim.events.len(), reply, span };
            match statements.iter_mut().find(|s| s.access == access && s.claim.can_merge(&claim)) {
                Some(statement) => {
                    statement.claim.merge(claim);
                    statement.waiting.push(waiting);
                }
                None => statements.push(Shared { access, claim, waiting: vec![waiting] }),
            }
        }
        for statement in statements {
            if let Some(refused) = self.claim_together(statement).await {
                for one in refused.apart() {
                    self.claim_together(one).await;
                }
            }
        }
    }

    /// Claims and answers. Returns the claims if the database refused one of several, so that each is tried alone.
    async fn claim_together(&mut self, shared: Shared) -> Option<Shared> {
        let taken = match connection(&self.pool, &mut self.connection).await {
            Ok(connection) => {
                let span = shared.waiting.first().map_or_else(Span::none, |first| first.span.span());
                let claim = shared.claim.execute(connection, shared.access).instrument(span);
                with_timeout(claim).await.and_then(|taken| taken)
            }
            Err(error) => Err(error),
        };
        // Other errors may come after the statement was committed; another one would claim more sessions then.
        if let Err(error @ Error::Database(_)) = &taken
            && shared.waiting.len() > 1
        {
            tracing::warn!(%error, claims = shared.waiting.len(), "claims are tried one by one");
            return Some(shared);
        }
        let Shared { waiting, .. } = shared;
        match taken {
            Ok(Some(taken)) => {
                self.counters.count(taken.len());
                // The worker is likely to append to the session next.
                for (session, _) in &taken {
                    self.heads.insert(&Head::of(session));
                }
                let (sessions, notices): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
                publish(&self.notices, Some(&self.notifier), notices);
                let mut sessions = sessions.into_iter();
                for one in waiting {
                    let share = sessions.by_ref().take(one.wanted).collect();
                    one.answer(Ok(Some(share)));
                }
            }
            Ok(None) => {
                for one in waiting {
                    one.answer(Ok(None));
                }
            }
            Err(error) => {
                self.discard_connection();
                tracing::error!(%error, claims = waiting.len(), "claims failed");
                for one in waiting {
                    one.answer(Err(error.clone()));
                }
            }
        }
        None
    }
}
