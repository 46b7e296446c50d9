//! Claims of a lane. Claims with the same terms share a statement, and the claimed sessions are distributed
//! in the order of the claims.

use super::{PostgresLane, connection};
use crate::{
    engine::{Access, Error, Result, with_timeout},
    event::{Head, publish},
    session::FirstClaim,
    writer::job::WaitingClaim,
};
use domain::session::Session;
use tokio::sync::oneshot;

type Reply = oneshot::Sender<Result<Option<Vec<Session>>>>;

/// Claims that share a statement.
struct Shared {
    access: Access,
    claim: FirstClaim,
    /// How many sessions each claim wants at most, and the channel for its answer.
    waiting: Vec<(usize, Reply)>,
}

impl Shared {
    /// The same claims with a statement each.
    fn apart(self) -> Vec<Self> {
        let Self { access, claim, waiting } = self;
        let mut events = claim.events.into_iter();
        let one = |(wanted, reply): (usize, Reply)| {
            let events = events.by_ref().take(wanted).collect();
            let claim = FirstClaim { terms: claim.terms.clone(), at: claim.at, events };
            Self { access, claim, waiting: vec![(wanted, reply)] }
        };
        waiting.into_iter().map(one).collect()
    }
}

impl PostgresLane {
    pub(super) async fn claim(&mut self, claims: Vec<WaitingClaim>) {
        let mut statements: Vec<Shared> = Vec::new();
        for WaitingClaim { access, claim, reply } in claims {
            // No session is claimed for a client that went away.
            if reply.is_closed() {
                continue;
            }
            let wanted = claim.events.len();
            match statements.iter_mut().find(|s| s.access == access && s.claim.can_merge(&claim)) {
                Some(statement) => {
                    statement.claim.merge(claim);
                    statement.waiting.push((wanted, reply));
                }
                None => statements.push(Shared { access, claim, waiting: vec![(wanted, reply)] }),
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
                with_timeout(shared.claim.execute(connection, shared.access)).await.and_then(|taken| taken)
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
                // The worker is likely to append to the session next.
                for (session, _) in &taken {
                    self.heads.insert(&Head::of(session));
                }
                let (sessions, notices): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
                publish(&self.notices, Some(&self.notifier), notices);
                let mut sessions = sessions.into_iter();
                for (wanted, reply) in waiting {
                    // Sending fails when the client went away. Its lease then expires.
                    let _ = reply.send(Ok(Some(sessions.by_ref().take(wanted).collect())));
                }
            }
            Ok(None) => {
                for (_, reply) in waiting {
                    let _ = reply.send(Ok(None));
                }
            }
            Err(error) => {
                self.discard_connection();
                tracing::error!(%error, claims = waiting.len(), "claims failed");
                for (_, reply) in waiting {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
        None
    }
}
