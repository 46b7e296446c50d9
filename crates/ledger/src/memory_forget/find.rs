//! Finds what is known about a person, and reports which part of it is erased.

use super::{
    ADMINS,
    lead::{self, ForgottenLead},
    person::{Person, Turns, member_of, names_of, parse},
    promoted::{self, PromotedEntity},
    training,
};
use crate::{
    Ledger, Result,
    guard::{Fields, require_for},
    interaction::CapturedData,
};
use domain::{
    Caller, Scope,
    count::counted,
    gate::Task,
    id::{GateId, MemoryDocumentId, MemoryVersionId, SessionId, TenantId},
    limit::{MEMORY_FORGET_LINES_MAX, MEMORY_FORGET_NAMES_MAX, NAME_CHARS_MAX, PAGE_MAX},
    memory_forget::{Names, PersonLines, RemovalReason, RemovedLine, is_long_enough, strip},
    role::Permission,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::{
    Conn, MemoryVersionText,
    memory_forget::{DenialRecord, ProposalRecord},
};

/// Versions that one read returns.
const VERSIONS: u32 = 200;

/// Whom to forget.
#[derive(Debug, Clone, Default)]
pub struct Forget {
    /// Platform and id, such as `discord-1234`, or the path of their document.
    pub person: String,
    /// Names that are looked for. Without them: the title and aliases of their documents, except those that a member
    /// added to the document about themselves; the names under which they wrote, and those of a member.
    pub names: Option<Vec<String>>,
}

/// What is erased, and what is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgetting {
    /// Path of the person's document.
    pub path: String,
    /// Names that are looked for.
    pub names: Vec<String>,
    /// Names that are too short to be looked for.
    pub short_names: Vec<String>,
    /// Documents that are erased or lose lines, by agent and path.
    pub documents: Vec<ForgottenDocument>,
    /// Proposals whose texts are erased, decided or not. One that waits is withdrawn.
    pub proposals: Vec<ForgottenProposal>,
    /// Number of denied lines that are deleted.
    pub denials: u64,
    /// Leads with a name or an address of the person, at most [`domain::limit::MEMORY_FORGET_LEADS_MAX`].
    pub leads: Vec<ForgottenLead>,
    /// Entities that were made from responses of the person and are kept, at most
    /// [`domain::limit::MEMORY_FORGET_PROMOTED_MAX`].
    pub promoted: Vec<PromotedEntity>,
    /// Number of captured prompts with answers that are deleted.
    pub interactions: u64,
    /// Their sessions, and others of which something was going to be captured.
    pub captured_sessions: Vec<SessionId>,
    /// What is not touched or cannot be found, as sentences.
    pub kept: Vec<String>,
    /// Whether the erasure is complete; `false` in a preview.
    pub is_done: bool,
}

/// A document about the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenDocument {
    /// Slug of the agent.
    pub agent: String,
    /// Path of the document.
    pub path: String,
    /// Whether nothing is left of it.
    pub is_whole: bool,
    /// Lines of its newest version that are removed, at most [`MEMORY_FORGET_LINES_MAX`] in all documents.
    pub lines: Vec<RemovedLine>,
    /// Number of versions whose text is erased.
    pub versions: u64,
}

/// A proposal about the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenProposal {
    /// Slug of the agent.
    pub agent: String,
    /// Document that it would change.
    pub path: String,
    /// Waits for the decision, or ended with it.
    pub session_id: SessionId,
    /// Whether it waits for a decision.
    pub waits: bool,
}

/// What was found, with what the erasure needs.
pub(super) struct Found {
    pub(super) answer: Forgetting,
    pub(super) names: Names,
    /// Documents that lose lines, with the lines that come from the person's turns.
    pub(super) lines: Vec<(MemoryDocumentId, PersonLines)>,
    /// The person's own documents.
    pub(super) own: Vec<MemoryDocumentId>,
    pub(super) denials: Vec<DenialRecord>,
}

impl Forgetting {
    /// Adds what is captured of the person, and names the exports whose files can have it.
    pub(super) fn add(&mut self, found: CapturedData) {
        let CapturedData { sessions, interactions, exports } = found;
        self.captured_sessions = sessions;
        self.interactions = interactions;
        if interactions == 0 {
            return;
        }
        self.kept.push(match exports.is_empty() {
            true => "No export was begun since their first answer was captured.".to_owned(),
            false => {
                let names: Vec<_> = exports.iter().map(training::named).collect();
                format!("Files of earlier exports can have these answers and are not changed: {}.", names.join("; "))
            }
        });
        let from_files = "Exports that `shiftbook export training --from` made of files are not recorded. Look for them \
                          where those files are.";
        self.kept.push(from_files.to_owned());
    }
}

