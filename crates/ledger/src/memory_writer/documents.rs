//! Reads the documents of a run: those that the model is shown, and those that it asks for.

use super::RunWindow;
use crate::{
    Ledger, Result,
    memory::{FoundMemory, search_on},
    memory_vector::Vectors,
};
use domain::{
    Scope, Timestamp,
    id::TenantId,
    limit::PAGE_MAX,
    memory::{Folder, MemoryPath, Operation, aliases, fold},
    memory_writer::{
        check::{PromptDocument, Window},
        dedupe::Known,
        limit::{DOCUMENTS_LISTED_MAX, DOCUMENTS_SHOWN_MAX},
        slot::session_path,
        turn::{Participant, Taint},
    },
    thread::cut,
};
use std::collections::{BTreeMap, BTreeSet};
use store::{Conn, memory::DocumentFilter};

/// Most topics that are shown because the conversation has their words.
const TOPICS_MAX: u32 = 8;
/// Most characters of the card that the model is shown.
const CARD_CHARS_MAX: usize = 6_000;
/// Documents among which the one is looked for that has a speaker among its aliases.
const ALIASES_LOOKED_AT: u32 = 20;
/// Newest versions among which documents are looked for that the model can ask for.
const VERSIONS_LOOKED_AT: u32 = 200;

/// Reads the documents of the people who take part, and of topics of which the conversation has words or to which it is
/// near in its meaning. Returns the card.
pub(super) async fn documents(
    conn: &mut Conn<'_>,
    (tenant_id, agent): (TenantId, &str),
    vectors: &Vectors,
    window: &mut Window,
    known: &Known,
) -> Result<String> {
    let own =
        store::memory::list(conn, tenant_id, agent, &DocumentFilter::of(Folder::Own), None, PAGE_MAX).await?.items;
    let own: Vec<String> = own.into_iter().map(|document| document.path).collect();
    window.documents = store::memory::find_agent(conn, tenant_id, agent).await?.map_or(0, |found| found.documents);
    let speakers = window.turns.iter().filter_map(|turn| turn.speaker.as_ref());
    let speakers: BTreeMap<String, Participant> =
        speakers.map(|speaker| (speaker.path.clone(), speaker.clone())).collect();
    for path in speakers.keys().take(DOCUMENTS_SHOWN_MAX) {
        show(conn, tenant_id, agent, path, window).await?;
        window.people.insert(path.clone());
    }
    for speaker in speakers.values().take(DOCUMENTS_SHOWN_MAX) {
        let Some(path) = by_alias(conn, tenant_id, agent, speaker).await? else { continue };
        if window.prompt_documents.len() < DOCUMENTS_SHOWN_MAX && !window.prompt_documents.contains_key(&path) {
            show(conn, tenant_id, agent, &path, window).await?;
        }
    }
    let said = window.turns.iter().filter(|turn| turn.taint == Taint::Person).map(|turn| turn.text.as_str());
    // The limits of the window bound it.
    let said = said.collect::<Vec<_>>().join("\n");
    // Within the snapshot, so no service is asked.
    let meaning = vectors.meaning_at_once(&said);
    for found in search_on(conn, tenant_id, Some(agent), (&said, meaning.as_ref()), TOPICS_MAX * 2).await? {
        let path = found.document.path;
        if path.starts_with("topics/") && window.prompt_documents.len() < DOCUMENTS_SHOWN_MAX {
            show(conn, tenant_id, agent, &path, window).await?;
        }
        if is_listed(&path) {
            window.listed.push(path);
        }
    }
    let (card, rest) = card(conn, tenant_id, agent, &own).await?;
    window.listed.extend(rest);
    list_newest(conn, tenant_id, agent, window).await?;
    window.known.extend(window.listed.iter().cloned());
    let existing = window.prompt_documents.iter().filter(|(_, shown)| shown.version > 0).map(|(path, _)| path.clone());
    window.known.extend(existing);
    // The first turn is the earliest one.
    if let Some(first) = window.turns.first().map(|turn| turn.time) {
        window.session_path = free_path(conn, tenant_id, agent, first, known).await?;
    }
    Ok(card)
}

/// Finds a speaker's document under another platform, by the rule of the memory block: the one that has them among its
/// aliases. `None` if several have.
async fn by_alias(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    speaker: &Participant,
) -> Result<Option<String>> {
    let names = format!("{} {}", speaker.name, speaker.id());
    // Names have no meaning that vectors could compare.
    let found = search_on(conn, tenant_id, Some(agent), (&names, None), ALIASES_LOOKED_AT).await?;
    let is_theirs = |found: &FoundMemory| {
        let path = &found.document.path;
        let is_other = path.starts_with("people/") && fold(path) != fold(&speaker.path);
        is_other && speaker.is_among(&aliases(&found.text))
    };
    let mut theirs = found.into_iter().filter(is_theirs).map(|found| found.document.path);
    Ok(theirs.next().filter(|_| theirs.next().is_none()))
}

/// Whether the prompt lists a document for the model to request. Of the card it lists the parts that it does not
/// contain.
fn is_listed(path: &str) -> bool {
    !path.starts_with("self/")
}

