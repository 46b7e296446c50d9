//! The memories that an agent is given at the start of its work, chosen from its documents.

use crate::{
    MemoryDocumentRecord, Result,
    memory::{identified, near_beside, search_part, telling_words_and_forms_of, times_of_body, words_of},
    memory_ranker::{Rankers, scores},
    memory_vector::{Near, Vectors},
};
use chrono::NaiveDate;
use domain::{
    Timestamp,
    event::{
        Event, Known,
        kind::{Context, ContextInjected},
    },
    id::{MemoryDocumentId, SessionId, TenantId, UserId},
    limit::MEMORY_HARMFUL_MAX,
    memory::{MemoryPath, SearchWords, aliases, fold},
    memory_writer::{
        block::{Bounds, item, longest_days, render, tokens_within},
        channel::Channel,
        limit::{BLOCK_CANDIDATES_MAX, BLOCK_DATED_VERSIONS, BLOCK_NEAR_MAX, BLOCK_TERM_DOCUMENTS, SAID_CHARS_MAX},
        select::{
            Candidate, Exploration, Passage, Ranked, coverage, explore_scored, importance_of_kind, passages,
            sort_by_text, tells_apart,
        },
        text::tokens,
        turn::{self, Participant, own_path},
    },
    relevance::{REQUEST, Settings},
    session::Session,
    thread::cut,
};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, hash_map::Entry};
use store::{
    Conn,
    memory::{Around, FoundDocument},
    relevance::Considered,
};

/// Most documents in which memories are looked for.
const DOCUMENTS_MAX: u32 = 20;
/// Most messages and answers in which memories are looked for: the newest.
const MESSAGES_MAX: usize = 3;
/// Most events among which they are looked for. Answers that were undone, and their undoing, are events too.
const EVENTS_MAX: u32 = 12;

/// Between the memories and the request for ratings.
const BETWEEN: &str = "\n\n";

/// A block for a prompt, and what is recorded with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MemoryBlock {
    /// Text for the agent: the memories, then the request for ratings if it is due.
    pub(crate) text: String,
    /// Every candidate with its features, rank and slot, for the log.
    pub(crate) candidates: Value,
    /// The same candidates as rows, for ratings.
    pub(crate) considered: Vec<Considered>,
    /// Name of what ranked them.
    pub(crate) ranker: String,
    /// Whether ratings are due: the request is in the text, or the agent is to rate with a tool.
    pub(crate) is_rated: bool,
}

/// Settings of ratings and random choice.
#[derive(Debug, Clone)]
pub(crate) struct Learning {
    /// The settings of ratings.
    pub(crate) settings: Settings,
    /// Models that order memories.
    pub(crate) rankers: Rankers,
    /// Vectors of memories.
    pub(crate) vectors: Vectors,
    /// Where random numbers come from.
    pub(crate) seed: u64,
}

impl Learning {
    /// Draws a seed if something is random.
    pub(crate) fn new(settings: Settings, (rankers, vectors): (Rankers, Vectors), seed: impl FnOnce() -> u64) -> Self {
        let is_random = settings.shuffle || settings.holdout_permille > 0;
        Self { settings, rankers, vectors, seed: if is_random { seed() } else { 0 } }
    }
}

impl MemoryBlock {
    /// The block as the log records it.
    pub(crate) fn injected(&self) -> ContextInjected {
        let context = Context::Memory { ranker: self.ranker.clone(), candidates: self.candidates.clone() };
        ContextInjected { text: self.text.clone(), context }
    }
}