/// Returns what [`super::forget`] would erase, and what it would not.
///
/// # Errors
/// [`crate::Error::Invalid`] for a text that names no person, and for wrong names.
pub async fn preview(ledger: &Ledger, scope: &Scope, of: Forget) -> Result<Forgetting> {
    let person = of.person.clone();
    let mut answer = find(ledger, scope, of).await?.answer;
    answer.add(training::find(ledger, scope, &person).await?);
    Ok(answer)
}

/// Checks the request and finds everything in one snapshot.
pub(super) async fn find(ledger: &Ledger, scope: &Scope, of: Forget) -> Result<Found> {
    require_for(scope, Permission::Administer, ADMINS)?;
    let person = parse(&of.person)?;
    let mut fields = Fields::default();
    for name in of.names.iter().flatten() {
        fields.line("names", name, NAME_CHARS_MAX);
    }
    if of.names.iter().flatten().count() > MEMORY_FORGET_NAMES_MAX {
        fields.refuse("names", format!("at most {MEMORY_FORGET_NAMES_MAX}"));
    }
    fields.check()?;
    let tenant_id = scope.tenant_id;
    let found = ledger.snapshot(scope, async move |conn| {
        let mut search = Search::new(tenant_id, person);
        search.first_pass(conn, of.names).await?;
        search.second_pass(conn).await?;
        search.proposals(conn).await?;
        search.denials(conn).await?;
        let leads = lead::find(conn, tenant_id, &search.given).await?;
        let member = member_of(&search.person.path);
        search.found.answer.promoted = promoted::find(conn, tenant_id, &leads, member).await?;
        search.found.answer.leads = leads;
        Ok(search.done())
    });
    found.await
}

/// A document that was seen.
struct Seen {
    agent: String,
    path: String,
    newest: u64,
    versions: u64,
    is_hit: bool,
    is_own: bool,
}

struct Search {
    tenant_id: TenantId,
    person: Person,
    turns: Turns,
    given: Vec<String>,
    /// Names that only the person wrote, in the document about themselves. They are not looked for.
    own_names: BTreeSet<String>,
    names: Names,
    seen: HashMap<MemoryDocumentId, Seen>,
    said: HashMap<MemoryDocumentId, PersonLines>,
    every_line: PersonLines,
    gates: BTreeSet<GateId>,
    found: Found,
}

impl Search {
    fn new(tenant_id: TenantId, person: Person) -> Self {
        let answer = Forgetting { path: person.path.as_str().to_owned(), ..Forgetting::default() };
        let found = Found { answer, names: Names::default(), lines: Vec::new(), own: Vec::new(), denials: Vec::new() };
        Self {
            tenant_id,
            turns: Turns::new(tenant_id, &person.path),
            person,
            given: Vec::new(),
            own_names: BTreeSet::new(),
            names: Names::default(),
            seen: HashMap::new(),
            said: HashMap::new(),
            every_line: PersonLines::default(),
            gates: BTreeSet::new(),
            found,
        }
    }

    /// Finds the person's own documents, the lines that come from their turns, and their names.
    async fn first_pass(&mut self, conn: &mut Conn<'_>, given: Option<Vec<String>>) -> Result<()> {
        let (mut names, mut own_names) = (BTreeSet::new(), BTreeSet::new());
        let own_author = member_of(&self.person.path).map(|id| Caller::User(id).to_string());
        let mut pages = Versions::new(conn, self.tenant_id).await?;
        while let Some(page) = pages.next(conn).await? {
            for one in page {
                let is_own = self.person.owns(&one.version.path);
                if is_own {
                    // Members write the document about themselves, and a name can be any word of others' memories.
                    // A name that they added stays theirs in later versions.
                    let is_theirs = own_author.as_ref() == Some(&one.version.author);
                    let (of, other) = if is_theirs { (&mut own_names, &names) } else { (&mut names, &own_names) };
                    let mut found = BTreeSet::new();
                    names_of(&one.document, &mut found);
                    of.extend(found.into_iter().filter(|name| !other.contains(name)));
                }
                self.see(&one, is_own);
                let text = one.document.to_text();
                let lines: Vec<&str> = text.lines().collect();
                for evidence in &one.version.evidence {
                    let Some(line) = lines.get(evidence.line as usize - 1) else { continue };
                    if self.turns.is_theirs(conn, evidence.session, evidence.sequence).await? {
                        self.said.entry(one.version.document_id).or_default().add(line);
                        self.every_line.add(line);
                    }
                }
            }
        }
        names.append(&mut self.turns.names);
        if let Some(member) = member_of(&self.person.path) {
            let member = store::user::find_any_member(conn, self.tenant_id, member).await?;
            names.extend(member.into_iter().flat_map(|member| [member.name, member.email]));
        }
        self.own_names = if given.is_some() { BTreeSet::new() } else { &own_names - &names };
        let names = names.into_iter().filter(|name| !name.is_empty());
        self.given = given.unwrap_or_else(|| names.collect());
        self.names = Names::new(&self.person.path, &self.given);
        Ok(())
    }

