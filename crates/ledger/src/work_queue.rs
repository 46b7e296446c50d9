//! The work-queue strip: what needs whom.

use crate::{ActionRecord, Error, Ledger, Result, SessionRecord, cursor::page_size, gate::by_role, guard::require};
use chrono::{LocalResult, NaiveTime, TimeDelta, TimeZone as _};
use chrono_tz::Tz;
use domain::{
    Scope, Timestamp,
    gate::ByRole,
    id::UserId,
    limit::TIMEZONE_CHARS_MAX,
    role::Permission,
    work_queue::{Bucket, FAILED_WINDOW_HOURS},
};
use store::{
    Conn,
    work_queue::{DayPart, QueueOwner, QueuePerson, Since},
};
use uuid::Uuid;

/// Whose queue is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Whose {
    /// The caller's tasks, and what they may decide.
    #[default]
    Mine,
    /// The whole workspace: every task, assigned or not, and sessions of none.
    Everyone,
}

/// Counts of the five buckets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Waiting for the caller: on their tasks, at gates that they may decide, or elsewhere in a session of theirs. Of
    /// everyone's: waiting for anybody.
    pub needs_me: u64,
    /// Pending or running.
    pub running: u64,
    /// An agent could take these on: nothing of them is queued, at work, or waits for a person.
    pub delegatable: u64,
    /// Ended badly within 24 hours.
    pub failed: u64,
    /// Completed since the caller's midnight.
    pub done_today: u64,
}

/// Hours of the longest local day: one on which clocks go back.
pub const HOURS_MAX: usize = 25;

/// One bucket in the course of the caller's day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trend {
    /// Since when the oldest waits or is at work; of what has ended, when the newest did. None while there is nothing.
    pub at: Option<Timestamp>,
    /// How many came up, began or ended in each hour since the caller's midnight.
    pub hours: [u64; HOURS_MAX],
}

/// How the day went. Nothing is told of what could be delegated: it neither begins nor ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Day {
    /// What waits for the caller.
    pub needs_me: Trend,
    /// What is at work; its hours are those in which sessions were made, also such as have ended since.
    pub running: Trend,
    /// What ended badly.
    pub failed: Trend,
    /// What was completed.
    pub done_today: Trend,
    /// Hours of this day that have begun.
    pub hours: usize,
}

/// The rows behind one bucket.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Its sessions.
    pub sessions: Vec<SessionRecord>,
    /// Its actions, for `Delegatable`.
    pub actions: Vec<ActionRecord>,
    /// Of the caller's own `Failed`: how many more ended badly on tasks that are nobody's, or on none.
    pub unassigned_failures: u64,
}

/// The five counts in one round trip. A token has no tasks of its own: only everyone's queue says something to it.
pub async fn counts(ledger: &Ledger, scope: &Scope, whose: Whose, timezone: &str) -> Result<Counts> {
    require(scope, Permission::Read)?;
    let (reader, since) = (*scope, since(ledger.now(), timezone)?);
    ledger.snapshot(scope, move |conn| Box::pin(async move { counts_on(conn, &reader, whose, since).await })).await
}

/// [`counts`] on an open connection.
pub(crate) async fn counts_on(conn: &mut Conn<'_>, scope: &Scope, whose: Whose, since: Since) -> Result<Counts> {
    let [needs_me, running, delegatable, failed, done_today] =
        store::work_queue::counts(conn, scope.tenant_id, of(scope, whose), since).await?;
    Ok(Counts { needs_me, running, delegatable, failed, done_today })
}

