//! The installation of the two stories in a server's PostgreSQL database: the rows that `seed::sqlite::story` makes.

use crate::{
    event,
    ids::{Ids, now_micros},
    seed::{
        memory::Language,
        sqlite::story::{
            EVENT_WORDS, Failure, GATE_MICROS, LOOK_AGAIN, SESSION_MICROS, SPAN_MICROS, Sizes, UNDO_SECONDS, failures,
            weekend,
        },
    },
};
use anyhow::{Result, ensure};
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

/// Sessions of one statement.
const CHUNK: usize = 500;
const DIGEST: &[u8] = &[7; 32];

const WORKSPACE: &str = "SELECT t.id, m.user_id FROM tenants t JOIN memberships m ON m.tenant_id = t.id LIMIT 1";
const SESSIONS: &str = "INSERT INTO sessions (tenant_id, id, session_type, status, end_reason, agent_slug, title, metadata, \
     created_by, attempt, attempts_max, head_sequence, head_digest, created_at, updated_at, queued_at, started_at, \
     completed_at, error_code, error_message) \
     SELECT $1::uuid, s.id, 'agent', CASE WHEN s.error IS NULL THEN 'completed' ELSE 'failed' END, \
     CASE WHEN s.error IS NULL THEN 'done' ELSE 'error' END, 'scout', 'Compare three suppliers', '{}', 'system', 1, 3, \
     $2::bigint, $3::bytea, s.at, s.at + $4::bigint, s.at, s.at, s.at + $4::bigint, \
     CASE WHEN s.error IS NULL THEN NULL ELSE 'tool_failed' END, s.error \
     FROM UNNEST($5::uuid[], $6::bigint[], $7::text[]) AS s (id, at, error)";
const EVENTS: &str = "INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata, \
     attempt, actor, at, recorded_at, body_digest, digest) \
     SELECT $1::uuid, e.session_id, e.sequence, e.event_id, e.event_type, 'agent', e.content, '{}', 1, 'system', e.at, e.at, \
     $2::bytea, $2::bytea FROM UNNEST($3::uuid[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::bigint[]) \
     AS e (session_id, sequence, event_id, event_type, content, at)";
const FAILURES: &str = "INSERT INTO session_failures (tenant_id, id, session_id, code, message, remediation, at) \
     SELECT $1::uuid, f.id, f.session_id, 'tool_failed', f.message, '', f.at \
     FROM UNNEST($2::uuid[], $3::uuid[], $4::text[], $5::bigint[]) AS f (id, session_id, message, at)";
const OPEN_GATES: &str = "SELECT id FROM gates WHERE tenant_id = $1 AND state = 'open' ORDER BY id";
const GATES: &str = "INSERT INTO gates (tenant_id, id, session_id, agent_slug, kind, state, title, task, task_digest, similar_key, \
     flags, attempt, quorum, self_approval, requested_by, opened_at, order_at, settled_at, outcome) \
     SELECT g.tenant_id, n.id, n.session_id, g.agent_slug, g.kind, 'settled', g.title, g.task, g.task_digest, g.similar_key, \
     g.flags, g.attempt, g.quorum, g.self_approval, g.requested_by, n.opened_at, g.order_at, n.settled_at, 'approve' \
     FROM UNNEST($2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[]) \
     AS n (like_id, id, session_id, opened_at, settled_at) JOIN gates g ON g.tenant_id = $1 AND g.id = n.like_id";
const REVIEWERS: &str = "INSERT INTO gate_reviewers (tenant_id, gate_id, kind, reviewer_id) \
     SELECT r.tenant_id, n.id, r.kind, r.reviewer_id FROM UNNEST($2::uuid[], $3::uuid[]) AS n (like_id, id) \
     JOIN gate_reviewers r ON r.tenant_id = $1 AND r.gate_id = n.like_id";
