//! Rows of `session_memories` and `memory_ratings`: which memories were considered for which prompt, and their ratings.

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{MemoryDocumentId, SessionId, TenantId},
    relevance::Source,
};
use serde_json::{Value, json};
use std::collections::HashMap;

macro_rules! insert {
    ($values:literal) => {
        concat!(
            "INSERT INTO session_memories (tenant_id, session_id, turn, ranker, at, use_hits, memory_id, document_id, \
             memory_version, bm25, recency_d, importance, uses_30d, same_person, same_channel, kind, tokens, rank, slot, \
             injected, propensity, holdout, similarity) SELECT $1, $2, $3, $4, $5, 0, ",
            $values
        )
    };
}
macro_rules! columns {
    ($of_ratings:literal) => {
        concat!(
            "SELECT m.session_id, m.turn, m.memory_id, m.memory_version, m.ranker, m.bm25, m.recency_d, m.importance, \
             m.uses_30d, m.same_person, m.same_channel, m.kind, m.tokens, m.rank, m.slot, m.injected, m.propensity, \
             m.holdout, m.similarity, m.use_hits, m.at, (SELECT c.score FROM session_continuity c WHERE c.tenant_id = m.tenant_id \
             AND c.session_id = m.session_id) AS continuity, (SELECT AVG(r.value) FROM memory_ratings r WHERE ",
            $of_ratings,
            ") AS agent_relevance_score, (SELECT COUNT(*) FROM memory_ratings r WHERE ",
            $of_ratings,
            ") AS agent_feedback_count FROM session_memories m "
        )
    };
}
macro_rules! of_ids {
    ($begin:literal, $ids:literal, $end:literal) => {
        concat!($begin, " memory_id ", $ids, $end)
    };
}
macro_rules! newest_turns {
    ($ids:literal) => {
        of_ids!(
            "SELECT memory_id, MAX(turn) FROM session_memories WHERE tenant_id = $1 AND session_id = $2 AND injected AND",
            $ids,
            " GROUP BY memory_id"
        )
    };
}
macro_rules! harmful_in_workspace {
    ($ids:literal) => {
        concat!(
            "SELECT r.memory_id, m.document_id, AVG(r.value) AS mean, COUNT(*) AS ratings, \
             COUNT(DISTINCT r.session_id) AS sessions FROM memory_ratings r \
             JOIN session_memories m ON m.tenant_id = r.tenant_id AND m.session_id = r.session_id AND m.turn = r.turn \
             AND m.memory_id = r.memory_id JOIN sessions s ON s.tenant_id = r.tenant_id AND s.id = r.session_id \
             WHERE r.tenant_id = $1 AND s.private_to IS NULL AND r.memory_id ",
            $ids,
            " GROUP BY r.memory_id, m.document_id HAVING COUNT(*) >= $3 AND AVG(r.value) <= $4 ORDER BY r.memory_id"
        )
    };
}
macro_rules! recent_uses {
    ($ids:literal) => {
        of_ids!(
            "SELECT memory_id, CAST(SUM(use_hits) AS bigint) FROM session_memories WHERE tenant_id = $1 AND at >= $2 \
             AND use_hits > 0 AND",
            $ids,
            " GROUP BY memory_id"
        )
    };
}

