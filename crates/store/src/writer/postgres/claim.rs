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
            self.claim_together(statement).await;
        }
    }

    async fn claim_together(&mut self, Shared { access, claim, waiting }: Shared) {
        let taken = match connection(&self.pool, &mut self.connection).await {
            Ok(connection) => with_timeout(claim.execute(connection, access)).await.and_then(|taken| taken),
            Err(error) => Err(error),
        };
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
                    let _ = reply.send(Err(Error::Unavailable(error.to_string())));
                }
            }
        }
    }
}
