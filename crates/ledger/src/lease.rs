//! Leases by which one of several servers does work for all of them.

use crate::{Ledger, Result, Timestamp};
use chrono::TimeDelta;
use store::{Access, LeaseTime, WriteTx};

/// A kind of work that one server does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    /// Name of the row in `leases`.
    pub(crate) name: &'static str,
    /// Duration of the lease. Other servers do not do the work until it is over.
    pub(crate) time: TimeDelta,
}

impl Lease {
    /// Takes or extends the lease. Returns false while another server holds it.
    pub(crate) async fn take(self, ledger: &Ledger) -> Result<bool> {
        let request = self.request(ledger);
        ledger.write(Access::System, async move |tx| request.take(tx).await).await
    }

    /// What this server asks for, for a transaction that also writes something else.
    pub(crate) fn request(self, ledger: &Ledger) -> LeaseRequest {
        LeaseRequest { lease: self, holder: ledger.instance().to_owned(), clock: ledger.lease_time() }
    }
}

/// A lease that a server asks for.
#[derive(Debug, Clone)]
pub(crate) struct LeaseRequest {
    lease: Lease,
    holder: String,
    clock: LeaseTime,
}

impl LeaseRequest {
    /// Takes or extends the lease. Returns false while another server holds it.
    pub(crate) async fn take(&self, tx: &mut WriteTx<'_>) -> Result<bool> {
        let now = self.clock.now(tx.conn()).await?;
        Ok(store::lease::take(tx, self.lease.name, &self.holder, now, now + self.lease.time).await?)
    }
}

/// What a server knows about a lease that it extends while it works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExtendedLease {
    lease: Lease,
    /// Age at which it is extended, and a server without it tries to get it.
    again: TimeDelta,
    /// When it was taken or tried last, and whether this server has it.
    last: Option<(Timestamp, bool)>,
}

impl ExtendedLease {
    /// Nothing is known yet.
    pub(crate) const fn new(lease: Lease, again: TimeDelta) -> Self {
        Self { lease, again, last: None }
    }

    /// Whether this server has the lease. `None` if it is to be taken or extended now.
    pub(crate) fn is_known(&self, ledger: &Ledger) -> Option<bool> {
        if !ledger.store().is_postgres() {
            // One server at a time has the file.
            return Some(true);
        }
        let (at, is_held) = self.last?;
        (ledger.now() - at < self.again).then_some(is_held)
    }

    /// Takes or extends the lease if that is due. Returns whether this server has it.
    pub(crate) async fn hold(&mut self, ledger: &Ledger) -> Result<bool> {
        if let Some(is_held) = self.is_known(ledger) {
            return Ok(is_held);
        }
        let now = ledger.now();
        let is_held = self.lease.take(ledger).await?;
        self.note(now, is_held);
        Ok(is_held)
    }

    /// Remembers what came of [`Self::request`] at this time.
    pub(crate) const fn note(&mut self, at: Timestamp, is_held: bool) {
        self.last = Some((at, is_held));
    }

    /// What this server asks for, for a transaction that also writes something else.
    pub(crate) fn request(&self, ledger: &Ledger) -> LeaseRequest {
        self.lease.request(ledger)
    }
}