statements! {
    const INSERT_SQLITE: &str = insert!(
        "value ->> 'id', unhex(value ->> 'document'), value ->> 'version', value ->> 'bm25', value ->> 'recency', \
         value ->> 'importance', value ->> 'uses', value ->> 'person', value ->> 'channel', value ->> 'kind', \
         value ->> 'tokens', value ->> 'rank', value ->> 'slot', value ->> 'injected', value ->> 'propensity', \
         value ->> 'holdout', value ->> 'similarity' FROM json_each($6) WHERE true ON CONFLICT DO NOTHING"
    );
    const INSERT_POSTGRES: &str = insert!(
        "c.id, c.document, c.version, c.bm25, c.recency, c.importance, c.uses, c.person, c.channel, c.kind, c.tokens, \
         c.rank, c.slot, c.injected, c.propensity, c.holdout, c.similarity FROM jsonb_to_recordset(($6::text)::jsonb) AS c (id text, \
         document uuid, version bigint, bm25 double precision, recency double precision, importance double precision, \
         uses bigint, person boolean, channel boolean, kind text, tokens bigint, rank bigint, slot bigint, \
         injected boolean, propensity double precision, holdout boolean, similarity double precision) ON CONFLICT DO NOTHING"
    );
    // The mean is that of the whole session.
    const LIST: &str = concat!(
        columns!("r.tenant_id = m.tenant_id AND r.session_id = m.session_id AND r.memory_id = m.memory_id"),
        "WHERE m.tenant_id = $1 AND m.session_id = $2 AND (m.turn < $3 OR (m.turn = $3 AND m.rank > $4) OR $3 IS NULL) \
         ORDER BY m.turn DESC, m.rank LIMIT $5"
    );
    // Ratings count for their prompt. Private sessions are left out.
    const AFTER: &str = concat!(
        columns!(
            "r.tenant_id = m.tenant_id AND r.session_id = m.session_id AND r.turn = m.turn AND r.memory_id = m.memory_id"
        ),
        "JOIN sessions s ON s.tenant_id = m.tenant_id AND s.id = m.session_id WHERE m.tenant_id = $1 \
         AND s.private_to IS NULL AND (m.session_id, m.turn, m.memory_id) > ($2, $3, $4) \
         ORDER BY m.session_id, m.turn, m.memory_id LIMIT $5"
    );
    const NEWEST_TURNS_SQLITE: &str = newest_turns!("IN (SELECT value FROM json_each($3))");
    const NEWEST_TURNS_POSTGRES: &str = newest_turns!("= ANY($3)");
    const RECENT_USES_SQLITE: &str = recent_uses!("IN (SELECT value FROM json_each($3))");
    const RECENT_USES_POSTGRES: &str = recent_uses!("= ANY($3)");
    const RATE: &str = "INSERT INTO memory_ratings (tenant_id, session_id, turn, memory_id, rater, source, value, model, \
         rated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (tenant_id, session_id, turn, memory_id, rater) DO UPDATE SET source = excluded.source, \
         value = excluded.value, model = excluded.model, rated_at = excluded.rated_at";
    const HARMFUL: &str = "SELECT memory_id FROM memory_ratings WHERE tenant_id = $1 AND session_id = $2 \
         GROUP BY memory_id HAVING COUNT(*) >= $3 AND AVG(value) <= $4 ORDER BY AVG(value), memory_id LIMIT $5";
    const HARMFUL_IN_WORKSPACE_SQLITE: &str = harmful_in_workspace!("IN (SELECT value FROM json_each($2))");
    const HARMFUL_IN_WORKSPACE_POSTGRES: &str = harmful_in_workspace!("= ANY($2)");
    const RATED_PROMPTS: &str = "SELECT r.session_id, MAX(r.turn) AS turn FROM memory_ratings r \
         JOIN sessions s ON s.tenant_id = r.tenant_id AND s.id = r.session_id \
         WHERE r.tenant_id = $1 AND r.memory_id = $2 AND s.private_to IS NULL \
         GROUP BY r.session_id ORDER BY MAX(r.rated_at) DESC, r.session_id LIMIT $3";
    // The condition is that of the index `session_memories_first`.
    const PROMPTS: &str =
        "SELECT COUNT(*) FROM session_memories WHERE tenant_id = $1 AND session_id = $2 AND slot = 1";
    const NEWEST_PROMPT: &str =
        "SELECT turn FROM session_memories WHERE tenant_id = $1 AND session_id = $2 AND slot = 1 AND turn <= $3 \
         ORDER BY turn DESC LIMIT 1";
    const SAVE_USES: &str = "UPDATE session_memories SET use_hits = $5 \
         WHERE tenant_id = $1 AND session_id = $2 AND turn = $3 AND memory_id = $4 AND use_hits <> $5";
    const DELETE_OF_SESSION: &str = "DELETE FROM session_memories WHERE tenant_id = $1 AND session_id = $2";
    const DELETE_OF_DOCUMENT: &str = "DELETE FROM session_memories WHERE tenant_id = $1 AND document_id = $2";
}

