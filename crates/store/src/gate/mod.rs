//! Gates, which are pauses that wait for a decision: their reviewers, their decisions and the inbox.

mod decision;
mod history;
mod inbox;
mod read;
mod record;
mod reviewer;
mod row;
mod snooze;
mod state;
mod write;

pub use decision::{add_decision, decisions};
pub use history::{Decided, of_subject, recently_decided};
pub use inbox::{ClosedFilter, Inbox, InboxScope, count, count_alike, held_by, list, list_alike};
pub use read::{
    denied, find, find_locked, last_of_action, list_by_ids, newest_of_session, session_of, settled_of_session, to_wake,
    waiting, waiting_locked, waiting_of_action, waiting_of_sessions,
};
pub use record::{DecisionRecord, Place, ReviewerRecord};
pub use reviewer::{add_reviewer, is_reviewer, reviewers, reviewers_left, reviewers_wanting_email, short_of_reviewers};
pub use snooze::{snooze, snoozed_until, unsnooze};
pub use write::{insert, save};

pub(crate) use inbox::{decidable_by, listed, snoozed};
pub(crate) use row::{Row, gate_select};
use row::{hex_list, hex_uuids, record, records};

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] =
    &[decision::SQL, history::SQL, inbox::SQL, read::SQL, reviewer::SQL, snooze::SQL, write::SQL];
