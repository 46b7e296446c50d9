//! Fixtures for tests: a clock and random bytes that the test controls, a ledger on either engine, and fake services.
//!
//! This crate may unwrap: a panic fails the test.

mod clock;
pub mod cluster;
mod engine;
mod fixture;
pub mod model;
mod not_tested;
mod open;
mod people;
pub mod proxy;
pub mod receiver;
pub mod smtp;
pub mod static_model;
mod template;
pub mod tls;

pub use clock::{SeededEntropy, TestClock};
pub use engine::{Engine, Raw};
pub use fixture::{Fixture, event, human, text};
pub use not_tested::not_tested;
pub use open::INSTANCE_KEY;

/// Runs each named `async fn(Fixture)` once per engine, as `sqlite::name` and `postgres::name`.
#[macro_export]
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name($crate::Fixture::sqlite().await).await })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() { super::$name($crate::Fixture::postgres().await).await })+
        }
    };
}