    fn see(&mut self, one: &MemoryVersionText, is_own: bool) {
        let seen = self.seen.entry(one.version.document_id).or_insert_with(|| Seen {
            agent: one.version.agent.clone(),
            path: String::new(),
            newest: 0,
            versions: 0,
            is_hit: false,
            is_own: false,
        });
        seen.versions += 1;
        seen.is_own |= is_own;
        if one.version.version > seen.newest {
            seen.newest = one.version.version;
            seen.path.clone_from(&one.version.path);
        }
    }

    /// Finds the documents of which any version has such a line or names the person.
    async fn second_pass(&mut self, conn: &mut Conn<'_>) -> Result<()> {
        let mut pages = Versions::new(conn, self.tenant_id).await?;
        while let Some(page) = pages.next(conn).await? {
            for one in page {
                let version = &one.version;
                let names_them = [&version.path, &version.reason].into_iter().any(|text| self.names.are_in(text));
                let is_hit = names_them
                    || self.names.are_in(&one.document.to_text())
                    || self.said.contains_key(&version.document_id);
                if let Some(seen) = self.seen.get_mut(&version.document_id) {
                    seen.is_hit |= is_hit;
                }
            }
        }
        let mut hits: BTreeMap<(String, String), MemoryDocumentId> = BTreeMap::new();
        for (id, seen) in &self.seen {
            if seen.is_own || seen.is_hit {
                hits.insert((seen.agent.clone(), format!("{}\n{id}", seen.path)), *id);
            }
        }
        let mut room = MEMORY_FORGET_LINES_MAX;
        for id in hits.into_values() {
            self.hit(conn, id, &mut room).await?;
        }
        Ok(())
    }

    async fn hit(&mut self, conn: &mut Conn<'_>, id: MemoryDocumentId, room: &mut usize) -> Result<()> {
        let Some(seen) = self.seen.get(&id) else { return Ok(()) };
        if seen.path.starts_with("self/") {
            let Seen { agent, path, .. } = seen;
            let why =
                format!("{path} of {agent} names the person. It is part of the agent's character: change it there.");
            self.found.answer.kept.push(why);
            return Ok(());
        }
        let said = self.said.remove(&id).unwrap_or_default();
        let newest = store::memory::text(conn, self.tenant_id, id, seen.newest).await?;
        let text = newest.map(|newest| newest.document.to_text()).unwrap_or_default();
        let left = strip(&text, &self.names, &said);
        let is_whole = seen.is_own || left.is_nothing() || self.names.are_in(&seen.path);
        let mut lines = if is_whole { strip_all(&text) } else { left.dropped };
        lines.truncate(*room);
        *room -= lines.len();
        if self.person.has_earlier(&seen.path) {
            let Seen { agent, path, .. } = seen;
            let why = format!("{path} of {agent} goes whole. Earlier versions gave other people the same name.");
            self.found.answer.kept.push(why);
        }
        let (agent, path, versions) = (seen.agent.clone(), seen.path.clone(), seen.versions);
        self.found.answer.documents.push(ForgottenDocument { agent, path, is_whole, lines, versions });
        if seen.is_own {
            self.found.own.push(id);
        } else {
            self.found.lines.push((id, said));
        }
        Ok(())
    }