/// Returns the block for a session that is claimed: about its person's last message, or about its input.
pub(crate) async fn for_session(
    conn: &mut Conn<'_>,
    session: &Session,
    (bounds, learning): (Bounds, Learning),
    now: Timestamp,
) -> Result<Option<MemoryBlock>> {
    let Some(agent) = session.agent_slug.as_deref() else { return Ok(None) };
    let owner = session.user_id.map(member);
    let (said, speaker) = if crate::commit::is_thread(session) {
        if !has_memory(conn, session.tenant_id, agent).await? {
            return Ok(None);
        }
        let (kinds, end) = (
            [Known::UserMessage.as_str(), Known::UserFormSubmit.as_str()].map(str::to_owned),
            session.head_sequence + 1,
        );
        let page = store::event::before(conn, session.tenant_id, session.id, end, &kinds, EVENTS_MAX).await?;
        let undone = turn::undone(&page.items);
        // The newest first: what is too long loses its end.
        let newest = page.items.iter().rev();
        let mut settled = newest.filter(|event| !turn::can_be_undone(event, now) && !turn::is_undone(event, &undone));
        let said = settled.clone().map(|event| turn::text_of_person(&event.kind, &event.content, &event.metadata));
        let said = said.filter(|text| !text.is_empty()).take(MESSAGES_MAX).collect::<Vec<_>>().join("\n");
        // The author whom the newest message names comes before the person of the session.
        let read =
            |event: &Event| turn::read(&event.kind, &event.actor, &event.content, &event.metadata, owner.as_ref());
        let newest = settled.find_map(read);
        (said, newest.and_then(|newest| newest.speaker).or(owner))
    } else {
        (format!("{}\n{}", session.title, session.input.as_deref().unwrap_or_default()), owner)
    };
    let channel = Channel::of_session(&session.metadata, session.source.as_deref(), session.user_id);
    let (person, channel) = (speaker.as_ref(), channel.as_ref());
    let is_of_person = person.is_some() || crate::commit::is_thread(session);
    let bytes_max = usize::MAX;
    // Nothing is recorded of a session that is private, so its memories are not rated.
    let rated = if session.is_private() { Rated::Never } else { Rated::Unasked(session.id) };
    let about = About { person, is_of_person, channel, said: &said, bytes_max, bounds, rated, learning };
    select(conn, session.tenant_id, agent, about, now).await
}

/// A member of the workspace as the one who speaks. Members are known by their id alone.
pub(crate) fn member(user_id: UserId) -> Participant {
    Participant { path: own_path(user_id), name: String::new() }
}

/// Whether an agent has any document.
async fn has_memory(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<bool> {
    let found = store::memory::find_agent(conn, tenant_id, agent).await?;
    Ok(found.is_some_and(|found| found.documents > 0))
}

/// What memories are looked for.
#[derive(Debug, Clone)]
pub(crate) struct About<'a> {
    /// Person who speaks, if that is known.
    pub(crate) person: Option<&'a Participant>,
    /// Whether a person reads what the agent makes of it: what is remembered of others is left out.
    pub(crate) is_of_person: bool,
    /// Where the person speaks, if that is known.
    pub(crate) channel: Option<&'a Channel>,
    /// Text of the message.
    pub(crate) said: &'a str,
    /// Most bytes of the block; `bounds` bounds it too.
    pub(crate) bytes_max: usize,
    /// Most items and tokens of the block.
    pub(crate) bounds: Bounds,
    /// Whether the memories can be rated.
    pub(crate) rated: Rated,
    /// Settings of ratings and random choice.
    pub(crate) learning: Learning,
}

/// Whether memories can be rated.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rated {
    /// They cannot.
    Never,
    /// In this session, without a request in the text. What an agent says after a claim is its reply or its output, and
    /// the request asks for an answer that is only ratings. It rates with a tool.
    Unasked(SessionId),
    /// In this session, if it exists yet, with a request: the host shows the answer, and ratings are taken out of it.
    Asked(Option<SessionId>),
}

impl Rated {
    const fn session(self) -> Option<SessionId> {
        match self {
            Self::Never => None,
            Self::Unasked(session) => Some(session),
            Self::Asked(session) => session,
        }
    }
}

/// Whether ratings of the memories of this prompt are due.
async fn is_due(conn: &mut Conn<'_>, tenant_id: TenantId, about: &About<'_>) -> Result<bool> {
    if matches!(about.rated, Rated::Never) {
        return Ok(false);
    }
    let settings = &about.learning.settings;
    let before = match about.rated.session() {
        // Each prompt counts, so there is nothing to count.
        Some(id) if settings.every_nth > 1 => store::relevance::prompts(conn, tenant_id, id).await?,
        _ => 0,
    };
    Ok(settings.asks(before))
}