/// A memory that was considered for a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Considered {
    /// Its id in the block.
    pub memory_id: String,
    /// Document that it is part of.
    pub document_id: MemoryDocumentId,
    /// Version of the document.
    pub memory_version: u64,
    /// Relevance of the text to the prompt, in a scale of its own.
    pub bm25: f64,
    /// Age of the version, days.
    pub recency_d: f64,
    /// Importance, from 0 to 1.
    pub importance: f64,
    /// Whether it is about the person who speaks.
    pub same_person: bool,
    /// Whether it comes from the channel on which they speak.
    pub same_channel: bool,
    /// First part of the document's path.
    pub kind: String,
    /// Estimated tokens of the item.
    pub tokens: u32,
    /// Rank, from 1.
    pub rank: u32,
    /// Place in the block, from 1; `None` if it is not injected.
    pub slot: Option<u32>,
    /// Probability of what happened to it.
    pub propensity: f64,
    /// Whether it was withheld at random.
    pub holdout: bool,
    /// Cosine of the vectors of prompt and text, from -1 to 1; `None` if they were not near or not compared.
    pub similarity: Option<f64>,
}

record! {
    /// A memory that was considered for a prompt, with its ratings.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SessionMemoryRecord of "session_memories" {
        /// Session of the prompt.
        pub session_id: SessionId,
        /// Sequence of the event that recorded the block.
        pub turn: u64,
        /// Its id in the block.
        pub memory_id: String,
        /// Version of its document.
        pub memory_version: u64,
        /// Name of the rule by which the candidates were ranked.
        pub ranker: String,
        /// Relevance of the text to the prompt, in a scale of its own.
        pub bm25: f64,
        /// Age of the version, days.
        pub recency_d: f64,
        /// Importance, from 0 to 1.
        pub importance: f64,
        /// Uses in the 30 days before.
        pub uses_30d: u32,
        /// Whether it is about the person who speaks.
        pub same_person: bool,
        /// Whether it comes from the channel on which they speak.
        pub same_channel: bool,
        /// First part of the document's path.
        pub kind: String,
        /// Estimated tokens of the item.
        pub tokens: u32,
        /// Rank, from 1.
        pub rank: u32,
        /// Place in the block, from 1; `None` if it is not injected.
        pub slot: Option<u32>,
        /// Whether it was part of the block.
        pub injected: bool,
        /// Probability of what happened to it.
        pub propensity: f64,
        /// Whether it was withheld at random.
        pub holdout: bool,
        /// Cosine of the vectors of prompt and text, from -1 to 1; `None` if they were not near or not compared.
        pub similarity: Option<f64>,
        /// Uses in the answer and in the arguments of tools.
        pub use_hits: u32,
        /// Time of the prompt (UTC).
        pub at: Timestamp,
        /// Mean of the ratings, from -1 to 1; `None` if there are none.
        pub agent_relevance_score: Option<f64>,
        /// Number of the ratings.
        pub agent_feedback_count: u32,
        /// Score of the session, from -1 to 1; `None` without one.
        pub continuity: Option<f64>,
    }
}

record! {
    /// A memory with low ratings in all sessions that are not private.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HarmfulRecord of "memory_ratings" {
        /// Its id in the block.
        pub memory_id: String,
        /// Document that it is part of.
        pub document_id: MemoryDocumentId,
        /// Mean of its ratings, from -1 to 1.
        pub mean: f64,
        /// Number of its ratings.
        pub ratings: u64,
        /// Number of sessions in which it was rated.
        pub sessions: u64,
    }
}

record! {
    /// The newest prompt of a session whose memory was rated.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RatedPrompt of "memory_ratings" {
        /// Session of the prompt.
        pub session_id: SessionId,
        /// Sequence of the event that recorded the block.
        pub turn: u64,
    }
}

/// A rating to store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewRating<'a> {
    /// Prompt whose memory is rated.
    pub turn: u64,
    /// Id of the memory in the block.
    pub memory_id: &'a str,
    /// `agent`, or the person who rates.
    pub rater: &'a str,
    /// How the rating came in.
    pub source: Source,
    /// From -1 to 1.
    pub value: f64,
    /// Model of the agent, if it is known.
    pub model: Option<&'a str>,
}

