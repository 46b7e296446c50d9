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

    pub(crate) fn take_endings(&mut self) -> Vec<(TenantId, SessionId)> {
        std::mem::take(&mut self.endings)
    }

    pub(crate) fn into_changes(self) -> Vec<Change> {
        self.changes
    }
}

/// The result of a transaction that was committed.
#[must_use = "`endings` are to be followed up"]
pub struct Committed<T> {
    /// What the body returned.
    pub value: T,
    /// The sessions that ended in the transaction.
    pub endings: Vec<(TenantId, SessionId)>,
}

/// The body of a transaction: an async closure that gets the transaction or its connection, and whose future may move
/// between threads. Every such closure is one.
///
/// `AsyncFnOnce` alone does not promise that the future is `Send`.
pub trait Body<Input, Output>: FnOnce(Input) -> Self::Future + AsyncFnOnce(Input) -> Output + Send + 'static {
    /// The future of the closure.
    type Future: Future<Output = Output> + Send;
}

impl<Input, Output, F, Fut> Body<Input, Output> for F
where
    F: FnOnce(Input) -> Fut + AsyncFnOnce(Input) -> Output + Send + 'static,
    Fut: Future<Output = Output> + Send,
{
    type Future = Fut;
}

/// The body of a write with its type hidden. A refusal (`E`) rolls the transaction back.
pub(crate) type BoxedBody<T, E> =
    Box<dyn for<'t, 'c> FnOnce(&'t mut WriteTx<'c>) -> BoxFuture<'t, std::result::Result<T, E>> + Send>;
