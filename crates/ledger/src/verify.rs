//! Checking the hash chain of everything.

use crate::{EventRecord, InstanceKey, Ledger, Result, retention::is_sealed};
use domain::{
    chain::{Digest, Link, body_digest, extend},
    id::{SessionId, TenantId},
};
use store::{Access, retention::ErasureRecord, verify::Claimed};

/// Sessions read at once.
const SESSIONS: u32 = 500;
/// Events read at once.
const EVENTS: u32 = 1_000;

/// What a verification found.
#[derive(Debug, Clone, Default)]
pub struct Verified {
    /// Sessions walked.
    pub sessions: u64,
    /// Events checked.
    pub events: u64,
    /// Of these, those whose content retention erased.
    pub erased: u64,
    /// Whether erasures were taken at their word, because there was no key to check their seals with.
    pub is_unsealed: bool,
    /// The first bad place and what is wrong there.
    pub bad: Option<(SessionId, u64, String)>,
}

/// Walks every session of every workspace in key order and stops at the first bad link. `progress` is called
/// with the counts so far. With the installation's `key` an erasure has to be sealed with it.
pub async fn all(ledger: &Ledger, key: Option<&InstanceKey>, mut progress: impl FnMut(&Verified)) -> Result<Verified> {
    let mut verified = Verified::default();
    let mut after = None;
    loop {
        let sessions = ledger
            .store()
            .read(Access::System, move |conn| Box::pin(store::verify::sessions(conn, after, SESSIONS)))
            .await?;
        let Some(last) = sessions.last() else { return Ok(verified) };
        after = Some((last.tenant_id, last.session_id));
        for claimed in sessions {
            verified.sessions += 1;
            if let Some((sequence, problem)) = one(ledger, key, claimed, &mut verified).await? {
                verified.bad = Some((claimed.session_id, sequence, problem));
                return Ok(verified);
            }
        }
        progress(&verified);
    }
}

/// The first bad sequence of one session.
async fn one(
    ledger: &Ledger,
    key: Option<&InstanceKey>,
    claimed: Claimed,
    verified: &mut Verified,
) -> Result<Option<(u64, String)>> {
    let (tenant_id, id) = (claimed.tenant_id, claimed.session_id);
    let erasure = ledger
        .store()
        .read(Access::System, move |conn| Box::pin(store::retention::of_session(conn, tenant_id, id)))
        .await?;
    if let Some(erasure) = &erasure {
        match key {
            Some(key) if !is_sealed(key, tenant_id, id, erasure) => {
                return Ok(Some((erasure.head_sequence, "its erasure was not sealed by this installation".into())));
            }
            Some(_) => {}
            None => verified.is_unsealed = true,
        }
    }
    let mut walk = Walk { tenant_id, id, sequence: 0, digest: Digest::GENESIS, erasure, erased: 0 };
    loop {
        let range = (walk.sequence, claimed.head_sequence);
        let page = ledger
            .store()
            .read(Access::System, move |conn| {
                Box::pin(async move { store::event::after(conn, tenant_id, id, range, &[], EVENTS).await })
            })
            .await?;
        for event in &page.items {
            verified.events += 1;
            if let Err(problem) = walk.step(event) {
                return Ok(Some((walk.sequence + 1, problem)));
            }
        }
        if !page.has_more {
            break;
        }
    }
    verified.erased += walk.erased;
    if walk.sequence != claimed.head_sequence {
        return Ok(Some((walk.sequence + 1, format!("missing: the session says it has {}", claimed.head_sequence))));
    }
    if walk.digest != claimed.head_digest {
        return Ok(Some((walk.sequence, "the session's head has another digest than its last event".into())));
    }
    Ok(None)
}

struct Walk {
    tenant_id: TenantId,
    id: SessionId,
    sequence: u64,
    digest: Digest,
    erasure: Option<ErasureRecord>,
    erased: u64,
}

impl Walk {
    /// Checks one event against the link before it.
    fn step(&mut self, event: &EventRecord) -> std::result::Result<(), String> {
        if event.sequence != self.sequence + 1 {
            return Err("missing".into());
        }
        if body_digest(&event.content, &event.metadata) != event.body {
            if !self.is_erased(event) {
                return Err("its content or metadata was changed".into());
            }
            self.erased += 1;
        }
        let link = Link {
            tenant_id: self.tenant_id.0,
            session_id: self.id.0,
            sequence: event.sequence,
            event_id: event.id.0,
            kind: &event.kind,
            role: event.role.as_str(),
            actor: &event.actor,
            attempt: event.attempt,
            thread_id: event.thread_id.as_deref(),
            external_event_id: event.external_event_id.as_deref(),
            at: event.at,
            recorded_at: event.recorded_at,
            body: event.body,
        };
        let digest = extend(self.digest, &link);
        if digest != event.digest {
            return Err("its digest does not follow from its fields and the event before it".into());
        }
        self.sequence = event.sequence;
        self.digest = digest;
        Ok(())
    }

    /// Whether retention left this event as it is: its digest stands for what it said.
    fn is_erased(&self, event: &EventRecord) -> bool {
        let covered = self.erasure.is_some_and(|erasure| event.sequence <= erasure.head_sequence);
        covered && event.content == "[]" && event.metadata == "{}"
    }
}