/// Stores what was considered for a prompt. `uses` are those of [`recent_uses`].
pub async fn insert(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (session_id, turn): (SessionId, u64),
    (ranker, candidates): (&str, &[Considered]),
    uses: &HashMap<String, u64>,
    at: Timestamp,
) -> Result<()> {
    let sqlite = matches!(tx.conn(), Conn::Sqlite(_));
    let row = |one: &Considered| {
        let document = one.document_id.0;
        json!({
            "id": one.memory_id,
            "document": if sqlite { document.simple().to_string() } else { document.to_string() },
            "version": one.memory_version, "bm25": one.bm25, "recency": one.recency_d, "importance": one.importance,
            "uses": uses.get(&one.memory_id).copied().unwrap_or_default(), "person": one.same_person,
            "channel": one.same_channel, "kind": one.kind, "tokens": one.tokens, "rank": one.rank, "slot": one.slot,
            "injected": one.slot.is_some(), "propensity": one.propensity, "holdout": one.holdout,
            "similarity": one.similarity,
        })
    };
    let rows = Value::from(candidates.iter().map(row).collect::<Vec<_>>()).to_string();
    let (tenant, session, turn, at) = (tenant_id.0, session_id.0, turn.cast_signed(), to_micros(at));
    let sql = if sqlite { INSERT_SQLITE } else { INSERT_POSTGRES };
    run!(tx.conn(), execute, sql, tenant, session, turn, ranker, at, rows.as_str())?;
    Ok(())
}

/// One page of a session's memories: the newest prompt first, by rank, after `before`, a prompt and a rank. The mean
/// and the number of ratings are those of the session.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    before: Option<(u64, u32)>,
    limit: u32,
) -> Result<Page<SessionMemoryRecord>> {
    let (tenant, session, more) = (tenant_id.0, session_id.0, i64::from(limit) + 1);
    let (turn, rank) = (before.map(|(turn, _)| turn.cast_signed()), before.map(|(_, rank)| i64::from(rank)));
    let rows = run!(conn, fetch_all SessionMemoryRecord, LIST, tenant, session, turn, rank, more)?;
    Ok(Page::of(rows, limit))
}

/// The place of a memory in the order of sessions, prompts and ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPlace<'a> {
    /// The session that was given it.
    pub session_id: SessionId,
    /// Sequence of the prompt.
    pub turn: u64,
    /// Which memory it was, as `session_memories` names it.
    pub memory_id: &'a str,
}

/// Memories of all sessions that are not private, after this one, by session, prompt and id. The mean and the number of
/// ratings are those of the prompt.
pub async fn after(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    place: MemoryPlace<'_>,
    limit: u32,
) -> Result<Vec<SessionMemoryRecord>> {
    let MemoryPlace { session_id, turn, memory_id } = place;
    let (tenant, session, turn, limit) = (tenant_id.0, session_id.0, turn.cast_signed(), i64::from(limit));
    Ok(run!(conn, fetch_all SessionMemoryRecord, AFTER, tenant, session, turn, memory_id, limit)?)
}

type Counted = (String, i64);

fn counts(rows: Vec<Counted>) -> HashMap<String, u64> {
    rows.into_iter().map(|(id, count)| (id, count.cast_unsigned())).collect()
}

/// The newest prompt of a session that had each of these memories in its block. Memories that none had are left out.
pub async fn newest_turns(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    ids: &[String],
) -> Result<HashMap<String, u64>> {
    let rows: Vec<Counted> = match conn {
        Conn::Sqlite(c) => {
            let ids = json!(ids).to_string();
            c.fetch_all::<Counted>(NEWEST_TURNS_SQLITE, &[&tenant_id.0, &session_id.0, &ids])?
        }
        Conn::Postgres(c) => {
            let query = sqlx::query_as(NEWEST_TURNS_POSTGRES).bind(tenant_id.0).bind(session_id.0).bind(ids);
            query.fetch_all(&mut **c).await?
        }
    };
    Ok(counts(rows))
}

