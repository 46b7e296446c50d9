//! A write transaction, and what it reports after COMMIT.

use crate::{
    engine::Conn,
    event::{Change, Notice},
};
use domain::id::{SessionId, TenantId};
use futures_util::future::BoxFuture;

/// One write transaction. Everything done through it commits or rolls back together.
pub struct WriteTx<'c> {
    conn: Conn<'c>,
    changes: Vec<Change>,
    endings: Vec<(TenantId, SessionId)>,
}

impl<'c> WriteTx<'c> {
    pub(crate) fn new(conn: Conn<'c>) -> Self {
        Self { conn, changes: Vec::new(), endings: Vec::new() }
    }

    /// The connection that runs the statements of this transaction.
    pub fn conn(&mut self) -> &mut Conn<'c> {
        &mut self.conn
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        self.changes.push(notice.into());
    }

    /// Tells watchers, once committed, that what waits in a workspace may have changed although no session changes its
    /// status.
    pub fn counts_changed(&mut self, tenant_id: TenantId) {
        self.changes.push(Change::CountsChanged(tenant_id));
    }

    pub(crate) fn ended(&mut self, tenant_id: TenantId, session_id: SessionId) {
        self.endings.push((tenant_id, session_id));
    }

    /// Takes the endings that this transaction recorded. The caller follows them up once the transaction is
    /// committed.
    pub fn take_endings(&mut self) -> Vec<(TenantId, SessionId)> {
        std::mem::take(&mut self.endings)
    }

    pub(crate) fn into_changes(self) -> Vec<Change> {
        self.changes
    }
}

/// The body of a write. A refusal (`E`) rolls the transaction back.
pub(crate) type Body<T, E> =
    Box<dyn for<'t, 'c> FnOnce(&'t mut WriteTx<'c>) -> BoxFuture<'t, std::result::Result<T, E>> + Send>;