    async fn proposals(&mut self, conn: &mut Conn<'_>) -> Result<()> {
        let mut after = None;
        loop {
            let page = store::memory_forget::proposals(conn, self.tenant_id, after, PAGE_MAX).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.gate_id);
            for proposal in page {
                if !self.is_about(conn, &proposal).await? {
                    continue;
                }
                let Task::Memory(task) = proposal.task else { continue };
                self.gates.insert(proposal.gate_id);
                let ProposalRecord { session_id, agent, waits, .. } = proposal;
                self.found.answer.proposals.push(ForgottenProposal { agent, path: task.path, session_id, waits });
            }
        }
    }

    async fn is_about(&mut self, conn: &mut Conn<'_>, proposal: &ProposalRecord) -> Result<bool> {
        let Task::Memory(task) = &proposal.task else { return Ok(false) };
        let body = task.body();
        let texts =
            [task.path.as_str(), &task.base, &body, &task.reason, proposal.input.as_deref().unwrap_or_default()];
        let quotes = |text: &&str| text.lines().any(|line| self.every_line.has(line));
        if self.person.owns(&task.path)
            || texts.iter().any(|text| self.names.are_in(text))
            || (!self.every_line.is_empty() && texts[1..3].iter().any(quotes))
        {
            return Ok(true);
        }
        let of_lines = task.evidence.iter().map(|one| (one.session, one.sequence));
        let turns: BTreeSet<_> = task.turns.iter().map(|one| (one.session, one.sequence)).chain(of_lines).collect();
        for (session, sequence) in turns {
            if self.turns.is_theirs(conn, session, sequence).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn denials(&mut self, conn: &mut Conn<'_>) -> Result<()> {
        let mut after: Option<(String, String)> = None;
        loop {
            let from = after.as_ref().map(|(agent, line)| (agent.as_str(), line.as_str()));
            let page = store::memory_forget::denials(conn, self.tenant_id, from, PAGE_MAX).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some((last.agent.clone(), last.line.clone()));
            for denial in page {
                let names_them = [&denial.line, &denial.path, &denial.reason].into_iter().any(|t| self.names.are_in(t));
                let is_theirs = self.gates.contains(&denial.gate_id) || self.person.owns(&denial.path);
                if names_them || is_theirs || self.every_line.has(&denial.line) {
                    self.found.denials.push(denial);
                }
            }
        }
    }

    fn done(self) -> Found {
        let Self { mut found, turns, given, own_names, names, .. } = self;
        found.names = names;
        let (long, short) = given.into_iter().partition(|name| is_long_enough(name));
        found.answer.names = long;
        found.answer.short_names = short;
        found.answer.denials = found.denials.len() as u64;
        let kept = &mut found.answer.kept;
        kept.extend(promoted::sentence(&found.answer.promoted));
        let count = turns.sessions.len() as u64;
        if count > 0 {
            let conversations = counted(count, "conversation");
            kept.push(format!(
                "Memories came from {conversations} with this person. Their logs, and the memory blocks in logs, keep their text until retention erases it."
            ));
        } else {
            kept.push(
                "Logs of conversations, and the memory blocks in them, keep their text until retention erases it."
                    .into(),
            );
        }
        if !turns.alike.is_empty() {
            let paths: Vec<_> = turns.alike.into_iter().collect();
            kept.push(format!(
                "Earlier versions gave other people the same name. What they said stays; forget them too, if it is them: {}.",
                paths.join(", ")
            ));
        }
        if turns.unknown > 0 {
            kept.push(format!(
                "Erased turns that memories come from: {}. Whether they were this person's is not known.",
                turns.unknown
            ));
        }
        if !found.answer.short_names.is_empty() {
            let names = found.answer.short_names.join(", ");
            kept.push(format!("Not looked for, because they are too short: {names}."));
        }
        if !own_names.is_empty() {
            let names = own_names.into_iter().collect::<Vec<_>>().join(", ");
            kept.push(format!(
                "Not looked for, because only the person wrote these names: {names}. Give them as names to look for them."
            ));
        }
        kept.push(
            "Lines that mean the person without a name, and lines that a reviewer reworded, are not found.".into(),
        );
        kept.push("Messages that were sent, and backups, are not touched.".into());
        found
    }
}

/// Every line of a text, as removed together with its document.
fn strip_all(text: &str) -> Vec<RemovedLine> {
    let whole = |(line, text): (u32, &str)| RemovedLine { line, text: text.to_owned(), why: RemovalReason::Whole };
    (1_u32..).zip(text.lines()).map(whole).collect()
}

/// Reads the versions of all agents page by page.
struct Versions {
    tenant_id: TenantId,
    agents: Vec<String>,
    after: Option<MemoryVersionId>,
}

impl Versions {
    async fn new(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Self> {
        let mut agents: Vec<String> = Vec::new();
        loop {
            let after = agents.last().map(String::as_str);
            let page = store::memory::agents(conn, tenant_id, after, PAGE_MAX).await?;
            if page.is_empty() {
                return Ok(Self { tenant_id, agents, after: None });
            }
            agents.extend(page.into_iter().map(|one| one.agent));
        }
    }

    async fn next(&mut self, conn: &mut Conn<'_>) -> Result<Option<Vec<MemoryVersionText>>> {
        while let Some(agent) = self.agents.last() {
            let page = store::memory::texts_after(conn, self.tenant_id, agent, self.after, VERSIONS).await?;
            if let Some(last) = page.last() {
                self.after = Some(last.version.id);
                return Ok(Some(page));
            }
            self.after = None;
            self.agents.pop();
        }
        Ok(None)
    }
}
