//! Verifies one session: its events, its row against them, and its failure against both.

use super::{canvas::Folded, derived::Derived};
use crate::{
    FailureRecord, InstanceKey, Ledger, Result,
    commit::{
        bound_row::{self, RecordedStatusChange, RowBinding},
        effect::failure_of,
    },
    retention::{event_link, is_sealed},
};
use domain::{
    chain::{Digest, body_digest, extend, extend_erased},
    event::{Event, Known},
    id::{SessionId, TenantId},
    session::Session,
};
use store::{
    Access,
    retention::{ERASED, ErasureRecord},
};

/// Number of events that one read returns.
const EVENTS: u32 = 1_000;

/// The result for one session.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Number of events verified.
    pub(super) events: u64,
    /// Number of these events that were erased.
    pub(super) erased: u64,
    /// Whether the session is final and its row is not bound by the log.
    pub(super) is_unbound: bool,
    /// Whether the session has not ended and what it was created with is not bound by the log.
    pub(super) is_open_unbound: bool,
    /// Whether its erasure was accepted without checking the seal.
    pub(super) is_unsealed: bool,
    /// Whether its erasure was sealed with another key than the first one.
    pub(super) has_other_seal: bool,
    /// The first bad sequence and the error.
    pub(super) bad: Option<(u64, String)>,
}

