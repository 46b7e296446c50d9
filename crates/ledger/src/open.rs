//! Opening the ledger: the store, time, randomness, and what is kept in memory.

use crate::{
    auth::{IdentityCache, PasswordCost, PasswordQueue},
    error::{Error, Result},
    event::{CountedKinds, counted_kinds},
    feedback::{self, Ratings},
    live::{Hub, Owners, owners},
    session::follow_at_once,
};
use chrono::TimeDelta;
use domain::{
    Clock, Entropy, Scope, Timestamp,
    clock::truncate,
    id::{EventId, RequestId},
};
use futures_util::future::BoxFuture;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};
use store::{Access, Conn, Database, LeaseTime, Store, WriteTx};
use tokio::sync::watch;

pub use store::Mode;

/// The clock that leases go by: no server's own, where several share a database.
#[derive(Clone)]
pub enum LeaseClock {
    /// The database server's. Only PostgreSQL has one.
    Database,
    /// This one, of the only process that gives and takes leases, as on SQLite. One that never jumps.
    Process(Arc<dyn Clock>),
}

/// What a ledger needs.
pub struct Options {
    /// Where the data lives.
    pub database: Database,
    /// The server, or a tool beside it.
    pub mode: Mode,
    /// Where "now" comes from; where leases go by the database, it is set by that one's ([`Ledger::set_clock`]).
    pub clock: Arc<dyn Clock>,
    /// What leases are measured by.
    pub lease_clock: LeaseClock,
    /// Where random bytes come from.
    pub entropy: Arc<dyn Entropy>,
    /// What hashing a password costs.
    pub password_cost: PasswordCost,
}

/// The log and everything around it. Cheap to clone.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    store: Store,
    clock: Arc<dyn Clock>,
    /// How far the clock is behind the database's, microseconds.
    behind: AtomicI64,
    lease_clock: LeaseClock,
    entropy: Arc<dyn Entropy>,
    hub: Hub,
    instance: String,
    identities: IdentityCache,
    access: watch::Sender<u64>,
    kind_counts: CountedKinds,
    owners: Owners,
    password_cost: PasswordCost,
    passwords: PasswordQueue,
    ratings: Ratings,
}

impl LeaseClock {
    fn time(&self) -> LeaseTime {
        match self {
            Self::Database => LeaseTime::Database,
            Self::Process(clock) => LeaseTime::Given(truncate(clock.now())),
        }
    }
}

impl Ledger {
    /// Opens and migrates the database. A server also gives every lease its full length again, because nobody
    /// could send heartbeats while it was down.
    pub async fn open(options: Options) -> Result<Self> {
        let store = Store::open(&options.database, options.mode).await?;
        let now = options.clock.now();
        let leases = options.lease_clock.time();
        if leases == LeaseTime::Database && !store.is_postgres() {
            return Err(Error::Internal("SQLite has no clock that leases could go by".into()));
        }
        if options.mode == Mode::Server && !store.is_postgres() {
            let armed = store.write::<_, Error, _>(Access::System, move |tx| {
                Box::pin(async move {
                    let now = leases.now(tx.conn()).await?;
                    Ok(store::session::rearm_leases(tx, now).await?)
                })
            });
            if let Err(error) = armed.await {
                // "database or disk is full" is less than an operator has to know.
                store.check_disk_space()?;
                return Err(error);
            }
        }
        if options.mode == Mode::Server {
            store.ensure_partitions(now).await?;
            if let Err(error) = store.feedback().check().await {
                // The log is worth more than what people think of it.
                tracing::warn!(%error, "ratings cannot be kept; it is tried again with each");
            }
        }
        let ledger = Self(Arc::new(Inner {
            hub: Hub::start(store.subscribe()),
            store,
            clock: options.clock,
            behind: AtomicI64::new(0),
            lease_clock: options.lease_clock,
            instance: RequestId::new(now, &*options.entropy).to_string(),
            entropy: options.entropy,
            identities: IdentityCache::new(),
            access: watch::Sender::new(0),
            kind_counts: counted_kinds(),
            owners: owners(),
            password_cost: options.password_cost,
            passwords: PasswordQueue::new(),
            ratings: Ratings::default(),
        }));
        ledger.set_clock().await?;
        Ok(ledger)
    }

    /// Now, in the precision of the store.
    pub fn now(&self) -> Timestamp {
        truncate(self.0.clock.now()) + TimeDelta::microseconds(self.0.behind.load(Ordering::Relaxed))
    }

