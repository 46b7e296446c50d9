//! The work queue: sessions and actions in five buckets.

mod snooze_choice;

pub use snooze_choice::SnoozeChoice;

use crate::{ActionRecord, Error, Ledger, Result, cursor::page_size, gate::by_role, guard::require};
use chrono::{LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _};
use chrono_tz::Tz;
use domain::{
    Scope, Timestamp,
    gate::ByRole,
    id::UserId,
    limit::TIMEZONE_CHARS_MAX,
    role::Permission,
    session::Session,
    work_queue::{Bucket, FAILED_WINDOW_HOURS},
};
use store::{
    Conn,
    work_queue::{DayPart, QueueOwner, QueuePerson, Since},
};
use uuid::Uuid;

/// Longest time that clocks skip at once, half hours. Samoa skipped a day in 2011.
const HALF_HOURS_SKIPPED_MAX: u8 = 48;

/// The queue to read: the caller's own, or that of the whole workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QueueScope {
    /// The caller's tasks, and gates that the caller may decide.
    #[default]
    Mine,
    /// The whole workspace: all tasks, assigned or not, and sessions without a task. Private sessions are left out,
    /// whoever reads it.
    Everyone,
}

/// Counts of the five buckets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions that wait for the caller: on the caller's tasks, at gates that the caller may decide, or outside
    /// in a session of the caller. For everyone's queue: sessions that wait for any person.
    pub needs_me: u64,
    /// Pending and running sessions.
    pub running: u64,
    /// Actions that an agent could work on: none of their sessions is queued, running or waiting for a person.
    pub delegatable: u64,
    /// Sessions that failed, expired or were abandoned within 24 hours.
    pub failed: u64,
    /// Sessions completed since the caller's midnight.
    pub done_today: u64,
}

/// Hours of the longest local day: one on which clocks go back.
pub const HOURS_MAX: usize = 25;

/// The course of one bucket during the caller's day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trend {
    /// For waiting and running sessions: the time since which the oldest one waits or runs. For ended sessions:
    /// when the newest one ended. `None` if the bucket is empty.
    pub at: Option<Timestamp>,
    /// Number of sessions that entered the bucket in each hour since the caller's midnight.
    pub hours: [u64; HOURS_MAX],
}

/// The course of the buckets during a day. Delegatable actions are left out, because they do not begin or end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Day {
    /// Sessions that wait for the caller.
    pub needs_me: Trend,
    /// Running sessions. The hours count sessions that were created then, including those that have ended since.
    pub running: Trend,
    /// Sessions that failed, expired or were abandoned.
    pub failed: Trend,
    /// Sessions that were completed.
    pub done_today: Trend,
    /// Number of hours of this day that have begun.
    pub hours: usize,
}

/// The sessions and actions in one bucket.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Sessions of the bucket, in the order of the page.
    pub sessions: Vec<Session>,
    /// Its actions; only for `Delegatable`.
    pub actions: Vec<ActionRecord>,
    /// For the caller's own `Failed` bucket: number of further failures on tasks that are assigned to no one, or
    /// without a task.
    pub unassigned_failures: u64,
}

/// Returns the five counts with one round trip. A token has no tasks of its own, so only everyone's queue is
/// useful for it.
///
/// # Errors
/// [`Error::Invalid`] if there is no such time zone.
pub async fn counts(ledger: &Ledger, scope: &Scope, whose: QueueScope, timezone: &str) -> Result<Counts> {
    require(scope, Permission::Read)?;
    let (reader, since) = (*scope, since(ledger.now(), timezone)?);
    ledger.snapshot(scope, async move |conn| counts_on(conn, &reader, whose, since).await).await
}

/// [`counts`] on an open connection.
pub(crate) async fn counts_on(conn: &mut Conn<'_>, scope: &Scope, whose: QueueScope, since: Since) -> Result<Counts> {
    let [needs_me, running, delegatable, failed, done_today] =
        store::work_queue::counts(conn, scope.tenant_id, of(scope, whose), since).await?;
    Ok(Counts { needs_me, running, delegatable, failed, done_today })
}

