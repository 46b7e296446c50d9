//! Verifies the document of a canvas and its snapshots against the patches in its log.

use crate::{Ledger, Result, canvas::committed};
use domain::{
    canvas::Document,
    chain::{Digest, body_digest},
    event::Event,
    id::{SessionId, TenantId},
};
use std::collections::BTreeMap;
use store::{Access, CanvasRecord, Conn};

/// A canvas whose log is read.
pub(super) struct Folded {
    record: CanvasRecord,
    document: Document,
    version: u64,
    /// Versions of the snapshots, each with the digest of its document.
    kept: BTreeMap<u64, Option<Digest>>,
    /// The first error.
    problem: Option<String>,
}

impl Folded {
    /// Reads the canvas of a session; `None` if it is none.
    pub(super) async fn read(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> store::Result<Option<Self>> {
        let Some(record) = store::canvas::find(conn, tenant_id, id).await? else { return Ok(None) };
        let kept = store::canvas::kept_versions(conn, (tenant_id, id)).await?;
        let kept = kept.into_iter().map(|version| (version, None)).collect();
        Ok(Some(Self { record, document: Document::default(), version: 0, kept, problem: None }))
    }

    /// Takes the next `state.patch` of the log.
    pub(super) fn step(&mut self, event: &Event) {
        if self.problem.is_some() {
            return;
        }
        let Some(patch) = committed(event) else {
            self.problem = Some(format!("patch {} of its canvas cannot be read", event.sequence));
            return;
        };
        if patch.previous != self.version || self.document.fold(&patch.ops).is_err() {
            self.problem = Some(format!("patch {} of its canvas does not follow from the one before", event.sequence));
            return;
        }
        self.version = event.sequence;
        if let Some(digest) = self.kept.get_mut(&self.version) {
            *digest = Some(body_digest(&self.document.text(), ""));
        }
    }

    /// Compares what is stored with the fold of the log up to `head`. Returns the error, if there is one.
    pub(super) async fn problem(
        self,
        ledger: &Ledger,
        (tenant_id, id): (TenantId, SessionId),
        head: u64,
    ) -> Result<Option<String>> {
        if self.problem.is_some() {
            return Ok(self.problem);
        }
        // A patch that was committed during the check is not part of it.
        let is_same = self.record.version == self.version && self.record.document == self.document.text();
        if self.record.version <= head && !is_same {
            return Ok(Some("the document of its canvas does not follow from its log".to_owned()));
        }
        for (version, digest) in self.kept.into_iter().filter(|(version, _)| *version <= head) {
            let read = ledger.store().read_by_operator(Access::System, async move |conn| {
                store::canvas::snapshot(conn, (tenant_id, id), version).await
            });
            let found = read.await?.map(|kept| body_digest(&kept.document, ""));
            if digest.is_none() || found != digest {
                return Ok(Some(format!("version {version} of its canvas does not follow from its log")));
            }
        }
        Ok(None)
    }
}
