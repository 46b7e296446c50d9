//! The marks of people who are forgotten.

use crate::{InstanceKey, Ledger, Result};
use domain::{
    chain::Digest,
    id::TenantId,
    memory::{MemoryPath, fold},
    memory_writer::slot::named_path,
};
use std::collections::HashSet;
use store::Conn;

/// Returns the mark of a forgotten person. Marks can be compared; without the key they name no one.
pub(crate) fn mark(key: &InstanceKey, tenant_id: TenantId, path: &str) -> Digest {
    Digest(key.derive("memory-forgotten", &[tenant_id.0.as_bytes(), fold(path).as_bytes()]))
}

/// The people of a workspace who are forgotten.
#[derive(Default)]
pub(crate) struct Marks(Option<(InstanceKey, TenantId, HashSet<Digest>)>);

impl Marks {
    /// Reads the marks.
    ///
    /// # Errors
    /// [`Error::NoInstanceKey`] if someone is forgotten and there is no key to compare with.
    pub(crate) async fn read(conn: &mut Conn<'_>, ledger: &Ledger, tenant_id: TenantId) -> Result<Self> {
        let marks = store::memory_forget::marks(conn, tenant_id).await?;
        if marks.is_empty() {
            return Ok(Self(None));
        }
        Ok(Self(Some((ledger.instance_key()?.clone(), tenant_id, marks.into_iter().collect()))))
    }

    /// Whether no one is forgotten.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the person with this document is forgotten. A path with the person's id as it is counts as theirs too.
    pub(crate) fn has(&self, path: &str) -> bool {
        let Some((key, tenant_id, marks)) = &self.0 else { return false };
        let is_marked = |path: &str| marks.contains(&mark(key, *tenant_id, path));
        let parsed = MemoryPath::parse(path).ok();
        let named = parsed.as_ref().and_then(MemoryPath::person).map(|(platform, id)| named_path(platform, id));
        is_marked(path) || named.is_some_and(|named| is_marked(&named))
    }
}
