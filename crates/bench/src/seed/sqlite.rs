//! Sessions and events in a SQLite data directory whose server is stopped.

pub mod story;

use super::YEAR_MICROS;
use crate::{
    event,
    ids::{Ids, now_micros},
};
use anyhow::Result;
use rusqlite::{Connection, params};
use std::path::Path;
use uuid::Uuid;

/// Rows of one transaction.
const CHUNK: usize = 20_000;
/// The first half is the caller's; the other half belongs to a colleague.
const ACTIONS: usize = 200;
/// Number of events that each session gets.
const SESSION_EVENTS: usize = 1_000;
const DIGEST: [u8; 32] = [7; 32];

const WORKSPACE: &str = "SELECT t.id, m.user_id FROM tenants t JOIN memberships m ON m.tenant_id = t.id LIMIT 1";
const COLLEAGUE: &str = "INSERT INTO users (id, email, password_hash, created_at) VALUES (?, ?, 'none', ?)";
const MEMBERSHIP: &str = "INSERT INTO memberships (tenant_id, user_id, role, created_at) VALUES (?, ?, 'operator', ?)";
const ACTION: &str = "INSERT INTO actions (tenant_id, id, name, slug, description, agent_slug, assigned_to, output_type, \
     output_config, metadata, status, created_at, updated_at) VALUES (?, ?, ?, ?, '', 'scout', ?, 'text', '{}', '{}', 'active', ?, ?)";
const SESSION: &str = "INSERT INTO sessions (tenant_id, id, session_type, status, end_reason, action_id, action_slug, agent_slug, \
     title, metadata, created_by, attempt, attempts_max, lease_seconds, lease_expires_at, head_sequence, head_digest, created_at, \
     updated_at, queued_at, started_at, completed_at) \
     VALUES (?1, ?2, 'agent', ?3, ?4, ?5, ?6, 'scout', 'Compare three suppliers', '{}', 'system', 1, 3, ?7, ?8, ?9, ?10, ?11, ?12, ?11, ?11, ?13)";
const EVENT: &str = "INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata, \
     attempt, actor, at, recorded_at, body_digest, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5, 'agent', ?6, '{}', 1, ?7, ?8, ?8, ?9, ?9)";

/// A data directory to fill.
pub struct Seed {
    connection: Connection,
    tenant_id: Uuid,
    user_id: Uuid,
    ids: Ids,
    random: fastrand::Rng,
    now: i64,
}

struct Session {
    id: Uuid,
    action: Option<(Uuid, String)>,
    status: &'static str,
    end_reason: Option<&'static str>,
    head_sequence: i64,
    created_at: i64,
}

impl Seed {
    /// Opens a migrated database with one workspace and one person.
    pub fn open(data_dir: &Path) -> Result<Self> {
        let connection = Connection::open(data_dir.join("shiftbook.sqlite3"))?;
        // No one waits for these rows, and a power cut only costs us a repeat.
        connection.pragma_update(None, "synchronous", "off")?;
        connection.pragma_update(None, "foreign_keys", "off")?;
        connection.pragma_update(None, "cache_size", -524_288)?;
        let (tenant, user): ([u8; 16], [u8; 16]) =
            connection.query_row(WORKSPACE, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self {
            connection,
            tenant_id: Uuid::from_bytes(tenant),
            user_id: Uuid::from_bytes(user),
            ids: Ids::new(),
            random: fastrand::Rng::with_seed(7),
            now: now_micros(),
        })
    }

    /// This many sessions of a year, 95.9 % completed, 4 % ended badly and 0.1 % open, half of them on the
    /// actions of the person who will ask.
    pub fn sessions(&mut self, count: usize) -> Result<()> {
        let actions = self.actions()?;
        for from in (0..count).step_by(CHUNK) {
            self.connection.execute_batch("BEGIN")?;
            for index in from..count.min(from + CHUNK) {
                let share = index as f64 / count as f64;
                let created_at = self.now - YEAR_MICROS + (YEAR_MICROS as f64 * share) as i64;
                let (status, end_reason) = match self.random.u32(..10_000) {
                    0..3 => ("pending", None),
                    3..6 => ("running", None),
                    6..10 => ("waiting_human", None),
                    10..210 => ("failed", Some("error")),
                    210..410 => ("abandoned", Some("cancelled")),
                    _ => ("completed", Some("done")),
                };
                let action = actions[self.random.usize(..actions.len())].clone();
                let id = self.ids.at(created_at);
                self.session(&Session { id, action: Some(action), status, end_reason, head_sequence: 0, created_at })?;
            }
            self.connection.execute_batch("COMMIT")?;
        }
        self.checkpoint()
    }

