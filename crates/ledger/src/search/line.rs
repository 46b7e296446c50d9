//! From a search line to the conditions that the store reads sessions by. Lists of sessions, the search over events and
//! the counts of saved views all go through here.

use crate::{
    Error, Result,
    list_line::{FIELD, among, contains, refused},
    work_queue::{day_begins, zone_of},
};
use chrono_tz::Tz;
use domain::{
    Scope, Timestamp,
    id::TenantId,
    limit::SEARCH_LOOKED_MAX,
    search::{BadQuery, Comparison, Condition, Day, Line, Measure, Problem, Query, Test},
    session::{Status, Type},
};
use store::{
    Conn,
    search::Window,
    session::{Bounds, Matching, UNASSIGNED, Worded},
};

/// Means the reader in `by:`.
const ME: &str = "me";

/// A search line as someone typed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchLine {
    /// Conditions and words: see [`Line`].
    pub text: String,
    /// IANA name of the time zone of its days. `None` for UTC.
    pub timezone: Option<String>,
}

/// A search line that was read, and when and where.
pub(crate) struct LineSearch {
    pub(super) line: Line,
    zone: Tz,
    now: Timestamp,
}

/// What a search line asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Conditions on sessions.
    pub(crate) matching: Matching,
    /// The time of what is looked for: when a session began, or when an event was recorded.
    pub(crate) window: Window,
}

impl LineSearch {
    /// Reads a search line.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the place at which it is none, and for an unknown time zone.
    pub(crate) fn of(asked: &SearchLine, now: Timestamp) -> Result<Self> {
        let zone = asked.timezone.as_deref().map_or(Ok(Tz::UTC), zone_of)?;
        let line = Line::parse(&asked.text).map_err(|bad| refused(&bad))?;
        Ok(Self { line, zone, now })
    }

    /// Whether the line has words, which are looked for in events.
    pub(crate) const fn has_words(&self) -> bool {
        self.line.query.is_some()
    }

    /// The words of the line.
    pub(super) fn query(&self) -> Result<&Query> {
        let none = BadQuery { at: 1, problem: Problem::NothingToFind };
        self.line.query.as_ref().ok_or_else(|| refused(&none))
    }

    /// What is asked for of sessions: words are looked for in their events and titles, and the time is that of their
    /// beginning.
    pub(crate) async fn sessions(&self, conn: &mut Conn<'_>, scope: &Scope) -> Result<Selection> {
        let mut wanted = self.conditions(conn, scope).await?;
        if let Some(query) = &self.line.query {
            wanted.matching.words = Some(self.worded(conn, scope.tenant_id, query).await?);
        }
        Ok(wanted)
    }

    /// The conditions of the line, without its words.
    pub(super) async fn conditions(&self, conn: &mut Conn<'_>, scope: &Scope) -> Result<Selection> {
        let mut wanted = Selection::default();
        wanted.matching.now = Some(self.now);
        for Condition { is_excluded, test } in &self.line.conditions {
            let (of, no) = (&mut wanted.matching, *is_excluded);
            match test {
                Test::Agent(slugs) => among(&mut of.agents, no, slugs.clone()),
                Test::Task(slugs) => among(&mut of.tasks, no, slugs.clone()),
                Test::Status(all) => among(&mut of.statuses, no, names(all, Status::as_str)),
                Test::Type(all) => among(&mut of.types, no, names(all, Type::as_str)),
                Test::Title(parts) => contains(&mut of.titles, no, parts),
                Test::Error(parts) => contains(&mut of.errors, no, parts),
                Test::By(people) => {
                    let creators = members(conn, scope.tenant_id, ("by", people), &scope.caller.to_string()).await?;
                    among(&mut of.creators, no, creators);
                }
                Test::Tag(tags) => contains(&mut of.tags, no, tags),
                Test::Assignee(people) => {
                    // A token acts for a person, and is never assigned anything itself.
                    let me = scope.acting_user().map_or_else(String::new, |id| format!("user:{id}"));
                    let is_no_one = |name: &&String| name.eq_ignore_ascii_case(UNASSIGNED);
                    let named: Vec<String> = people.iter().filter(|name| !is_no_one(name)).cloned().collect();
                    let mut assignees = members(conn, scope.tenant_id, ("assignee", &named), &me).await?;
                    if people.iter().any(|name| is_no_one(&name)) {
                        assignees.push(UNASSIGNED.to_owned());
                    }
                    among(&mut of.assignees, no, assignees);
                }
                Test::Model(parts) => contains(&mut of.models, no, parts),
                // Sessions have no such field.
                Test::Kind(_) | Test::Tool(_) => {}
                Test::Cost(Measure { comparison, value }) => {
                    bound(&mut of.cost, *comparison, value.0.cast_signed());
                }
                Test::Duration(Measure { comparison, value }) => {
                    bound(&mut of.lasted, *comparison, value.0.cast_signed() * 1_000);
                }
                Test::After(day) => {
                    let at = self.time(*day);
                    wanted.window.after = Some(wanted.window.after.map_or(at, |other| other.max(at)));
                }
                Test::Before(day) => {
                    let at = self.time(*day);
                    wanted.window.before = Some(wanted.window.before.map_or(at, |other| other.min(at)));
                }
            }
        }
        Ok(wanted)
    }