const DECISIONS: &str = "INSERT INTO gate_decisions (tenant_id, gate_id, number, user_id, actor, verdict, value_digest, at) \
     SELECT g.tenant_id, g.id, 1, $2::uuid, $3::text, 'approve', g.task_digest, g.settled_at FROM gates g \
     WHERE g.tenant_id = $1 AND g.id = ANY($4)";
const UNDO: &str = "UPDATE tenants SET undo_seconds = $1";
/// The server begins with no session to enter in the roll: in a history of a year all were entered long ago.
const ROLLED: &str = "DELETE FROM session_unrolled; UPDATE session_roll_fill SET is_done = 1";
/// Tables that grew by bulk have no statistics yet.
const ANALYZE: &str = "ANALYZE";

/// Makes the rows.
struct Story {
    connection: PgConnection,
    tenant_id: Uuid,
    user_id: Uuid,
    ids: Ids,
    language: Language,
    events: usize,
}

/// A session with its beginning, and the failure that ended it.
struct Session<'a> {
    id: Uuid,
    created_at: i64,
    failure: Option<&'a Failure>,
}

/// Adds what [`Sizes`] says to the database of a server that is stopped.
pub async fn story(url: &str, sizes: Sizes) -> Result<()> {
    let failures = failures();
    ensure!(sizes.sessions > failures.len(), "{} sessions are fewer than the failures", sizes.sessions);
    let mut connection = PgConnection::connect(url).await?;
    let (tenant_id, user_id): (Uuid, Uuid) = sqlx::query_as(WORKSPACE).fetch_one(&mut connection).await?;
    let (ids, language, events) = (Ids::new(), Language::new(13), sizes.events / sizes.sessions);
    let mut story = Story { connection, tenant_id, user_id, ids, language, events };
    let now = now_micros();
    let completed = story.completed(sizes.sessions - failures.len(), now).await?;
    story.failed(&failures, now).await?;
    story.decided(sizes.items, &completed).await?;
    let mut connection = story.connection;
    sqlx::query(UNDO).bind(UNDO_SECONDS).execute(&mut connection).await?;
    for statements in [LOOK_AGAIN, ROLLED, ANALYZE] {
        sqlx::raw_sql(statements).execute(&mut connection).await?;
    }
    connection.close().await?;
    Ok(())
}

impl Story {
    /// Adds this many completed sessions of the last 80 days. Returns each with its beginning.
    async fn completed(&mut self, count: usize, now: i64) -> Result<Vec<(Uuid, i64)>> {
        let mut completed = Vec::with_capacity(count);
        for from in (0..count).step_by(CHUNK) {
            let session = |index: usize| {
                let share = index as f64 / count as f64;
                let created_at = now - SPAN_MICROS + (SPAN_MICROS as f64 * share) as i64;
                Session { id: self.ids.at(created_at), created_at, failure: None }
            };
            let sessions: Vec<Session<'_>> = (from..count.min(from + CHUNK)).map(session).collect();
            self.sessions(&sessions).await?;
            completed.extend(sessions.iter().map(|session| (session.id, session.created_at)));
        }
        Ok(completed)
    }

    /// Adds a session for each failure, on the last weekend.
    async fn failed(&mut self, failures: &[Failure], now: i64) -> Result<()> {
        let (begin, end) = weekend(now);
        let span = (end - begin - SESSION_MICROS).max(0);
        let session = |(index, failure): (usize, _)| {
            // Causes take turns, so that each fails on the whole weekend.
            let share = (index * 89 % failures.len()) as f64 / failures.len() as f64;
            let created_at = begin + (span as f64 * share) as i64;
            Session { id: self.ids.at(created_at), created_at, failure: Some(failure) }
        };
        let sessions: Vec<Session<'_>> = failures.iter().enumerate().map(session).collect();
        self.sessions(&sessions).await?;
        let at: Vec<i64> = sessions.iter().map(|session| session.created_at + SESSION_MICROS).collect();
        let ids: Vec<Uuid> = at.iter().map(|at| self.ids.at(*at)).collect();
        let of: Vec<Uuid> = sessions.iter().map(|session| session.id).collect();
        let messages: Vec<&str> = failures.iter().map(|failure| failure.message.as_str()).collect();
        let insert = sqlx::query(FAILURES).bind(self.tenant_id).bind(ids).bind(of).bind(messages).bind(at);
        insert.execute(&mut self.connection).await?;
        Ok(())
    }

