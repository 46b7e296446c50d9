//! The time range in which failures are counted.

use crate::{
    Error, Result,
    guard::Fields,
    work_queue::{day_begins, zone_of},
};
use chrono::{Datelike, TimeDelta};
use domain::{
    Scope, Timestamp,
    failure::cause::{Span, Window},
    limit::{CAUSE_VISIT_MINUTES, CAUSE_WINDOW_DAYS_MAX},
};
use store::{Conn, failure::visit::Visit};

const WEEK_DAYS: i64 = 7;
/// Local hours at which a weekend begins on Friday and ends on Monday.
const WEEKEND_HOURS: (i64, i64) = (17, 9);

/// A time range, by name or by its ends.
#[derive(Debug, Clone)]
pub struct When {
    /// A range with a name. Without one and without `since`, the caller's last visit.
    pub window: Option<Window>,
    /// First moment (UTC), in place of a name.
    pub since: Option<Timestamp>,
    /// First moment after the range (UTC); now if it is `None`. Only with `since`.
    pub until: Option<Timestamp>,
    /// IANA name of the time zone of the weekend.
    pub timezone: String,
}

impl When {
    /// A range with a name, in UTC.
    pub fn window(window: Window) -> Self {
        Self { window: Some(window), since: None, until: None, timezone: "UTC".into() }
    }

    /// The range with a name, unless its ends are given.
    pub fn named(&self) -> Option<Window> {
        self.since.is_none().then(|| self.window.unwrap_or_default())
    }

    /// Checks what needs no database.
    pub(super) fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        if self.window.is_some() && self.since.is_some() {
            fields.refuse("window", "leave it out if `since` is given");
        }
        if self.until.is_some() && self.since.is_none() {
            fields.refuse("until", "needs `since`");
        }
        if let (Some(since), Some(until)) = (self.since, self.until)
            && until <= since
        {
            fields.refuse("until", "later than `since`");
        }
        fields.check()?;
        zone_of(&self.timezone).map(|_| ())
    }

    /// The range at this time. A named one can need the caller's visits.
    pub(super) async fn span(&self, conn: &mut Conn<'_>, scope: &Scope, now: Timestamp) -> Result<Span> {
        let visit = match (self.named(), scope.user_id()) {
            (Some(Window::Visit), Some(user)) => store::failure::visit::find(conn, scope.tenant_id, user).await?,
            _ => None,
        };
        self.span_after(visit, now)
    }

    fn span_after(&self, visit: Option<Visit>, now: Timestamp) -> Result<Span> {
        let week = now - TimeDelta::days(WEEK_DAYS);
        let span = match self.named() {
            None => {
                let until = self.until.unwrap_or(now);
                let since = self.since.unwrap_or(week);
                if until - since > TimeDelta::days(CAUSE_WINDOW_DAYS_MAX) {
                    return Err(Error::invalid(
                        "since",
                        format!("at most {CAUSE_WINDOW_DAYS_MAX} days before the end"),
                    ));
                }
                if until <= since {
                    return Err(Error::invalid("since", "not in the future"));
                }
                return Ok(Span { since, until });
            }
            Some(Window::Visit) => {
                Span { since: visit.map_or(week, |visit| last_visit(visit, now).unwrap_or(week)), until: now }
            }
            Some(Window::Day) => Span { since: now - TimeDelta::days(1), until: now },
            Some(Window::Week) => Span { since: week, until: now },
            Some(Window::Weekend) => self.weekend(now)?,
        };
        // A failure of this very moment is in the range.
        let until = if span.until == now { now + TimeDelta::microseconds(1) } else { span.until };
        Ok(Span { since: span.since.max(now - TimeDelta::days(CAUSE_WINDOW_DAYS_MAX)).min(now), until })
    }

    /// The last weekend that has begun.
    fn weekend(&self, now: Timestamp) -> Result<Span> {
        let zone = zone_of(&self.timezone)?;
        let today = now.with_timezone(&zone).date_naive();
        let since_friday = (i64::from(today.weekday().num_days_from_monday()) + 3) % WEEK_DAYS;
        let begins = |weeks_ago: i64| {
            let friday = today - TimeDelta::days(since_friday + weeks_ago * WEEK_DAYS);
            let begin = day_begins(friday, zone)? + TimeDelta::hours(WEEKEND_HOURS.0);
            let end = day_begins(friday + TimeDelta::days(3), zone)? + TimeDelta::hours(WEEKEND_HOURS.1);
            Some(Span { since: begin, until: end.min(now) })
        };
        let weekend = begins(0).filter(|weekend| weekend.since <= now).or_else(|| begins(1));
        Ok(weekend.unwrap_or(Span { since: now - TimeDelta::days(WEEK_DAYS), until: now }))
    }
}

