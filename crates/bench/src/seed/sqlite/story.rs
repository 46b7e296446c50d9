//! The installation of the two stories: sessions whose events have words of a language, failures of a weekend, and
//! approvals that a person decided.

use super::{DIGEST, EVENT, Seed, Session};
use crate::{event, seed::memory::Language};
use anyhow::{Result, ensure};
use rusqlite::params;
use uuid::Uuid;

const HOUR_MICROS: i64 = 3_600_000_000;
const DAY_MICROS: i64 = 24 * HOUR_MICROS;
/// Sessions and approvals are spread over this time, which is shorter than that of a back-test.
pub const SPAN_MICROS: i64 = 80 * DAY_MICROS;
/// Time from the beginning of a session to its end, as `Seed::session` writes it.
pub const SESSION_MICROS: i64 = 60_000_000;
/// Time from the beginning of a session to its approval, and from there to the decision.
pub const GATE_MICROS: i64 = 20_000_000;
/// Sessions of one transaction.
const CHUNK: usize = 2_000;
/// Words of an event, about as many as `event::kind_and_content` has.
pub const EVENT_WORDS: usize = 32;
/// Seconds for which a decision can be undone: long enough to undo those of a step after it was measured.
pub const UNDO_SECONDS: i64 = 60;

const FAILED: &str = "UPDATE sessions SET error_code = 'tool_failed', error_message = ?3, head_sequence = ?4 \
     WHERE tenant_id = ?1 AND id = ?2";
const FAILURE: &str = "INSERT INTO session_failures (tenant_id, id, session_id, code, message, remediation, at) \
     VALUES (?1, ?2, ?3, 'tool_failed', ?4, '', ?5)";
const OPEN_GATES: &str = "SELECT id FROM gates WHERE tenant_id = ?1 AND state = 'open' ORDER BY id";
const GATE: &str = "INSERT INTO gates (tenant_id, id, session_id, agent_slug, kind, state, title, task, task_digest, similar_key, \
     flags, attempt, quorum, self_approval, requested_by, opened_at, order_at, settled_at, outcome) \
     SELECT tenant_id, ?3, ?4, agent_slug, kind, 'settled', title, task, task_digest, similar_key, flags, attempt, quorum, \
     self_approval, requested_by, ?5, order_at, ?6, 'approve' FROM gates WHERE tenant_id = ?1 AND id = ?2";
const REVIEWERS: &str = "INSERT INTO gate_reviewers (tenant_id, gate_id, kind, reviewer_id) \
     SELECT tenant_id, ?3, kind, reviewer_id FROM gate_reviewers WHERE tenant_id = ?1 AND gate_id = ?2";
const DECISION: &str = "INSERT INTO gate_decisions (tenant_id, gate_id, number, user_id, actor, verdict, value_digest, at) \
     SELECT tenant_id, ?3, 1, ?4, ?5, 'approve', task_digest, ?6 FROM gates WHERE tenant_id = ?1 AND id = ?2";
const UNDO: &str = "UPDATE tenants SET undo_seconds = ?";
/// The server that made the open approvals found no failures and no events to look at. The next one begins anew.
pub const LOOK_AGAIN: &str = "UPDATE failure_regroup SET rule = 0, is_done = 0; \
     UPDATE search_state SET rule = 0, indexed_until = NULL";

/// Causes of the failures of the weekend: the tool that failed, its message, and the number of failures. `#` is the
/// number of the failure.
pub const CAUSES: [(&str, &str, usize); 7] = [
    ("quarry_export", "quarry ledger refused order #: HTTP 503 from the upstream", 34),
    ("search_offers", "the answer for article # has no prices", 80),
    ("send_email", "mailbox is full: letter # came back", 52),
    ("update_crm", "contact # was changed by another program", 30),
    ("book_freight", "no carrier for shipment #", 21),
    ("read_invoice", "page # cannot be read as text", 14),
    ("convert_currency", "no rate for day #", 9),
];

/// How much the installation has.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Sessions, those that failed included.
    pub sessions: usize,
    /// Events of all sessions together.
    pub events: usize,
    /// Approvals, those that wait for a decision included.
    pub items: usize,
}