    /// Sets "now" by the database's clock, where several servers share it: what one of them promises (a time limit, an
    /// undo window, when a message is due) another one keeps, whatever their own clocks say.
    pub async fn set_clock(&self) -> Result<()> {
        if !matches!(self.0.lease_clock, LeaseClock::Database) {
            return Ok(());
        }
        let asked = self.0.clock.now();
        let theirs = self.store().read(Access::System, |conn| Box::pin(LeaseTime::Database.now(conn))).await?;
        // It was read somewhere between question and answer.
        let ours = asked + (self.0.clock.now() - asked) / 2;
        self.0.behind.store((theirs - ours).num_microseconds().unwrap_or_default(), Ordering::Relaxed);
        Ok(())
    }

    /// The clock that leases go by, for a transaction to read.
    pub(crate) fn lease_time(&self) -> LeaseTime {
        self.0.lease_clock.time()
    }

    /// A new id for a request.
    pub fn request_id(&self) -> RequestId {
        RequestId::new(self.now(), self.entropy())
    }

    /// Numbers of the writer.
    pub fn stats(&self) -> store::Stats {
        self.0.store.stats()
    }

    /// Housekeeping that is due now and then, on any server.
    pub async fn maintain(&self) -> Result<()> {
        let now = self.now();
        self.store()
            .write::<_, Error, _>(Access::System, move |tx| {
                Box::pin(async move { Ok(store::access_link::delete_expired(tx, now).await?) })
            })
            .await?;
        Ok(self.store().ensure_partitions(now).await?)
    }

    /// Whether the database answers. After a write that found the disk full, whether it takes writes again.
    pub async fn ready(&self) -> Result<()> {
        self.store().check_disk_space()?;
        if self.store().is_full() {
            let wrote = self.store().write::<_, Error, _>(Access::System, |tx| {
                Box::pin(async move { Ok(store::roll::probe_write(tx).await?) })
            });
            wrote.await?;
            self.store().clear_disk_full();
        }
        let read = self.store().read(Access::System, |conn| Box::pin(async move { store::user::any(conn).await }));
        read.await?;
        Ok(())
    }

    /// Refuses new writes, finishes accepted ones and lets go of the database.
    pub async fn close(&self) {
        feedback::finish(self).await;
        self.0.store.close().await;
    }

    /// The data directory, on SQLite.
    pub fn data_dir(&self) -> Option<&Path> {
        self.0.store.data_dir()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Runs queries on behalf of the caller that all see one moment.
    pub(crate) async fn snapshot<T, F>(&self, scope: &Scope, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t, 'c> FnOnce(&'t mut Conn<'c>) -> BoxFuture<'t, Result<T>> + Send + 'static,
    {
        self.store().snapshot(scope.into(), body).await
    }

    /// Runs `body` in one transaction, returns after COMMIT, and then follows what ended in it. For every use case that
    /// may end a session.
    pub(crate) async fn write<T, E, F>(&self, access: Access, body: F) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<store::Error> + Send + 'static,
        F: for<'t, 'c> FnOnce(&'t mut WriteTx<'c>) -> BoxFuture<'t, std::result::Result<T, E>> + Send + 'static,
    {
        let noted = self.store().write::<_, E, _>(access, move |tx| {
            Box::pin(async move {
                let value = body(&mut *tx).await?;
                Ok((value, tx.take_endings()))
            })
        });
        let (value, endings) = noted.await?;
        if !endings.is_empty() {
            follow_at_once(self, endings).await;
        }
        Ok(value)
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.0.entropy
    }

    /// What this ledger is called in leases: new at every start.
    pub(crate) fn instance(&self) -> &str {
        &self.0.instance
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.0.hub
    }

    /// Forgets who calls, after somebody's access changed, and lets open streams ask again.
    pub(crate) fn access_changed(&self) {
        self.0.identities.clear();
        self.0.access.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    /// Tells of changes to anybody's access in this process. Those made by other processes are not told.
    pub fn access_changes(&self) -> watch::Receiver<u64> {
        self.0.access.subscribe()
    }

    pub(crate) fn identities(&self) -> &IdentityCache {
        &self.0.identities
    }

    pub(crate) fn kind_counts(&self) -> &CountedKinds {
        &self.0.kind_counts
    }

    pub(crate) fn owners(&self) -> &Owners {
        &self.0.owners
    }

    pub(crate) fn password_cost(&self) -> PasswordCost {
        self.0.password_cost
    }

    pub(crate) fn passwords(&self) -> &PasswordQueue {
        &self.0.passwords
    }

    pub(crate) fn ratings(&self) -> &Ratings {
        &self.0.ratings
    }

    /// A new event id.
    pub(crate) fn event_id(&self, at: Timestamp) -> EventId {
        EventId::new(at, self.entropy())
    }
}
