//! The bare engines on the same disk: what is possible without HTTP, rules, ids or a hash chain.

pub mod disk;
pub mod postgres;
pub mod sqlite;
