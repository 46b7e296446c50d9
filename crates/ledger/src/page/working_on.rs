//! The page /working-on: tasks to choose from, and the caller's own working day.

use crate::{
    ActionRecord, Ledger, Listed, Result,
    action::{self, Assignee, ListActions},
    guard::require,
    human::{self, Today},
    work_queue::midnight_in,
};
use domain::{Scope, action::ActionStatus, role::Permission};

/// Tasks on the page.
const TASKS: u32 = 50;

/// What the page shows.
#[derive(Debug)]
pub struct Page {
    /// The caller's active tasks, newest first.
    pub tasks: Listed<ActionRecord>,
    /// The caller's working day.
    pub day: Today,
}

/// Reads the page. The time zone determines when the day began.
///
/// # Errors
/// As [`action::list`] and [`human::today`].
pub async fn read(ledger: &Ledger, scope: &Scope, name_contains: Option<String>, timezone: &str) -> Result<Page> {
    require(scope, Permission::Read)?;
    let wanted = ListActions {
        status: Some(ActionStatus::Active),
        assigned_to: Some(Assignee::Me),
        name_contains,
        limit: TASKS,
        ..ListActions::default()
    };
    let (reader, wanted) = (*scope, action::ListQuery::of(scope, wanted)?);
    let (user_id, now) = (human::person(scope)?, ledger.now());
    let midnight = midnight_in(now, timezone)?;
    let read = ledger.snapshot(scope, async move |conn| {
        Ok(Page {
            tasks: action::list_on(conn, &reader, wanted).await?,
            day: human::today_on(conn, reader.tenant_id, user_id, midnight, now).await?,
        })
    });
    read.await
}