/// Returns the time since which a person has not looked: the end of the visit before the present one.
fn last_visit(visit: Visit, now: Timestamp) -> Option<Timestamp> {
    if now - visit.seen_at >= TimeDelta::minutes(CAUSE_VISIT_MINUTES) { Some(visit.seen_at) } else { visit.previous_at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn span(when: &When, visit: Option<Visit>, now: &str) -> (String, String) {
        let span = when.span_after(visit, at(now)).unwrap();
        let text = |at: Timestamp| at.format("%d %H:%M").to_string();
        (text(span.since), text(span.until))
    }

    #[test]
    fn the_weekend_is_the_last_one_that_has_begun() {
        let berlin = When { timezone: "Europe/Berlin".into(), ..When::window(Window::Weekend) };
        let of = |now: &str| span(&berlin, None, now);
        let pair = |since: &str, until: &str| (since.to_owned(), until.to_owned());
        // The last weekend of November 2026 begins on Friday the 27th at 17:00 in Berlin, which is 16:00 UTC.
        assert_eq!(of("2026-11-30T12:00:00Z"), pair("27 16:00", "30 08:00"));
        assert_eq!(of("2026-11-30T07:00:00Z"), pair("27 16:00", "30 07:00"));
        assert_eq!(of("2026-11-28T10:00:00Z"), pair("27 16:00", "28 10:00"));
        assert_eq!(of("2026-11-27T15:59:00Z"), pair("20 16:00", "23 08:00"));
        assert_eq!(of("2026-12-03T10:00:00Z"), pair("27 16:00", "30 08:00"));
    }

    #[test]
    fn a_visit_lasts_until_nobody_has_looked_for_half_an_hour() {
        let when = When::window(Window::Visit);
        let visit =
            |seen: &str, previous: Option<&str>| Some(Visit { seen_at: at(seen), previous_at: previous.map(at) });
        let since = |visit| span(&when, visit, "2026-11-30T09:00:00Z").0;
        assert_eq!(since(None), "23 09:00");
        assert_eq!(since(visit("2026-11-27T18:00:00Z", None)), "27 18:00");
        assert_eq!(since(visit("2026-11-30T08:50:00Z", Some("2026-11-27T18:00:00Z"))), "27 18:00");
        assert_eq!(since(visit("2026-11-30T08:50:00Z", None)), "23 09:00");
    }

    #[test]
    fn the_ends_of_a_range_are_checked() {
        let when = |since: Option<&str>, until: Option<&str>| When {
            window: None,
            since: since.map(at),
            until: until.map(at),
            timezone: "UTC".into(),
        };
        assert!(when(Some("2026-11-01T00:00:00Z"), Some("2026-11-02T00:00:00Z")).check().is_ok());
        assert!(when(Some("2026-11-01T00:00:00Z"), Some("2026-11-01T00:00:00Z")).check().is_err());
        assert!(when(None, Some("2026-11-01T00:00:00Z")).check().is_err());
        let both = When { window: Some(Window::Day), ..when(Some("2026-11-01T00:00:00Z"), None) };
        assert!(both.check().is_err());
        let far = when(Some("2026-01-01T00:00:00Z"), None);
        assert!(far.span_after(None, at("2026-11-30T09:00:00Z")).is_err());
    }
}