/// How often each of these memories was used in prompts since this time. Memories that were not used are left out.
pub async fn recent_uses(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    since: Timestamp,
    ids: &[String],
) -> Result<HashMap<String, u64>> {
    let since = to_micros(since);
    let rows: Vec<Counted> = match conn {
        Conn::Sqlite(c) => {
            let ids = json!(ids).to_string();
            c.fetch_all::<Counted>(RECENT_USES_SQLITE, &[&tenant_id.0, &since, &ids])?
        }
        Conn::Postgres(c) => {
            let query = sqlx::query_as(RECENT_USES_POSTGRES).bind(tenant_id.0).bind(since).bind(ids);
            query.fetch_all(&mut **c).await?
        }
    };
    Ok(counts(rows))
}

/// Stores a rating. An earlier one of the same memory, prompt and rater is replaced.
pub async fn rate(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    rating: NewRating<'_>,
    at: Timestamp,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        RATE,
        tenant_id.0,
        session_id.0,
        rating.turn.cast_signed(),
        rating.memory_id,
        rating.rater,
        rating.source.as_str(),
        rating.value,
        rating.model,
        to_micros(at),
    )?;
    Ok(())
}

/// Memories of a session with at least `ratings` ratings and a mean of at most `mean`, the lowest mean first, at most
/// `max`.
pub async fn harmful(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    (ratings, mean): (u32, f64),
    max: u32,
) -> Result<Vec<String>> {
    let (ratings, max) = (i64::from(ratings), i64::from(max));
    let rows = run!(conn, fetch_all(String,), HARMFUL, tenant_id.0, session_id.0, ratings, mean, max)?;
    Ok(rows.into_iter().map(|(id,)| id).collect())
}

/// Those of these memories that have at least `ratings` ratings in all sessions together, and a mean of at most `mean`.
/// Private sessions are left out.
pub async fn harmful_in_workspace(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[String],
    (ratings, mean): (u32, f64),
) -> Result<Vec<HarmfulRecord>> {
    let ratings = i64::from(ratings);
    let rows = match conn {
        Conn::Sqlite(c) => {
            let ids = json!(ids).to_string();
            c.fetch_all::<HarmfulRecord>(HARMFUL_IN_WORKSPACE_SQLITE, &[&tenant_id.0, &ids, &ratings, &mean])?
        }
        Conn::Postgres(c) => {
            let query = sqlx::query_as(HARMFUL_IN_WORKSPACE_POSTGRES).bind(tenant_id.0).bind(ids);
            query.bind(ratings).bind(mean).fetch_all(&mut **c).await?
        }
    };
    Ok(rows)
}

/// The newest prompts for which a memory was rated, one of each session that is not private: those with the newest
/// ratings first, at most `limit`.
pub async fn rated_prompts(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    memory_id: &str,
    limit: u32,
) -> Result<Vec<RatedPrompt>> {
    Ok(run!(conn, fetch_all RatedPrompt, RATED_PROMPTS, tenant_id.0, memory_id, i64::from(limit))?)
}

/// Number of prompts of a session that had memories.
pub async fn prompts(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<u64> {
    Ok(run!(conn, fetch_one(i64,), PROMPTS, tenant_id.0, session_id.0)?.0.cast_unsigned())
}

/// The newest prompt of a session that had memories, up to this sequence.
pub async fn newest_prompt(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    upto: u64,
) -> Result<Option<u64>> {
    let row = run!(conn, fetch_optional(i64,), NEWEST_PROMPT, tenant_id.0, session_id.0, upto.cast_signed())?;
    Ok(row.map(|(turn,)| turn.cast_unsigned()))
}

/// Stores how often a memory was used for a prompt.
pub async fn save_uses(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (session_id, turn): (SessionId, u64),
    (memory_id, uses): (&str, u32),
) -> Result<()> {
    let (session, turn) = (session_id.0, turn.cast_signed());
    run!(tx.conn(), execute, SAVE_USES, tenant_id.0, session, turn, memory_id, i64::from(uses))?;
    Ok(())
}

/// Deletes what was considered in a session, with the ratings and the score of the session.
pub(crate) async fn forget(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_SESSION, tenant_id.0, session_id.0)?;
    crate::continuity::forget(tx, tenant_id, session_id).await
}

/// Deletes what is known about the memories of a document, with their ratings.
pub async fn forget_document(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: MemoryDocumentId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_DOCUMENT, tenant_id.0, id.0)?;
    Ok(())
}