/// Returns the course of the day so far, with one round trip.
///
/// # Errors
/// [`Error::Invalid`] if there is no such time zone.
pub async fn day(ledger: &Ledger, scope: &Scope, whose: QueueScope, timezone: &str) -> Result<Day> {
    require(scope, Permission::Read)?;
    let since = since(ledger.now(), timezone)?;
    let (tenant_id, of) = (scope.tenant_id, of(scope, whose));
    let read =
        ledger.store().read(scope.into(), async move |conn| store::work_queue::day(conn, tenant_id, of, since).await);
    let hours_begun = (since.now - since.done).num_hours() + 1;
    let mut day = Day { hours: usize::try_from(hours_begun).unwrap_or_default().min(HOURS_MAX), ..Day::default() };
    for hour in read.await? {
        let oldest = |trend: &mut Trend| trend.at = Some(trend.at.map_or(hour.first, |at| at.min(hour.first)));
        let newest = |trend: &mut Trend| trend.at = trend.at.max(Some(hour.last));
        let trend = match hour.part {
            DayPart::Waiting => {
                oldest(&mut day.needs_me);
                &mut day.needs_me
            }
            DayPart::Live => {
                oldest(&mut day.running);
                continue;
            }
            DayPart::Begun => &mut day.running,
            DayPart::Failed => {
                newest(&mut day.failed);
                &mut day.failed
            }
            DayPart::Done => {
                newest(&mut day.done_today);
                &mut day.done_today
            }
        };
        if let Some(count) = hour.hour.and_then(|at| trend.hours.get_mut(usize::from(at))) {
            *count += hour.count;
        }
    }
    Ok(day)
}

/// Returns the sessions and actions in one bucket, at most `limit` of each.
///
/// # Errors
/// [`Error::Invalid`] if there is no such time zone, or for a `limit` above 1,000.
pub async fn section(
    ledger: &Ledger,
    scope: &Scope,
    whose: QueueScope,
    bucket: Bucket,
    timezone: &str,
    limit: u32,
) -> Result<Section> {
    require(scope, Permission::Read)?;
    let (reader, limit, since) = (*scope, page_size(limit)?, since(ledger.now(), timezone)?);
    let read = ledger.snapshot(scope, async move |conn| section_on(conn, &reader, whose, bucket, since, limit).await);
    read.await
}

/// [`section`] on an open connection.
pub(crate) async fn section_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    whose: QueueScope,
    bucket: Bucket,
    since: Since,
    limit: u32,
) -> Result<Section> {
    let (tenant_id, of) = (scope.tenant_id, of(scope, whose));
    let sessions = store::work_queue::sessions(conn, tenant_id, of, bucket, since, limit).await?;
    let actions = match bucket {
        Bucket::Delegatable => store::work_queue::delegatable(conn, tenant_id, of, limit).await?,
        _ => Vec::new(),
    };
    let unassigned_failures = match (bucket, whose) {
        (Bucket::Failed, QueueScope::Mine) => {
            store::work_queue::failed_unassigned(conn, tenant_id, since.failed).await?
        }
        _ => 0,
    };
    Ok(Section { sessions, actions, unassigned_failures })
}

/// Returns the caller's sessions that wait in a terminal, where a coding agent asks, so they cannot be answered
/// here. Longest waiting first, at most `limit`. Empty for a token.
///
/// # Errors
/// [`Error::Invalid`] for a `limit` above 1,000.
pub async fn waiting_in_terminal(ledger: &Ledger, scope: &Scope, limit: u32) -> Result<Vec<Session>> {
    require(scope, Permission::Read)?;
    let Some(user_id) = scope.user_id() else { return Ok(Vec::new()) };
    let (tenant_id, limit) = (scope.tenant_id, page_size(limit)?);
    let read = ledger.store().read(scope.into(), async move |conn| {
        store::work_queue::waiting_in_terminal(conn, tenant_id, user_id, limit).await
    });
    Ok(read.await?)
}