    /// Adds these sessions with their events. The last event of a failed one is the call that failed.
    async fn sessions(&mut self, sessions: &[Session<'_>]) -> Result<()> {
        let head_sequence = i64::try_from(self.events)?;
        let ids: Vec<Uuid> = sessions.iter().map(|session| session.id).collect();
        let begun_at: Vec<i64> = sessions.iter().map(|session| session.created_at).collect();
        let errors: Vec<Option<&str>> =
            sessions.iter().map(|session| session.failure.map(|failure| failure.message.as_str())).collect();
        let insert = sqlx::query(SESSIONS).bind(self.tenant_id).bind(head_sequence).bind(DIGEST);
        let insert = insert.bind(SESSION_MICROS).bind(ids).bind(begun_at).bind(errors);
        insert.execute(&mut self.connection).await?;
        let (mut of, mut sequences, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let (mut kinds, mut contents, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for session in sessions {
            for (sequence, index) in (1..=head_sequence).zip(0..) {
                let failure = session.failure.filter(|_| sequence == head_sequence);
                let (kind, content) = match failure {
                    Some(failure) => ("agent.tool_result", failure.content()),
                    None => event::kind_and_content_with(index, &self.text()),
                };
                let at = session.created_at + SESSION_MICROS * sequence / (head_sequence + 1);
                of.push(session.id);
                sequences.push(sequence);
                ids.push(self.ids.at(at));
                kinds.push(kind);
                contents.push(content);
                times.push(at);
            }
        }
        let insert = sqlx::query(EVENTS).bind(self.tenant_id).bind(DIGEST).bind(of).bind(sequences);
        insert.bind(ids).bind(kinds).bind(contents).bind(times).execute(&mut self.connection).await?;
        Ok(())
    }

    fn text(&mut self) -> String {
        (0..EVENT_WORDS).map(|_| self.language.word()).collect::<Vec<_>>().join(" ")
    }

    /// Adds decided approvals to the open ones, until there are `items` together. Each belongs to one of the sessions.
    async fn decided(&mut self, items: usize, sessions: &[(Uuid, i64)]) -> Result<()> {
        let select = sqlx::query_scalar(OPEN_GATES).bind(self.tenant_id);
        let open: Vec<Uuid> = select.fetch_all(&mut self.connection).await?;
        let count = items.saturating_sub(open.len());
        ensure!(!open.is_empty() && count <= sessions.len(), "{} open approvals, {count} decided ones", open.len());
        let apart = (sessions.len() / count.max(1)).max(1);
        let (mut like, mut ids, mut of) = (Vec::new(), Vec::new(), Vec::new());
        let (mut opened, mut settled) = (Vec::new(), Vec::new());
        for ((session, begun_at), open) in sessions.iter().step_by(apart).take(count).zip(open.iter().cycle()) {
            let opened_at = begun_at + GATE_MICROS;
            like.push(*open);
            ids.push(self.ids.at(opened_at));
            of.push(*session);
            opened.push(opened_at);
            settled.push(opened_at + GATE_MICROS);
        }
        let insert = sqlx::query(GATES).bind(self.tenant_id).bind(like.clone()).bind(ids.clone());
        insert.bind(of).bind(opened).bind(settled).execute(&mut self.connection).await?;
        let insert = sqlx::query(REVIEWERS).bind(self.tenant_id).bind(like).bind(ids.clone());
        insert.execute(&mut self.connection).await?;
        let insert = sqlx::query(DECISIONS).bind(self.tenant_id).bind(self.user_id);
        insert.bind(format!("user:{}", self.user_id)).bind(ids).execute(&mut self.connection).await?;
        Ok(())
    }
}