/// How the day went so far, in one round trip.
pub async fn day(ledger: &Ledger, scope: &Scope, whose: Whose, timezone: &str) -> Result<Day> {
    require(scope, Permission::Read)?;
    let since = since(ledger.now(), timezone)?;
    let (tenant_id, of) = (scope.tenant_id, of(scope, whose));
    let read =
        ledger.store().read(scope.into(), move |conn| Box::pin(store::work_queue::day(conn, tenant_id, of, since)));
    let begun = (since.now - since.done).num_hours() + 1;
    let mut day = Day { hours: usize::try_from(begun).unwrap_or_default().min(HOURS_MAX), ..Day::default() };
    for hour in read.await? {
        let oldest = |course: &mut Trend| course.at = Some(course.at.map_or(hour.first, |at| at.min(hour.first)));
        let newest = |course: &mut Trend| course.at = course.at.max(Some(hour.last));
        let course = match hour.part {
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
        if let Some(count) = hour.hour.and_then(|at| course.hours.get_mut(usize::from(at))) {
            *count += hour.count;
        }
    }
    Ok(day)
}

/// The rows behind one bucket, at most `limit`.
pub async fn section(
    ledger: &Ledger,
    scope: &Scope,
    whose: Whose,
    bucket: Bucket,
    timezone: &str,
    limit: u32,
) -> Result<Section> {
    require(scope, Permission::Read)?;
    let (reader, limit, since) = (*scope, page_size(limit)?, since(ledger.now(), timezone)?);
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move { section_on(conn, &reader, whose, bucket, since, limit).await })
    });
    read.await
}

/// [`section`] on an open connection.
pub(crate) async fn section_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    whose: Whose,
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
        (Bucket::Failed, Whose::Mine) => store::work_queue::failed_unassigned(conn, tenant_id, since.failed).await?,
        _ => 0,
    };
    Ok(Section { sessions, actions, unassigned_failures })
}

/// The caller's own sessions that wait for them and cannot be answered here: a coding agent asks in its terminal. None
/// for a token. At most `limit`, longest waiting first.
pub async fn waiting_in_terminal(ledger: &Ledger, scope: &Scope, limit: u32) -> Result<Vec<SessionRecord>> {
    require(scope, Permission::Read)?;
    let Some(user_id) = scope.user_id() else { return Ok(Vec::new()) };
    let (tenant_id, limit) = (scope.tenant_id, page_size(limit)?);
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(store::work_queue::waiting_in_terminal(conn, tenant_id, user_id, limit))
    });
    Ok(read.await?)
}

/// Everyone, or the caller as an assignee and reviewer; the nil id is nobody, and a token decides nothing.
fn of(scope: &Scope, whose: Whose) -> QueueOwner {
    if whose == Whose::Everyone {
        return QueueOwner::Everyone;
    }
    let user_id = scope.user_id();
    let by_role = if user_id.is_some() { by_role(scope) } else { ByRole::Nothing };
    let me = QueuePerson { user_id: user_id.unwrap_or(UserId(Uuid::nil())), by_role };
    QueueOwner::Mine(me)
}

/// Whether a text names a time zone.
pub fn is_timezone(text: &str) -> bool {
    text.parse::<Tz>().is_ok()
}

/// The instants at which the buckets begin, now.
pub(crate) fn since(now: Timestamp, timezone: &str) -> Result<Since> {
    Ok(Since { failed: now - TimeDelta::hours(FAILED_WINDOW_HOURS), done: midnight_in(now, timezone)?, now })
}

/// The start of the local day in the zone of this name.
pub(crate) fn midnight_in(now: Timestamp, timezone: &str) -> Result<Timestamp> {
    let refused = || Error::invalid("timezone", "an IANA name such as Europe/Berlin");
    if timezone.len() > TIMEZONE_CHARS_MAX {
        return Err(refused());
    }
    let zone: Tz = timezone.parse().map_err(|_| refused())?;
    Ok(midnight(now, zone))
}

/// The start of the local day. Where clocks skip midnight, the first instant that exists after it.
fn midnight(now: Timestamp, zone: Tz) -> Timestamp {
    let mut local = now.with_timezone(&zone).date_naive().and_time(NaiveTime::MIN);
    for _ in 0..8 {
        match zone.from_local_datetime(&local) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => return at.to_utc(),
            LocalResult::None => local += TimeDelta::minutes(30),
        }
    }
    now
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
}