/// Converts to the store's type. A token is the nil user and decides nothing.
fn of(scope: &Scope, whose: QueueScope) -> QueueOwner {
    if whose == QueueScope::Everyone {
        return QueueOwner::Everyone;
    }
    let user_id = scope.user_id();
    let by_role = if user_id.is_some() { by_role(scope) } else { ByRole::Nothing };
    let me = QueuePerson { user_id: user_id.unwrap_or(UserId(Uuid::nil())), by_role };
    QueueOwner::Mine(me)
}

/// Returns whether a text is the name of a time zone.
pub fn is_timezone(text: &str) -> bool {
    text.parse::<Tz>().is_ok()
}

/// Returns the times at which the buckets begin.
pub(crate) fn since(now: Timestamp, timezone: &str) -> Result<Since> {
    Ok(Since { failed: now - TimeDelta::hours(FAILED_WINDOW_HOURS), done: midnight_in(now, timezone)?, now })
}

/// Returns the start of the local day in the time zone with this name.
///
/// # Errors
/// [`Error::Invalid`] if there is no such time zone.
pub(crate) fn midnight_in(now: Timestamp, timezone: &str) -> Result<Timestamp> {
    Ok(midnight(now, zone_of(timezone)?))
}

/// Returns the time zone with this name.
///
/// # Errors
/// [`Error::Invalid`] if there is no such time zone.
pub(crate) fn zone_of(timezone: &str) -> Result<Tz> {
    let refused = || Error::invalid("timezone", "an IANA name such as Europe/Berlin");
    if timezone.len() > TIMEZONE_CHARS_MAX {
        return Err(refused());
    }
    timezone.parse().map_err(|_| refused())
}

/// Returns the start of the local day.
fn midnight(now: Timestamp, zone: Tz) -> Timestamp {
    day_begins(now.with_timezone(&zone).date_naive(), zone).unwrap_or(now)
}

/// Returns the start of a day in a time zone. If clocks skip midnight, the first time that exists after it; for a day
/// that clocks skip as a whole, the start of the next one. `None` at the end of what can be represented.
pub(crate) fn day_begins(day: NaiveDate, zone: Tz) -> Option<Timestamp> {
    instant_of(day.and_time(NaiveTime::MIN), zone)
}

/// Returns the instant of a local time in a time zone, the first one if it exists twice. A local time that clocks skip
/// is moved by half hours until it exists. `None` at the end of what can be represented.
fn instant_of(mut local: NaiveDateTime, zone: Tz) -> Option<Timestamp> {
    for _ in 0..=HALF_HOURS_SKIPPED_MAX {
        match zone.from_local_datetime(&local) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => return Some(at.to_utc()),
            LocalResult::None => local = local.checked_add_signed(TimeDelta::minutes(30))?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day_start(now: &str, zone: &str) -> String {
        midnight(now.parse().unwrap(), zone.parse().unwrap()).to_rfc3339()
    }

    #[test]
    fn the_day_begins_at_the_callers_midnight() {
        assert_eq!(day_start("2026-07-01T12:00:00Z", "Europe/Berlin"), "2026-06-30T22:00:00+00:00");
        assert_eq!(day_start("2026-07-01T23:00:00Z", "Europe/Berlin"), "2026-07-01T22:00:00+00:00");
        assert_eq!(day_start("2026-07-01T01:00:00Z", "America/Los_Angeles"), "2026-06-30T07:00:00+00:00");
    }

    #[test]
    fn a_day_whose_midnight_is_skipped_begins_at_its_first_instant() {
        // Santiago jumped from 00:00 to 01:00 on 2024-09-08.
        assert_eq!(day_start("2024-09-08T12:00:00Z", "America/Santiago"), "2024-09-08T04:00:00+00:00");
    }

    #[test]
    fn a_day_that_clocks_skip_begins_and_ends_with_the_next_one() {
        // Samoa went from 2011-12-29 to 2011-12-31.
        let begins = |day: &str| day_begins(day.parse().unwrap(), Tz::Pacific__Apia).map(|at| at.to_rfc3339());
        assert_eq!(begins("2011-12-30"), begins("2011-12-31"));
        assert_eq!(begins("2011-12-31").as_deref(), Some("2011-12-30T10:00:00+00:00"));
    }
}