/// Memories that are not given again in a session, because they were rated as harmful.
async fn harmful(conn: &mut Conn<'_>, tenant_id: TenantId, about: &About<'_>) -> Result<HashSet<String>> {
    let Some(session) = about.rated.session() else { return Ok(HashSet::new()) };
    let settings = &about.learning.settings;
    let bounds = (settings.harmful_ratings.max(1), settings.harmful_mean);
    let harmful = store::relevance::harmful(conn, tenant_id, session, bounds, MEMORY_HARMFUL_MAX).await?;
    Ok(harmful.into_iter().collect())
}

/// Chooses memories about a text. The document of the person who speaks comes first. `None` if nothing is relevant.
pub(crate) async fn select(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    about: About<'_>,
    now: Timestamp,
) -> Result<Option<MemoryBlock>> {
    if about.bounds.is_zero() {
        return Ok(None);
    }
    let said = cut(about.said, SAID_CHARS_MAX);
    let own = about.person.and_then(|person| MemoryPath::parse(&person.path).ok());
    let most = (DOCUMENTS_MAX, BLOCK_TERM_DOCUMENTS);
    let looked_for = telling_words_and_forms_of(conn, tenant_id, agent, &said).await?;
    let channel = about.channel.map(|channel| (channel.platform.as_str(), channel.id.as_str()));
    let around = Around { beside: own.as_ref(), channel };
    let mut found = search_part(conn, tenant_id, Some(agent), &looked_for, most, around).await?;
    if let Some(person) = about.person.filter(|person| !person.name.is_empty()) {
        let names = words_of(conn, tenant_id, Some(agent), &format!("{} {}", person.name, person.id())).await?;
        let named = search_part(conn, tenant_id, Some(agent), &names, most, Around { beside: None, channel }).await?;
        let known: HashSet<MemoryDocumentId> = found.iter().map(|(found, _)| found.record.id).collect();
        let named = named.into_iter().filter(|(one, _)| !known.contains(&one.record.id) && has_alias(one, person));
        found.extend(named.map(|(one, _)| (one, 0.0)));
    }
    let near = near(conn, (tenant_id, agent), &about.learning.vectors, (&said, channel), &mut found).await?;
    // After all documents were found: one that is about this person can be near by its meaning alone.
    let theirs = about.person.map(|person| of_person(&found, person)).unwrap_or_default();
    let wanted = SearchWords::of(looked_for.iter().filter(|word| tells_apart(&word.word)));
    let mut candidates = candidates(&found, (&theirs, about.is_of_person), (&wanted, &near), now);
    let harmful = harmful(conn, tenant_id, &about).await?;
    candidates.retain(|candidate| !harmful.contains(&candidate.id));
    sort_by_text(&mut candidates);
    candidates.sort_by_key(|candidate| !candidate.same_person);
    candidates.truncate(BLOCK_CANDIDATES_MAX);
    let is_rated = is_due(conn, tenant_id, &about).await?;
    let request = if is_rated && matches!(about.rated, Rated::Asked(_)) { REQUEST } else { "" };
    let room = about.bytes_max.saturating_sub(if request.is_empty() { 0 } else { BETWEEN.len() + request.len() });
    let tokens_max = tokens_within(room).min(about.bounds.tokens);
    let Learning { settings: Settings { holdout_permille, shuffle, .. }, ref rankers, seed, .. } = about.learning;
    let exploration = Exploration { holdout_permille, shuffle, seed };
    let (candidates, ranker) = scores(conn, rankers, tenant_id, candidates, now).await?;
    let mut ranked = explore_scored(candidates, about.bounds.items, tokens_max, exploration);
    date(conn, tenant_id, &found, &mut ranked).await?;
    let Some(mut text) = render(&ranked) else { return Ok(None) };
    if !request.is_empty() {
        text = [text.as_str(), BETWEEN, request].concat();
    }
    let considered = match about.rated {
        Rated::Never => Vec::new(),
        Rated::Unasked(_) | Rated::Asked(_) => considered(&ranked, &found),
    };
    Ok(Some(MemoryBlock { text, candidates: json!(ranked), considered, ranker, is_rated }))
}

