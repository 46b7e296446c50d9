//! New sessions of a lane. Those of one workspace and person that wait together share a statement.

use super::{PostgresLane, connection};
use crate::{
    engine::{Access, with_timeout},
    event::publish,
    session::{PlainCreation, create_together},
    writer::job::{SessionReply, WaitingCreation},
};
use std::collections::HashMap;
use tracing::{Instrument as _, Span};

impl PostgresLane {
    pub(super) async fn create(&mut self, creations: Vec<WaitingCreation>) {
        let mut by_access: HashMap<Access, (Vec<PlainCreation>, Vec<SessionReply>)> = HashMap::new();
        for WaitingCreation { access, creation, reply } in creations {
            let (wanted, waiting) = by_access.entry(access).or_default();
            wanted.push(creation);
            waiting.push(reply);
        }
        for (access, (wanted, waiting)) in by_access {
            self.create_shared(access, wanted, waiting).await;
        }
    }

    async fn create_shared(&mut self, access: Access, wanted: Vec<PlainCreation>, waiting: Vec<SessionReply>) {
        let created = match connection(&self.pool, &mut self.connection).await {
            Ok(connection) => {
                let span = waiting.first().map_or_else(Span::none, SessionReply::span);
                let create = create_together(connection, access, wanted).instrument(span);
                with_timeout(create).await.and_then(|created| created)
            }
            Err(error) => Err(error),
        };
        match created {
            Ok(Some(created)) => {
                self.counters.count(created.len());
                // The head of a new session is not cached: a session is claimed before it is written to.
                let (sessions, notices): (Vec<_>, Vec<_>) = created.into_iter().unzip();
                publish(&self.notices, Some(&self.notifier), notices);
                let mut sessions = sessions.into_iter();
                for reply in waiting {
                    reply.answer(Ok(sessions.next()));
                }
            }
            Ok(None) => {
                for reply in waiting {
                    reply.answer(Ok(None));
                }
            }
            Err(error) => {
                self.discard_connection();
                tracing::error!(%error, sessions = waiting.len(), "new sessions could not be inserted");
                for reply in waiting {
                    reply.answer(Err(error.clone()));
                }
            }
        }
    }
}