/// Verifies one session.
pub(super) async fn check(
    ledger: &Ledger,
    keys: &[InstanceKey],
    tenant_id: TenantId,
    id: SessionId,
) -> Result<Checked> {
    let mut checked = Checked::default();
    let read = ledger.store().read_by_operator(Access::System, async move |conn| {
        // The row is read first. Later events are not part of this check.
        let session = store::session::find(conn, tenant_id, id).await?;
        let erasure = store::retention::of_session(conn, tenant_id, id).await?;
        let failure = match &session {
            Some(session) if session.status().is_final() => store::failure::find(conn, tenant_id, id).await?,
            _ => None,
        };
        let canvas = Folded::read(conn, tenant_id, id).await?;
        Ok((session, erasure, failure, canvas))
    });
    let (session, erasure, recorded, canvas) = match read.await {
        Ok((Some(session), erasure, recorded, canvas)) => (session, erasure, recorded, canvas),
        Ok((None, ..)) => {
            checked.bad = Some((0, "its row is gone".into()));
            return Ok(checked);
        }
        Err(store::Error::Inconsistent(what)) => {
            checked.bad = Some((0, what));
            return Ok(checked);
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(erasure) = &erasure {
        checked.is_unsealed = keys.is_empty();
        let sealed_with = keys.iter().position(|key| is_sealed(key, tenant_id, id, erasure));
        checked.has_other_seal = sealed_with.is_some_and(|at| at > 0);
        if !keys.is_empty() && sealed_with.is_none() {
            checked.bad = Some((erasure.head_sequence, "its erasure was not sealed by this installation".into()));
            return Ok(checked);
        }
    }
    // The content of patches is erased with that of the other events.
    let canvas = canvas.filter(|_| erasure.is_none());
    let mut walk = Walk { canvas, ..Walk::new(tenant_id, erasure) };
    checked.bad = events(ledger, &session, &mut walk, &mut checked.events).await?;
    if checked.bad.is_none() {
        checked.bad = walk.erased_events().map(|problem| (walk.sequence, problem));
    }
    checked.erased = walk.erased;
    checked.is_open_unbound = walk.open.is_none() && !session.status().is_final();
    if checked.bad.is_none() {
        let problem = match row(&session, &walk, &mut checked.is_unbound) {
            None => created(&session, &walk)?,
            problem => problem,
        };
        let problem = problem.or_else(|| derived(&session, &walk));
        let problem = problem.or_else(|| labels(&session, &walk));
        let problem = problem.or_else(|| failure(&session, &walk, recorded.as_ref()));
        let problem = match (problem, walk.canvas.take()) {
            (None, Some(canvas)) => canvas.problem(ledger, (tenant_id, id), session.head_sequence).await?,
            (problem, _) => problem,
        };
        checked.bad = problem.map(|problem| (walk.sequence, problem));
    }
    Ok(checked)
}

/// Verifies the events up to the head that the row names.
async fn events(ledger: &Ledger, session: &Session, walk: &mut Walk, count: &mut u64) -> Result<Option<(u64, String)>> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    loop {
        let range = (walk.sequence, session.head_sequence);
        let read = ledger.store().read_by_operator(Access::System, async move |conn| {
            store::event::after(conn, tenant_id, id, range, &[], EVENTS).await
        });
        let page = match read.await {
            Ok(page) => page,
            Err(store::Error::Inconsistent(what)) => {
                let read = ledger.store().read_by_operator(Access::System, async move |conn| {
                    store::verify::unknown_of_events(conn, tenant_id, id).await
                });
                return Ok(Some((walk.sequence + 1, read.await?.into_iter().next().unwrap_or(what))));
            }
            Err(error) => return Err(error.into()),
        };
        for event in &page.items {
            *count += 1;
            if let Err(problem) = walk.step(event) {
                return Ok(Some((walk.sequence + 1, problem)));
            }
        }
        if !page.has_more {
            break;
        }
    }
    if walk.sequence != session.head_sequence {
        return Ok(Some((walk.sequence + 1, format!("missing: the session says it has {}", session.head_sequence))));
    }
    if walk.digest != session.head_digest {
        return Ok(Some((walk.sequence, "the session's head has another digest than its last event".into())));
    }
    Ok(None)
}

/// Checks the row against its log. Returns the error, if there is one.
fn row(session: &Session, walk: &Walk, is_unbound: &mut bool) -> Option<String> {
    if let Some(ErasureRecord { finished_at: Some(_), row_digest, .. }) = &walk.erasure {
        *is_unbound = row_digest.is_none();
        let is_same = row_digest.is_none_or(|digest| digest == bound_row::digest_of(session));
        return (!is_same).then(|| "its row was changed after its content was erased".into());
    }
    let Some(RecordedStatusChange { to, bound, .. }) = &walk.status_change else {
        // An erasure in progress has already erased the metadata of the status change.
        *is_unbound = session.status().is_final();
        return None;
    };
    if *to != session.status() {
        return Some(format!("its row says {}, its log {to}", session.status()));
    }
    match bound {
        RowBinding::Not => {
            *is_unbound = session.status().is_final();
            None
        }
        RowBinding::To(digest) if *digest == bound_row::digest_of(session) => None,
        RowBinding::To(_) => Some("its row was changed after it ended".into()),
        RowBinding::Unknown => Some("its row is bound in a way that this version does not know".into()),
    }
}

/// Checks what the session was created with against its log. Returns the error, if there is one. Nothing is compared
/// once the content is erased, and of sessions that an earlier version created.
fn created(session: &Session, walk: &Walk) -> Result<Option<String>> {
    if walk.erasure.is_some() {
        return Ok(None);
    }
    Ok(match walk.open {
        Some(RowBinding::To(digest)) if digest != bound_row::open_digest_of(session)? => {
            Some("its title, input, metadata, owner, privacy or origin was changed after it was created".to_owned())
        }
        Some(RowBinding::Unknown) => Some("its creation is bound in a way that this version does not know".to_owned()),
        Some(RowBinding::To(_) | RowBinding::Not) | None => None,
    })
}

/// Checks the columns that change while a session is open against its log. Returns the error, if there is one. Nothing
/// is compared where [`created`] compares nothing. Ended sessions are compared too, because a change from before the
/// end is in the digest of the row.
fn derived(session: &Session, walk: &Walk) -> Option<String> {
    if walk.erasure.is_some() || walk.open.is_none() {
        return None;
    }
    let column = walk.derived.contradicted(session)?;
    Some(format!("its {column} does not follow from its log"))
}

/// Checks tags and assignee, which change in every status. An erasure takes both with the content.
fn labels(session: &Session, walk: &Walk) -> Option<String> {
    match walk.erasure {
        None => {
            let column = walk.derived.contradicted_label(session)?;
            Some(format!("its {column} does not follow from its log"))
        }
        Some(ErasureRecord { finished_at: Some(_), .. }) => {
            let is_clear = session.tags.is_empty() && session.assignee.is_none();
            (!is_clear).then(|| "its tags or its assignee were changed after its content was erased".to_owned())
        }
        Some(_) => None,
    }
}

/// Checks the failure, which is a row of its own, against the session's row and the reason in its log. Returns the
/// error, if there is one. What is not bound by the log is not compared.
fn failure(session: &Session, walk: &Walk, recorded: Option<&FailureRecord>) -> Option<String> {
    let is_erased = walk.erasure.is_some_and(|erasure| erasure.finished_at.is_some());
    let reason = match &walk.status_change {
        Some(RecordedStatusChange { reason, bound: RowBinding::To(_), .. }) => reason.as_str(),
        _ if is_erased => ERASED,
        _ => return None,
    };
    let problem = match (failure_of(session, reason), recorded) {
        (None, None) => return None,
        // Sessions may have ended, and been erased later, before failures were recorded.
        (Some(_), None) if is_erased => return None,
        (Some(_), None) => "its failure is gone",
        (None, Some(_)) => "it has a failure, but it did not fail",
        (Some((code, message)), Some(found)) => {
            let is_same = found.code == code && found.message == message && found.action_id == session.action_id;
            if is_same && Some(found.at) == session.completed_at() {
                return None;
            }
            "its failure was changed"
        }
    };
    Some(problem.to_owned())
}

struct Walk {
    tenant_id: TenantId,
    sequence: u64,
    digest: Digest,
    /// Digest of the events that the erasure covers, as it leaves them.
    erased_digest: Digest,
    erasure: Option<ErasureRecord>,
    erased: u64,
    /// The last status change in the log, if it can be read.
    status_change: Option<RecordedStatusChange>,
    /// How the log binds what the session was created with; `None` if an earlier version created it.
    open: Option<RowBinding>,
    derived: Derived,
    /// The canvas of the session, as it follows from the patches so far.
    canvas: Option<Folded>,
}

impl Walk {
    const fn new(tenant_id: TenantId, erasure: Option<ErasureRecord>) -> Self {
        Self {
            tenant_id,
            sequence: 0,
            digest: Digest::GENESIS,
            erased_digest: Digest::GENESIS,
            erasure,
            erased: 0,
            status_change: None,
            open: None,
            derived: Derived::new(),
            canvas: None,
        }
    }

    /// Checks one event against the previous one.
    fn step(&mut self, event: &Event) -> std::result::Result<(), String> {
        if event.sequence != self.sequence + 1 {
            return Err("missing".into());
        }
        if body_digest(&event.content, &event.metadata) != event.body {
            if !self.is_erased(event) {
                return Err("its content or metadata was changed".into());
            }
            self.erased += 1;
        }
        let link = event_link(self.tenant_id, event);
        if extend(self.digest, &link) != event.digest && !self.has_erased_id(event) {
            return Err("its digest does not follow from its fields and the event before it".into());
        }
        if self.erasure.is_some_and(|erasure| event.sequence <= erasure.head_sequence) {
            self.erased_digest = extend_erased(self.erased_digest, &link, event.digest);
        }
        self.sequence = event.sequence;
        self.digest = event.digest;
        // Only use cases of the server write events of these kinds.
        let known = event.known();
        self.derived.saw(event);
        if matches!(known, Some(Known::SessionCreated | Known::SessionStatusChange | Known::UserMessage)) {
            self.open = bound_row::read_open(&event.metadata).or(self.open);
        }
        if let Some(canvas) = self.canvas.as_mut().filter(|_| known == Some(Known::StatePatch)) {
            canvas.step(event);
        }
        if matches!(known, Some(Known::SessionTagsChange | Known::SessionAssigneeChange)) {
            self.derived.labelled(event);
        }
        if known == Some(Known::SessionClaimed) {
            self.derived.claimed(event);
        }
        if known == Some(Known::SessionStatusChange) {
            self.status_change = bound_row::read(event);
            self.derived.changed(event, self.status_change.as_ref());
        }
        Ok(())
    }

    /// Returns whether retention erased this event. Its digest still proves the original content.
    fn is_erased(&self, event: &Event) -> bool {
        let covered = self.erasure.is_some_and(|erasure| event.sequence <= erasure.head_sequence);
        covered && event.content == "[]" && event.metadata == "{}"
    }

    /// Returns whether the digest of an erased event may be over an id in another system that is erased with it.
    /// [`Self::erased_events`] proves the event then.
    fn has_erased_id(&self, event: &Event) -> bool {
        let covers_ids = self.erasure.is_some_and(|erasure| erasure.events_digest.is_some());
        covers_ids && event.external_event_id.is_none() && self.is_erased(event)
    }

    /// Checks the events that the erasure covers against its digest of them. Returns the error, if there is one.
    fn erased_events(&self) -> Option<String> {
        let digest = self.erasure?.events_digest?;
        (digest != self.erased_digest).then(|| "its events were changed after their content was erased".into())
    }
}