    /// This many events in sessions of a thousand each.
    pub fn events(&mut self, count: usize) -> Result<()> {
        let events: Vec<_> = (0..4).map(event::kind_and_content).collect();
        let sessions = count.div_ceil(SESSION_EVENTS);
        let actor = format!("token:{}", self.ids.next());
        for index in 0..sessions {
            let created_at =
                self.now - YEAR_MICROS / 2 + (YEAR_MICROS as f64 / 2.0 * index as f64 / sessions as f64) as i64;
            let id = self.ids.at(created_at);
            self.connection.execute_batch("BEGIN")?;
            let head_sequence = i64::try_from(SESSION_EVENTS)?;
            let end_reason = Some("done");
            self.session(&Session { id, action: None, status: "completed", end_reason, head_sequence, created_at })?;
            let mut insert = self.connection.prepare_cached(EVENT)?;
            for (sequence, (kind, content)) in (1..=head_sequence).zip(events.iter().cycle()) {
                let at = created_at + sequence * 1_000_000;
                let event_id = self.ids.at(at);
                insert.execute(params![
                    self.tenant_id.as_bytes(),
                    id.as_bytes(),
                    sequence,
                    event_id.as_bytes(),
                    kind,
                    content,
                    actor,
                    at,
                    DIGEST
                ])?;
            }
            drop(insert);
            self.connection.execute_batch("COMMIT")?;
        }
        self.checkpoint()
    }

    fn actions(&mut self) -> Result<Vec<(Uuid, String)>> {
        let colleague = self.ids.next();
        self.connection.execute(COLLEAGUE, params![colleague.as_bytes(), "colleague@example.org", self.now])?;
        self.connection.execute(MEMBERSHIP, params![self.tenant_id.as_bytes(), colleague.as_bytes(), self.now])?;
        let mut insert = self.connection.prepare(ACTION)?;
        let mut actions = Vec::with_capacity(ACTIONS);
        for index in 0..ACTIONS {
            let owner = if index < ACTIONS / 2 { self.user_id } else { colleague };
            let (id, slug) = (self.ids.next(), format!("bench-{index}"));
            let (tenant, owner) = (self.tenant_id.as_bytes(), owner.as_bytes());
            insert.execute(params![tenant, id.as_bytes(), slug, slug, owner, self.now, self.now])?;
            actions.push((id, slug));
        }
        Ok(actions)
    }

    fn session(&self, session: &Session) -> Result<()> {
        let is_open = session.end_reason.is_none();
        // A lease that outlives the run: no sweep comes between.
        let lease = (session.status == "running").then_some(3_600_i64);
        let updated_at = session.created_at + 60_000_000;
        self.connection.prepare_cached(SESSION)?.execute(params![
            self.tenant_id.as_bytes(),
            session.id.as_bytes(),
            session.status,
            session.end_reason,
            session.action.as_ref().map(|action| *action.0.as_bytes()),
            session.action.as_ref().map(|action| action.1.as_str()),
            lease,
            lease.map(|seconds| self.now + seconds * 1_000_000),
            session.head_sequence,
            DIGEST,
            session.created_at,
            updated_at,
            (!is_open).then_some(updated_at),
        ])?;
        Ok(())
    }

    /// The server begins with an empty write-ahead log, as after an orderly stop, and with no session to enter in the
    /// roll: in a history of a year all were entered long ago.
    fn checkpoint(&self) -> Result<()> {
        self.connection.execute_batch("DELETE FROM session_unrolled; UPDATE session_roll_fill SET is_done = 1")?;
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}