/// Cosines of the passages that are near to a message, by their indexes in their documents.
type NearPassages = HashMap<MemoryDocumentId, Vec<(usize, f32)>>;

/// Adds the documents that are near to a message by their meaning, and returns their near passages.
async fn near(
    conn: &mut Conn<'_>,
    (tenant_id, agent): (TenantId, &str),
    vectors: &Vectors,
    (said, channel): (&str, Option<(&str, &str)>),
    found: &mut Vec<(FoundDocument, f64)>,
) -> Result<NearPassages> {
    let Some(meaning) = vectors.meaning_at_once(said) else { return Ok(NearPassages::new()) };
    let known = found.iter().map(|(found, _)| (found.record.id, found.record.version)).collect();
    let of = (&known, channel);
    let agents = [agent.to_owned()];
    let (further, near) = near_beside(conn, (tenant_id, &agents), &meaning, of, DOCUMENTS_MAX as usize).await?;
    found.extend(further.into_iter().map(|further| (further, 0.0)));
    Ok(near.into_iter().map(|Near { document_id, passages, .. }| (document_id, passages)).collect())
}

/// The passages of the documents that were found which are about the message, or about the person who speaks.
fn candidates(
    found: &[(FoundDocument, f64)],
    (theirs, is_of_person): (&HashSet<MemoryDocumentId>, bool),
    (wanted, near): (&SearchWords<'_>, &NearPassages),
    now: Timestamp,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for (found, score) in found.iter().filter(|(found, _)| !found.record.path.starts_with("self/")) {
        let is_own = theirs.contains(&found.record.id);
        if is_of_person && !is_own && is_of_others(found) {
            continue;
        }
        let of = Of {
            score: *score,
            importance: found.document.importance(),
            same_person: is_own,
            same_channel: found.is_of_channel,
        };
        let near = near.get(&found.record.id).map_or(&[][..], Vec::as_slice);
        let passages = identified(&found.record, passages(&found.document.body)).enumerate().map(|(at, passage)| {
            let similarity = near.iter().find(|(near, _)| *near == at).map(|(_, cosine)| f64::from(*cosine));
            Candidate { similarity, ..candidate(&found.record, passage, (wanted, of), now) }
        });
        // Without a word or the meaning of the message only the speaker's own documents are of interest.
        candidates.extend(passages.filter(|one| one.bm25 > 0.0 || one.similarity.is_some() || is_own));
    }
    // Every message is a little near to some of many memories.
    candidates.sort_by(|one, other| other.similarity.unwrap_or(0.0).total_cmp(&one.similarity.unwrap_or(0.0)));
    let mut near = 0;
    candidates.retain(|one| {
        let is_near_only = one.bm25 <= 0.0 && !one.same_person;
        near += usize::from(is_near_only);
        !is_near_only || near <= BLOCK_NEAR_MAX
    });
    candidates
}

/// The candidates as rows. A value that is not finite is stored as 0.
fn considered(ranked: &[Ranked], found: &[(FoundDocument, f64)]) -> Vec<Considered> {
    let documents: HashMap<&str, MemoryDocumentId> =
        found.iter().map(|(found, _)| (found.record.path.as_str(), found.record.id)).collect();
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let row = |ranked: &Ranked| {
        let candidate = &ranked.candidate;
        Some(Considered {
            memory_id: candidate.id.clone(),
            document_id: *documents.get(candidate.path.as_str())?,
            memory_version: candidate.version,
            bm25: finite(candidate.bm25),
            recency_d: finite(candidate.recency_d),
            importance: finite(candidate.importance),
            same_person: candidate.same_person,
            same_channel: candidate.same_channel,
            kind: candidate.kind.clone(),
            tokens: candidate.tokens,
            rank: ranked.rank,
            slot: ranked.slot,
            propensity: ranked.propensity,
            holdout: ranked.holdout,
            similarity: candidate.similarity.filter(|cosine| cosine.is_finite()),
        })
    };
    ranked.iter().filter_map(row).collect()
}

/// Whether a document is of other people than the one who speaks: it is about one of them, or the summary of their
/// direct messages, and no one has marked it as shared.
fn is_of_others(found: &FoundDocument) -> bool {
    let path = &found.record.path;
    let is_of_one = path.starts_with("people/") || (path.starts_with("sessions/") && found.is_of_others);
    is_of_one && !found.document.is_shared()
}

/// Puts the days on which the lines of the injected items were written into these items. The lines of a first version
/// are as old as the document.
async fn date(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    found: &[(FoundDocument, f64)],
    ranked: &mut [Ranked],
) -> Result<()> {
    let mut known: HashMap<MemoryDocumentId, Vec<Timestamp>> = HashMap::new();
    for ranked in ranked.iter_mut().filter(|ranked| ranked.injected && ranked.candidate.version > 1) {
        let candidate = &mut ranked.candidate;
        let Some((document, _)) = found.iter().find(|(found, _)| found.record.path == candidate.path) else { continue };
        let record = &document.record;
        let times = match known.entry(record.id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(times_of_body(conn, record, (tenant_id, BLOCK_DATED_VERSIONS)).await?),
        };
        let mut passages = identified(record, passages(&document.document.body));
        if let Some((id, passage)) = passages.find(|(id, _)| *id == candidate.id) {
            let days: Vec<NaiveDate> = times.iter().skip(passage.line).map(Timestamp::date_naive).collect();
            candidate.text = item(&id, (&record.path, &passage.headings), &passage.text, &days);
        }
    }
    Ok(())
}

/// Whether a document is about another person under whose aliases the speaker is.
fn has_alias(found: &FoundDocument, person: &Participant) -> bool {
    found.record.path.starts_with("people/") && person.is_among(&aliases(&found.document.body))
}

/// The documents about the person who speaks: the one at their path, and the one that has them among its aliases. If
/// several have, it is not known which of them is about this person, and none counts.
fn of_person(found: &[(FoundDocument, f64)], person: &Participant) -> HashSet<MemoryDocumentId> {
    let path = fold(&person.path);
    let all = found.iter().map(|(one, _)| one);
    let (own, others): (Vec<_>, Vec<_>) = all.partition(|one| fold(&one.record.path) == path);
    let mut named = others.into_iter().filter(|one| has_alias(one, person)).map(|one| one.record.id);
    let named = named.next().filter(|_| named.next().is_none());
    own.into_iter().map(|one| one.record.id).chain(named).collect()
}

/// What all passages of a document have in common.
#[derive(Clone, Copy)]
struct Of {
    score: f64,
    importance: Option<f64>,
    same_person: bool,
    same_channel: bool,
}

fn candidate(
    document: &MemoryDocumentRecord,
    (id, passage): (String, Passage),
    (wanted, of): (&SearchWords<'_>, Of),
    now: Timestamp,
) -> Candidate {
    let share = coverage(wanted, &format!("{} {}", passage.headings, passage.text));
    // The days of later versions are read for what is injected only, and room is left for them.
    let days = match document.version {
        1 => passage.text.split('\n').map(|_| document.updated_at.date_naive()).collect(),
        _ => longest_days(&passage.text),
    };
    let text = item(&id, (&document.path, &passage.headings), &passage.text, &days);
    let kind = document.path.split('/').next().unwrap_or_default().to_owned();
    let importance = of.importance.unwrap_or_else(|| importance_of_kind(&kind));
    #[expect(clippy::cast_precision_loss, reason = "a number of seconds")]
    let recency_d = (now - document.updated_at).num_seconds().max(0) as f64 / 86_400.0;
    Candidate {
        id,
        path: document.path.clone(),
        version: document.version,
        bm25: of.score * share,
        similarity: None,
        recency_d,
        importance,
        same_person: of.same_person,
        same_channel: of.same_channel,
        kind,
        tokens: tokens(&text),
        text,
    }
}