/// Begin and end of the last weekend that has begun at `now`, microseconds: what the page of failures shows to a reader
/// in UTC.
pub fn weekend(now: i64) -> (i64, i64) {
    // 2 January 1970 was a Friday.
    let first = DAY_MICROS + 17 * HOUR_MICROS;
    let begin = (now - first).div_euclid(7 * DAY_MICROS) * 7 * DAY_MICROS + first;
    (begin, now.min(begin + 64 * HOUR_MICROS))
}

/// A failure of the weekend.
pub struct Failure {
    tool: &'static str,
    /// Message of the session and of the call.
    pub message: String,
}

impl Failure {
    /// The content of the event with the call that failed.
    pub fn content(&self) -> String {
        let Self { tool, message } = self;
        format!(
            "[{{\"type\":\"tool-result\",\"toolCallId\":\"call-last\",\"toolName\":\"{tool}\",\
             \"output\":{{\"type\":\"error-text\",\"value\":\"{message}\"}}}}]"
        )
    }
}

pub fn failures() -> Vec<Failure> {
    let of = |(tool, message, count): (&'static str, &str, usize)| {
        let message = message.to_owned();
        (0..count).map(move |number| Failure { tool, message: message.replace('#', &(4_000 + number).to_string()) })
    };
    CAUSES.into_iter().flat_map(of).collect()
}

impl Seed {
    /// Adds sessions of the last 80 days, each with the same number of events. Those of [`CAUSES`] failed on the last
    /// weekend, the others are completed. Then adds approvals to those that are open, until there are as many as
    /// `sizes` says: copies of the open ones, which the person of the workspace approved.
    pub fn story(&mut self, sizes: Sizes) -> Result<()> {
        let failures = failures();
        ensure!(sizes.sessions > failures.len(), "{} sessions are fewer than the failures", sizes.sessions);
        let events = sizes.events / sizes.sessions;
        let mut language = Language::new(13);
        let completed = self.completed(sizes.sessions - failures.len(), events, &mut language)?;
        self.failed(&failures, events, &mut language)?;
        self.decided(sizes.items, &completed)?;
        self.connection.execute(UNDO, [UNDO_SECONDS])?;
        self.connection.execute_batch(LOOK_AGAIN)?;
        self.checkpoint()
    }

