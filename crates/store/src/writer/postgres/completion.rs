//! Completions of a lane. Those of one workspace and person that wait together are read and written together.

use super::{PostgresLane, connection};
use crate::{
    engine::{Access, Error, with_timeout},
    event::{Head, publish},
    session::{DecideCompletion, complete_together},
    writer::job::{SessionReply, WaitingCompletion},
};
use domain::id::SessionId;
use std::collections::{HashMap, HashSet};
use tracing::{Instrument as _, Span};

/// Completions that share two statements.
#[derive(Default)]
struct Shared {
    ids: HashSet<SessionId>,
    wanted: Vec<(SessionId, DecideCompletion)>,
    waiting: Vec<(SessionId, SessionReply)>,
}

impl PostgresLane {
    pub(super) async fn complete(&mut self, completions: Vec<WaitingCompletion>) {
        let mut by_access: HashMap<Access, Shared> = HashMap::new();
        for WaitingCompletion { access, session_id, decide, reply, .. } in completions {
            let shared = by_access.entry(access).or_default();
            if shared.ids.insert(session_id) {
                shared.wanted.push((session_id, decide));
                shared.waiting.push((session_id, reply));
            } else {
                // Of two completions of a session, the second one is a repeat or is refused.
                reply.answer(Ok(None));
            }
        }
        for (access, shared) in by_access {
            self.complete_shared(access, shared).await;
        }
    }

    async fn complete_shared(&mut self, access: Access, Shared { wanted, waiting, .. }: Shared) {
        let completed = match connection(&self.pool, &mut self.connection).await {
            Ok(connection) => {
                let span = waiting.first().map_or_else(Span::none, |(_, first)| first.span());
                let complete = complete_together(connection, access, wanted).instrument(span);
                with_timeout(complete).await.and_then(|completed| completed)
            }
            Err(error) => Err(error),
        };
        let completed = match completed {
            Ok(completed) => completed,
            Err(error) => return self.fail_completions(waiting, &error),
        };
        self.counters.count(completed.len());
        let (mut sessions, mut notices) = (HashMap::new(), Vec::new());
        for (id, (session, notice)) in completed {
            self.heads.insert(&Head::of(&session));
            notices.push(notice);
            sessions.insert(id, session);
        }
        publish(&self.notices, Some(&self.notifier), notices);
        for (id, reply) in waiting {
            reply.answer(Ok(sessions.remove(&id)));
        }
    }

    fn fail_completions(&mut self, waiting: Vec<(SessionId, SessionReply)>, error: &Error) {
        self.discard_connection();
        tracing::error!(%error, completions = waiting.len(), "completions failed");
        for (_, reply) in waiting {
            reply.answer(Err(error.clone()));
        }
    }
}
