//! Opens ledgers for tests.

use crate::{Engine, SeededEntropy, TestClock};
use ledger::{InstanceKey, LeaseClock, Ledger, Mode, Options, PasswordCost, Settings};
use std::sync::Arc;

/// Password of every person in a fixture.
pub const PASSWORD: &str = "correct horse battery";

/// Instance key of every fixture.
pub const INSTANCE_KEY: &str = "9f2c41d7e05b8a639f2c41d7e05b8a639f2c41d7e05b8a639f2c41d7e05b8a63";

/// Opens the ledger as a server does.
pub(crate) async fn open(engine: &Engine, clock: &TestClock) -> Ledger {
    open_as(engine, clock, Mode::Server).await
}

/// Opens the ledger with leases by the test's clock, on both engines. `lease_clock.rs` tests the database's clock.
pub(crate) async fn open_as(engine: &Engine, clock: &TestClock, mode: Mode) -> Ledger {
    open_with(engine, clock, mode, LeaseClock::Process(Arc::new(clock.clone()))).await
}

/// Opens the ledger with this clock for leases.
pub(crate) async fn open_with(engine: &Engine, clock: &TestClock, mode: Mode, lease_clock: LeaseClock) -> Ledger {
    open_by(options(engine, clock, mode, lease_clock)).await
}

/// Opens the ledger of a server whose random bytes are given.
pub(crate) async fn open_seeded(engine: &Engine, clock: &TestClock, entropy: Arc<SeededEntropy>) -> Ledger {
    let lease_clock = LeaseClock::Process(Arc::new(clock.clone()));
    open_by(Options { entropy, ..options(engine, clock, Mode::Server, lease_clock) }).await
}

/// Opens the ledger as a server with these settings does.
pub(crate) async fn open_with_settings(engine: &Engine, clock: &TestClock, settings: Settings) -> Ledger {
    let lease_clock = LeaseClock::Process(Arc::new(clock.clone()));
    open_by(Options { settings, ..options(engine, clock, Mode::Server, lease_clock) }).await
}

async fn open_by(options: Options) -> Ledger {
    let ledger = Ledger::open(options).await.unwrap();
    ledger.use_instance_key(InstanceKey::parse(INSTANCE_KEY).unwrap());
    ledger
}

/// Options with a low cost of passwords: at the cost of an installation, hashing for a person took longer than most
/// tests.
pub(crate) fn options(engine: &Engine, clock: &TestClock, mode: Mode, lease_clock: LeaseClock) -> Options {
    Options {
        database: engine.database(),
        mode,
        clock: Arc::new(clock.clone()),
        lease_clock,
        entropy: Arc::new(SeededEntropy::new(fastrand::u64(..))),
        password_cost: PasswordCost::Least,
        settings: Settings::default(),
    }
}