    /// Adds this many completed sessions. Returns each with its beginning.
    fn completed(&mut self, count: usize, events: usize, language: &mut Language) -> Result<Vec<(Uuid, i64)>> {
        let mut completed = Vec::with_capacity(count);
        for from in (0..count).step_by(CHUNK) {
            self.connection.execute_batch("BEGIN")?;
            for index in from..count.min(from + CHUNK) {
                let share = index as f64 / count as f64;
                let created_at = self.now - SPAN_MICROS + (SPAN_MICROS as f64 * share) as i64;
                let id = self.with_events(("completed", "done"), created_at, events, language)?;
                completed.push((id, created_at));
            }
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(completed)
    }

    /// Adds a session for each failure. Its last event is the call that failed.
    fn failed(&mut self, failures: &[Failure], events: usize, language: &mut Language) -> Result<()> {
        let (begin, end) = weekend(self.now);
        let span = (end - begin - SESSION_MICROS).max(0);
        self.connection.execute_batch("BEGIN")?;
        for (index, failure) in failures.iter().enumerate() {
            // Causes take turns, so that each fails on the whole weekend.
            let share = (index * 89 % failures.len()) as f64 / failures.len() as f64;
            let created_at = begin + (span as f64 * share) as i64;
            let id = self.with_events(("failed", "error"), created_at, events.saturating_sub(1), language)?;
            let last = i64::try_from(events.max(1))?;
            let at = created_at + SESSION_MICROS;
            self.event(id, last, "agent.tool_result", &failure.content(), at)?;
            let (tenant, failure_id) = (self.tenant_id, self.ids.at(at));
            let mut update = self.connection.prepare_cached(FAILED)?;
            update.execute(params![tenant.as_bytes(), id.as_bytes(), failure.message, last])?;
            let mut insert = self.connection.prepare_cached(FAILURE)?;
            insert.execute(params![tenant.as_bytes(), failure_id.as_bytes(), id.as_bytes(), failure.message, at])?;
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(())
    }

    /// Adds a session that ended in this status for this reason. Returns its id.
    fn with_events(
        &mut self,
        (status, end_reason): (&'static str, &'static str),
        created_at: i64,
        events: usize,
        language: &mut Language,
    ) -> Result<Uuid> {
        let id = self.ids.at(created_at);
        let (head_sequence, end_reason) = (i64::try_from(events)?, Some(end_reason));
        self.session(&Session { id, action: None, status, end_reason, head_sequence, created_at })?;
        for (sequence, index) in (1..=head_sequence).zip(0..) {
            let text = (0..EVENT_WORDS).map(|_| language.word()).collect::<Vec<_>>().join(" ");
            let (kind, content) = event::kind_and_content_with(index, &text);
            let at = created_at + SESSION_MICROS * sequence / (head_sequence + 1);
            self.event(id, sequence, kind, &content, at)?;
        }
        Ok(id)
    }

    fn event(&mut self, session: Uuid, sequence: i64, kind: &str, content: &str, at: i64) -> Result<()> {
        let event_id = self.ids.at(at);
        self.connection.prepare_cached(EVENT)?.execute(params![
            self.tenant_id.as_bytes(),
            session.as_bytes(),
            sequence,
            event_id.as_bytes(),
            kind,
            content,
            "system",
            at,
            DIGEST
        ])?;
        Ok(())
    }

    /// Adds decided approvals to the open ones, until there are `items` together. Each belongs to one of the sessions.
    fn decided(&mut self, items: usize, sessions: &[(Uuid, i64)]) -> Result<()> {
        let open: Vec<[u8; 16]> = {
            let mut select = self.connection.prepare(OPEN_GATES)?;
            let rows = select.query_map(params![self.tenant_id.as_bytes()], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<_>>()?
        };
        let count = items.saturating_sub(open.len());
        ensure!(!open.is_empty() && count <= sessions.len(), "{} open approvals, {count} decided ones", open.len());
        let actor = format!("user:{}", self.user_id);
        let apart = (sessions.len() / count.max(1)).max(1);
        self.connection.execute_batch("BEGIN")?;
        for ((session, begun_at), like) in sessions.iter().step_by(apart).take(count).zip(open.iter().cycle()) {
            let (opened_at, decided_at) = (begun_at + GATE_MICROS, begun_at + 2 * GATE_MICROS);
            let (tenant, user) = (self.tenant_id, self.user_id);
            let id = self.ids.at(opened_at);
            let mut insert = self.connection.prepare_cached(GATE)?;
            insert.execute(params![
                tenant.as_bytes(),
                like,
                id.as_bytes(),
                session.as_bytes(),
                opened_at,
                decided_at
            ])?;
            let mut insert = self.connection.prepare_cached(REVIEWERS)?;
            insert.execute(params![tenant.as_bytes(), like, id.as_bytes()])?;
            let mut insert = self.connection.prepare_cached(DECISION)?;
            let (id, user) = (id.as_bytes(), user.as_bytes());
            insert.execute(params![tenant.as_bytes(), like, id, user, actor, decided_at])?;
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weekend_is_the_last_one_that_has_begun() {
        let micros = |text: &str| text.parse::<chrono::DateTime<chrono::Utc>>().unwrap().timestamp_micros();
        let (friday, monday) = (micros("2026-11-27T17:00:00Z"), micros("2026-11-30T09:00:00Z"));
        let before = (micros("2026-11-20T17:00:00Z"), micros("2026-11-23T09:00:00Z"));
        let saturday = micros("2026-11-28T10:00:00Z");
        assert_eq!(weekend(saturday), (friday, saturday));
        assert_eq!(weekend(micros("2026-11-30T09:30:00Z")), (friday, monday));
        assert_eq!(weekend(micros("2026-12-04T16:59:59Z")), (friday, monday));
        assert_eq!(weekend(friday - 1), before);
    }

    #[test]
    fn the_failures_are_those_of_the_story_and_their_events_are_json() {
        let failures = failures();
        assert_eq!(failures.len(), 240);
        for failure in &failures {
            serde_json::from_str::<serde_json::Value>(&failure.content()).unwrap();
        }
        assert_ne!(failures[0].message, failures[1].message);
        // Each has another place on the weekend.
        let places: std::collections::BTreeSet<usize> = (0..240).map(|index| index * 89 % 240).collect();
        assert_eq!(places.len(), 240);
    }
}