/// Adds the newest documents to those that the model can ask for.
async fn list_newest(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, window: &mut Window) -> Result<()> {
    let mut seen = BTreeSet::new();
    for version in store::memory::audit(conn, tenant_id, agent, None, VERSIONS_LOOKED_AT).await?.items {
        // Newest first: the first version of a document says what it is now.
        let is_newest = seen.insert(version.document_id.0);
        let is_gone = matches!(version.operation, Operation::Deleted | Operation::Erased);
        if is_newest && !is_gone && is_listed(&version.path) && !window.listed.contains(&version.path) {
            window.listed.push(version.path);
        }
    }
    window.listed.truncate(DOCUMENTS_LISTED_MAX);
    Ok(())
}

/// Returns a path for this run's session document that no document and no proposal has.
async fn free_path(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    began: Timestamp,
    known: &Known,
) -> Result<String> {
    let mut taken = BTreeSet::new();
    loop {
        let path = session_path(began, |path| taken.contains(path) || known.pending.contains_key(path));
        if !exists(conn, tenant_id, agent, &path).await? || !taken.insert(path.clone()) {
            return Ok(path);
        }
    }
}

async fn exists(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, path: &str) -> Result<bool> {
    let Ok(path) = MemoryPath::parse(path) else { return Ok(false) };
    let found = store::memory::find_by_path(conn, tenant_id, agent, &path).await?;
    Ok(found.is_some_and(|found| !found.is_deleted))
}

/// Finds out which of these documents exist, for the check of an answer that names them.
pub async fn note_named(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    paths: Vec<String>,
    run: RunWindow,
) -> Result<RunWindow> {
    let (scope, agent) = (Scope::system(tenant_id), agent.to_owned());
    let read = ledger.snapshot(&scope, async move |conn| {
        let mut run = run;
        for path in paths {
            if exists(conn, tenant_id, &agent, &path).await? {
                run.window.known.insert(path);
            }
        }
        Ok(run)
    });
    read.await
}

/// Reads the card. Also returns its documents that are not shown, or not to their end.
async fn card(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    paths: &[String],
) -> Result<(String, Vec<String>)> {
    let (mut card, mut rest) = (String::new(), Vec::new());
    for path in paths {
        let Ok(parsed) = MemoryPath::parse(path) else { continue };
        if !path.contains("mes_example") && card.chars().count() < CARD_CHARS_MAX {
            let Some((_, shown)) = read_shown(conn, tenant_id, agent, &parsed).await? else { continue };
            card.push_str(&format!("{}:\n{}\n\n", parsed.name(), shown.body.trim()));
            if card.trim_end().chars().count() <= CARD_CHARS_MAX {
                continue;
            }
        }
        rest.push(path.clone());
    }
    Ok((cut(card.trim(), CARD_CHARS_MAX), rest))
}

/// Adds a document to those that the model is shown.
async fn show(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, path: &str, window: &mut Window) -> Result<()> {
    let Ok(parsed) = MemoryPath::parse(path) else { return Ok(()) };
    let found = read_shown(conn, tenant_id, agent, &parsed).await?;
    let absent = || PromptDocument { version: 0, sha256: String::new(), body: String::new() };
    window.prompt_documents.insert(path.to_owned(), found.map_or_else(absent, |(_, shown)| shown));
    Ok(())
}

async fn read_shown(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    path: &MemoryPath,
) -> Result<Option<(String, PromptDocument)>> {
    let found = store::memory::find_by_path(conn, tenant_id, agent, path).await?.filter(|found| !found.is_deleted);
    let Some(found) = found else { return Ok(None) };
    let text = store::memory::text(conn, tenant_id, found.id, found.version).await?;
    let body = text.map(|text| text.document.body).unwrap_or_default();
    let shown = PromptDocument { version: found.version, sha256: found.digest.to_string(), body };
    Ok(Some((found.path, shown)))
}

/// Reads further documents that the model asked for, whatever their folder. What the run may change stays as it is: a
/// document of a person who takes no part, and the card, are read only. Returns whether any was read.
pub async fn read_more(
    ledger: &Ledger,
    tenant_id: TenantId,
    agent: &str,
    paths: Vec<String>,
    run: RunWindow,
) -> Result<(RunWindow, bool)> {
    let (scope, agent) = (Scope::system(tenant_id), agent.to_owned());
    let read = ledger.snapshot(&scope, async move |conn| {
        let mut run = run;
        let before = run.window.prompt_documents.len();
        for path in paths.into_iter().take(DOCUMENTS_LISTED_MAX) {
            let window = &mut run.window;
            let is_new =
                !window.prompt_documents.contains_key(&path) && window.prompt_documents.len() < DOCUMENTS_SHOWN_MAX;
            if is_new && exists(conn, tenant_id, &agent, &path).await? {
                show(conn, tenant_id, &agent, &path, window).await?;
                window.known.insert(path);
            }
        }
        let is_more = run.window.prompt_documents.len() > before;
        Ok((run, is_more))
    });
    read.await
}
