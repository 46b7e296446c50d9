//! The ledger itself: opening it, its clocks, its source of randomness and its caches.

use crate::{
    activity::{Activity, Counted},
    auth::{IdentityCache, PasswordCost, PasswordQueue},
    canvas::Uncommitted,
    error::{Error, Result},
    event::{CountedKinds, counted_kinds},
    feedback::{self, Ratings},
    instance_key::InstanceKey,
    live::{Hub, Owners, owners},
    memory,
    memory_bounds::MemoryBounds,
    memory_ranker::Rankers,
    memory_vector::{Embedder, Vectors},
    response::{ViewVersions, view_versions},
    rule::KeptSuggestions,
    search::Reached,
    session::{Remembering, SavedCounts, follow_at_once, saved_counts},
    settings::Settings,
    worker::RecentlySeen,
};
use chrono::TimeDelta;
use domain::{
    Clock, Entropy, Scope, Timestamp,
    clock::truncate,
    id::{EventId, RequestId},
    relevance,
    view::Publication,
};
use std::{
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI64, Ordering},
    },
};
use store::{Access, Body, Committed, Conn, Database, DatabaseUse, LeaseTime, Store, WriteTx};
use tokio::sync::{Notify, watch};

pub use store::Mode;

/// The clock by which leases are measured. If several servers share a database, it is the database's clock.
#[derive(Clone)]
pub enum LeaseClock {
    /// The clock of the database server. Only for PostgreSQL.
    Database,
    /// The given clock, which must be monotonic. For SQLite, where one process manages all leases.
    Process(Arc<dyn Clock>),
}

/// What a ledger is opened with.
pub struct Options {
    /// SQLite file or PostgreSQL server.
    pub database: Database,
    /// Whether this is the server or a tool.
    pub mode: Mode,
    /// The clock of [`Ledger::now`]. With [`LeaseClock::Database`], [`Ledger::set_clock`] adjusts it to the
    /// database's clock.
    pub clock: Arc<dyn Clock>,
    /// The clock by which leases are measured.
    pub lease_clock: LeaseClock,
    /// The source of random bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The cost of hashing a password.
    pub password_cost: PasswordCost,
    /// What the operator of the installation sets.
    pub settings: Settings,
}

/// The callers whose identity is cached, and the number of changes of access so far, which open streams watch.
struct AccessState {
    identities: IdentityCache,
    changes: watch::Sender<u64>,
}

impl AccessState {
    /// Clears the cached identities and wakes the open streams.
    fn changed(&self) {
        self.identities.clear();
        self.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
    }
}

