//! The log of a session: its events, its head, appends of many requests at once, and notices of what was committed.

mod append;
mod chain;
mod head;
mod head_cache;
mod insert;
mod notice;
mod partition;
mod read;
mod recorded;
mod request;

pub use notice::{Change, Notice, PresenceNotice, ProgressNotice};
pub use read::{after, before, kind_counts, newest};
pub use recorded::{has_external, metadata_of_external};
pub use request::{AppendOutcome, AppendRefusal, AppendRequest, PreparedEvent};

pub(crate) use append::{GroupNotices, Settled, apply, apply_one_by_one};
pub(crate) use chain::link;
pub(crate) use head::{Head, lock_free, lock_heads};
pub(crate) use head_cache::{HeadCache, PlannedAppends};
pub(crate) use insert::{NewRow, bind_rows, insert, insert_postgres, insert_sqlite};
pub(crate) use notice::{Notifier, publish};
pub(crate) use partition::ensure as ensure_partitions;

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[head::SQL, head_cache::SQL, notice::SQL, read::SQL, recorded::SQL];

/// The SQL texts that are made when the program runs.
pub(crate) fn made() -> Vec<(&'static str, String)> {
    [insert::made(), head::made()].concat()
}