    fn time(&self, day: Day) -> Timestamp {
        let today = self.now.with_timezone(&self.zone).date_naive();
        day.time(self.now, today, |day| day_begins(day, self.zone).unwrap_or(Timestamp::MAX_UTC))
    }

    /// Sessions with an event that has the words, of the newest such events, and what a title must have instead.
    async fn worded(&self, conn: &mut Conn<'_>, tenant_id: TenantId, query: &Query) -> Result<Worded> {
        let most = u32::try_from(SEARCH_LOOKED_MAX).unwrap_or(u32::MAX);
        let events = store::search::find(conn, tenant_id, query, Window::default(), None, most).await?;
        let mut sessions: Vec<_> = events.iter().map(|event| event.session_id).collect();
        sessions.sort_unstable();
        sessions.dedup();
        let (mut in_title, mut not_in_title) = (Vec::new(), Vec::new());
        for words in &self.line.words {
            let text = words.text.trim_end_matches('*').to_owned();
            if words.is_excluded { not_in_title.push(text) } else { in_title.push(text) }
        }
        Ok(Worded { sessions, in_title, not_in_title })
    }
}

fn names<T: Copy>(values: &[T], name: fn(T) -> &'static str) -> Vec<String> {
    values.iter().map(|value| name(*value).to_owned()).collect()
}

fn bound(of: &mut Bounds, comparison: Comparison, value: i64) {
    let (min, max) = match comparison {
        Comparison::Less => (None, Some(value - 1)),
        Comparison::AtMost => (None, Some(value)),
        Comparison::Equal => (Some(value), Some(value)),
        Comparison::AtLeast => (Some(value), None),
        Comparison::More => (Some(value + 1), None),
    };
    // `None` is less than any number.
    of.min = of.min.max(min);
    of.max = of.max.into_iter().chain(max).min();
}

/// The members whom a condition names, as sessions name them: `user:…`. A name is that of a person, a word of it, or an
/// address; case does not matter. `me` is the reader as sessions name them.
async fn members(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (condition, people): (&str, &[String]),
    me: &str,
) -> Result<Vec<String>> {
    let members = store::user::members(conn, tenant_id).await?;
    let mut named = Vec::new();
    for name in people {
        let lower = name.to_lowercase();
        if lower == ME {
            named.push(me.to_owned());
            continue;
        }
        let before = named.len();
        for member in &members {
            let full = member.name.to_lowercase();
            if member.email == lower || full == lower || full.split_whitespace().any(|word| word == lower) {
                named.push(format!("user:{}", member.user_id));
            }
        }
        if named.len() == before {
            let text =
                format!("{condition}: no member of the workspace is called \"{name}\"; write me, a name or an address");
            return Err(Error::invalid(FIELD, text));
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::session::Among;

    #[test]
    fn several_conditions_on_one_field_must_all_hold() {
        let mut statuses = Among::default();
        among(&mut statuses, false, vec!["failed".into(), "idle".into()]);
        among(&mut statuses, false, vec!["idle".into(), "draft".into()]);
        among(&mut statuses, true, vec!["running".into()]);
        assert_eq!(statuses, Among { any_of: Some(vec!["idle".into()]), none_of: vec!["running".into()] });
        let mut cost = Bounds::default();
        for (comparison, value) in
            [(Comparison::More, 5), (Comparison::AtLeast, 4), (Comparison::Less, 9), (Comparison::AtMost, 20)]
        {
            bound(&mut cost, comparison, value);
        }
        assert_eq!(cost, Bounds { min: Some(6), max: Some(8) });
    }
}