/// The log and everything that belongs to it. Cloning is cheap.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    store: Store,
    clock: Arc<dyn Clock>,
    /// Microseconds by which `clock` is behind the database's clock.
    behind: AtomicI64,
    lease_clock: LeaseClock,
    entropy: Arc<dyn Entropy>,
    hub: Hub,
    instance: String,
    access: Arc<AccessState>,
    kind_counts: CountedKinds,
    saved_counts: SavedCounts,
    owners: Owners,
    password_cost: PasswordCost,
    passwords: PasswordQueue,
    ratings: Ratings,
    activity: Activity,
    remembering: Remembering,
    recently_seen: RecentlySeen,
    uncommitted_patches: Uncommitted,
    view_versions: ViewVersions,
    instance_key: OnceLock<InstanceKey>,
    settings: Settings,
    rankers: Rankers,
    vectors: Vectors,
    runs_for_server: Notify,
    search_reached: Reached,
    kept_suggestions: KeptSuggestions,
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
    /// Opens and migrates the database. A server on SQLite also restarts every lease with its full duration,
    /// because workers could not send heartbeats while the server was down.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the directory cannot be created or another server serves it, or if SQLite or the
    /// settings of PostgreSQL could lose acknowledged writes; [`Error::Internal`] if a migration fails, or for
    /// [`LeaseClock::Database`] with SQLite; [`Error::Unusable`] for a file that is no database of Shiftbook, and for
    /// [`Mode::Reader`] if there is none.
    pub async fn open(options: Options) -> Result<Self> {
        let store = Store::open(&options.database, options.mode).await?;
        let now = options.clock.now();
        let leases = options.lease_clock.time();
        if leases == LeaseTime::Database && !store.is_postgres() {
            return Err(Error::Internal("SQLite has no clock that leases could go by".into()));
        }
        if options.mode == Mode::Server && !store.is_postgres() {
            let armed = store.write::<_, Error, _>(Access::System, async move |tx| {
                let now = leases.now(tx.conn()).await?;
                store::session::rearm_leases(tx, now).await?;
                // The writers of memories that held a lease died with the last server.
                Ok(store::memory_writer::release_all(tx).await?)
            });
            if let Err(error) = armed.await {
                // This check has a clearer message than the "database or disk is full" of SQLite.
                store.check_disk_space().await?;
                return Err(error);
            }
        }
        if options.mode == Mode::Server {
            store.ensure_partitions(now).await?;
            if let Err(error) = store.feedback().check().await {
                // The log is more important than ratings, so the server starts without them.
                tracing::warn!(%error, "ratings cannot be kept; it is tried again with each");
            }
        }
        let access = Arc::new(AccessState { identities: IdentityCache::new(), changes: watch::Sender::new(0) });
        let changed = Arc::clone(&access);
        let ledger = Self(Arc::new(Inner {
            hub: Hub::start(store.subscribe(), move || changed.changed()),
            store,
            clock: options.clock,
            behind: AtomicI64::new(0),
            lease_clock: options.lease_clock,
            instance: RequestId::new(now, &*options.entropy).to_string(),
            entropy: options.entropy,
            access,
            kind_counts: counted_kinds(),
            saved_counts: saved_counts(),
            owners: owners(),
            password_cost: options.password_cost,
            passwords: PasswordQueue::new(),
            ratings: Ratings::default(),
            activity: Activity::default(),
            remembering: Remembering::default(),
            recently_seen: RecentlySeen::default(),
            uncommitted_patches: Uncommitted::default(),
            view_versions: view_versions(),
            instance_key: OnceLock::new(),
            settings: options.settings,
            rankers: Rankers::new(),
            vectors: Vectors::new(),
            runs_for_server: Notify::new(),
            search_reached: Reached::default(),
            kept_suggestions: KeptSuggestions::new(),
        }));
        ledger.set_clock().await?;
        Ok(ledger)
    }

    /// Returns the present time in the precision of the store.
    pub fn now(&self) -> Timestamp {
        truncate(self.0.clock.now()) + TimeDelta::microseconds(self.0.behind.load(Ordering::Relaxed))
    }

    /// Adjusts the clock of [`Self::now`] to the database's clock, if several servers can share the database.
    /// Then all servers agree about time limits, undo windows and due times, even if their own clocks differ.
    pub async fn set_clock(&self) -> Result<()> {
        if !matches!(self.0.lease_clock, LeaseClock::Database) {
            return Ok(());
        }
        let requested_at = self.0.clock.now();
        let database_time = self.store().read(Access::System, async |conn| LeaseTime::Database.now(conn).await).await?;
        // The database read its clock between the request and the response, so the middle is assumed.
        let local_time = requested_at + (self.0.clock.now() - requested_at) / 2;
        self.0.behind.store((database_time - local_time).num_microseconds().unwrap_or_default(), Ordering::Relaxed);
        Ok(())
    }

    /// Returns the clock by which leases are measured, to be read in a transaction.
    pub(crate) fn lease_time(&self) -> LeaseTime {
        self.0.lease_clock.time()
    }

    /// Sets the instance key. Only the first call has an effect. It is none of the [`Settings`], because a server makes
    /// a missing key while it has the lock of the data directory, which [`Self::open`] takes.
    pub fn use_instance_key(&self, key: InstanceKey) {
        let _ = self.0.instance_key.set(key);
    }

    /// Returns the key that signs messages to webhooks and derives the names of rated sessions.
    ///
    /// # Errors
    /// [`Error::NoInstanceKey`] if there is none.
    pub fn instance_key(&self) -> Result<&InstanceKey> {
        self.0.instance_key.get().ok_or(Error::NoInstanceKey)
    }

    /// Whether respondents may be sent to the `redirectUrl` of this publication. An operator may remove a host after a
    /// version that names it was published, so this is asked at each redirect too.
    pub fn allows_redirect(&self, publication: &Publication) -> bool {
        let allowed = &self.0.settings.redirect_hosts;
        publication.redirect_host().is_none_or(|host| allowed.iter().any(|allowed| allowed == host))
    }

    pub(crate) fn allows_mcp_program(&self, name: &str, workspace: &str) -> bool {
        self.0.settings.mcp_programs.iter().any(|program| program.name == name && program.workspace == workspace)
    }

    /// Notified when this process queues a session that a server runs. Other servers find it when they look.
    pub(crate) fn runs_for_server(&self) -> &Notify {
        &self.0.runs_for_server
    }

    /// Returns how much memory agents are given at once.
    pub(crate) fn memory_bounds(&self) -> MemoryBounds {
        self.0.settings.memory_bounds.clone()
    }

    /// Returns the models that order memories.
    pub(crate) fn rankers(&self) -> Rankers {
        self.0.rankers.clone()
    }

    /// Sets what makes vectors of memories, and the cosine from which on a memory is near to a text. Only the first
    /// call has an effect. Without a call there are no vectors, and memories are found by their words alone.
    pub fn use_embedder(&self, embedder: Embedder, similarity_min: f32) {
        self.0.vectors.use_embedder(embedder, similarity_min);
    }

    /// Returns the vectors of memories.
    pub(crate) fn vectors(&self) -> Vectors {
        self.0.vectors.clone()
    }

    /// Returns how ratings of memories are requested and what they cause.
    pub(crate) fn relevance(&self) -> relevance::Settings {
        self.0.settings.relevance
    }

    /// Creates an id for a request.
    pub fn request_id(&self) -> RequestId {
        RequestId::new(self.now(), self.entropy())
    }

    /// Returns statistics of the writer.
    pub fn stats(&self) -> store::Stats {
        self.0.store.stats()
    }

    /// Returns what the database takes of the disk, and its connections.
    pub fn database_use(&self) -> DatabaseUse {
        self.0.store.database_use()
    }

    /// Returns what happened since this process started.
    pub fn counted(&self) -> Counted {
        self.0.activity.counted()
    }

    pub(crate) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// Periodic maintenance: removes expired links and cards of abandoned previews, and creates partitions. Safe to run
    /// on several servers.
    pub async fn maintain(&self) -> Result<()> {
        let now = self.now();
        self.write(Access::System, async move |tx| {
            store::access_link::delete_expired(tx, now).await?;
            memory::expire_previews(tx, now).await
        })
        .await?;
        Ok(self.store().ensure_partitions(now).await?)
    }

    /// Checks that the database answers. If an earlier write found the disk full, also checks that writes
    /// succeed again.
    ///
    /// # Errors
    /// [`Error::Unavailable`] or another error of the database if it is not ready.
    pub async fn ready(&self) -> Result<()> {
        self.store().check_disk_space().await?;
        if self.store().is_full() {
            let wrote = self.write(Access::System, async |tx| Ok(store::roll::probe_write(tx).await?));
            wrote.await?;
            self.store().clear_disk_full();
        }
        let read = self.store().read(Access::System, async |conn| store::user::any(conn).await);
        read.await?;
        Ok(())
    }

    /// Refuses new writes, completes accepted ones and closes the database.
    pub async fn close(&self) {
        feedback::finish(self).await;
        self.0.store.close().await;
    }

    /// Returns the data directory; only for SQLite.
    pub fn data_dir(&self) -> Option<&Path> {
        self.0.store.data_dir()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// Runs queries for the caller in one snapshot of the database.
    #[track_caller]
    pub(crate) fn snapshot<T, F>(&self, scope: &Scope, body: F) -> impl Future<Output = Result<T>> + Send
    where
        T: Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, Result<T>>,
    {
        self.snapshot_for(scope.into(), body)
    }

    /// The same for whoever is no caller in a workspace.
    #[track_caller]
    pub(crate) fn snapshot_for<T, F>(&self, access: Access, body: F) -> impl Future<Output = Result<T>> + Send
    where
        T: Send + 'static,
        F: for<'t, 'c> Body<&'t mut Conn<'c>, Result<T>>,
    {
        self.store().snapshot(access, body)
    }

    /// Runs `body` in one transaction. After the commit it handles the sessions that ended in it.
    #[track_caller]
    pub(crate) fn write<T, F>(&self, access: Access, body: F) -> impl Future<Output = Result<T>> + Send
    where
        T: Send + 'static,
        F: for<'t, 'c> Body<&'t mut WriteTx<'c>, Result<T>>,
    {
        self.write_or_refuse(access, body)
    }

    /// [`Ledger::write`] with another type of error.
    #[track_caller]
    pub(crate) fn write_or_refuse<T, E, F>(
        &self,
        access: Access,
        body: F,
    ) -> impl Future<Output = std::result::Result<T, E>> + Send
    where
        T: Send + 'static,
        E: From<store::Error> + Send + 'static,
        F: for<'t, 'c> Body<&'t mut WriteTx<'c>, std::result::Result<T, E>>,
    {
        // Outside of the async block, so that the span has the name of the caller's module.
        let writing = self.store().write(access, body);
        async move {
            let Committed { value, endings } = writing.await?;
            if !endings.is_empty() {
                follow_at_once(self, endings).await;
            }
            Ok(value)
        }
    }

    /// The source of random bytes, for transactions.
    pub(crate) fn shared_entropy(&self) -> Arc<dyn Entropy> {
        Arc::clone(&self.0.entropy)
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.0.entropy
    }

    /// The name of this ledger in leases. It is different at every start.
    pub(crate) fn instance(&self) -> &str {
        &self.0.instance
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.0.hub
    }

    /// Clears cached identities and makes open streams check access again, here and at other servers of one
    /// PostgreSQL database. Called after someone's access changed.
    pub(crate) async fn access_changed(&self) {
        self.0.access.changed();
        self.store().access_changed().await;
    }

    /// Returns a receiver that is notified when someone's access changes. Changes by commands, and by other servers on
    /// PostgreSQL, are included: on PostgreSQL as far as their notifications arrive, on SQLite within a second, with
    /// all other writes of commands.
    pub fn access_changes(&self) -> watch::Receiver<u64> {
        self.0.access.changes.subscribe()
    }

    pub(crate) fn identities(&self) -> &IdentityCache {
        &self.0.access.identities
    }

    pub(crate) fn kept_suggestions(&self) -> &KeptSuggestions {
        &self.0.kept_suggestions
    }

    pub(crate) fn kind_counts(&self) -> &CountedKinds {
        &self.0.kind_counts
    }

    pub(crate) fn saved_counts(&self) -> &SavedCounts {
        &self.0.saved_counts
    }

    pub(crate) fn remembering(&self) -> &Remembering {
        &self.0.remembering
    }

    pub(crate) fn recently_seen(&self) -> &RecentlySeen {
        &self.0.recently_seen
    }

    pub(crate) fn uncommitted_patches(&self) -> &Uncommitted {
        &self.0.uncommitted_patches
    }

    pub(crate) fn view_versions(&self) -> &ViewVersions {
        &self.0.view_versions
    }

    /// How far this server knows the search to be.
    pub(crate) fn search_reached(&self) -> &Reached {
        &self.0.search_reached
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

    /// Creates an event id.
    pub(crate) fn event_id(&self, at: Timestamp) -> EventId {
        EventId::new(at, self.entropy())
    }
}
