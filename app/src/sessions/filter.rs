//! The filter of the list of sessions, as a form and as a query.

use super::suggestion::suggestions;
use crate::{
    FormState,
    render::static_html,
    text::escape::query,
    ui::{
        badge::word,
        button::{Button, ButtonLink, Look},
        field::{Field, Input, Select},
    },
};
use domain::{
    limit::SEARCH_QUERY_CHARS_MAX,
    search::{Condition, Line, Test},
    session::{Sort, Status, Type},
};
use leptos::{prelude::*, tachys::html::InertElement};

/// The time zone of a reader whose own is not known, and of the days that insights count by.
pub const UTC: &str = "UTC";

/// The filter of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// `?q=`: conditions and words. `?type=`, `?status=` and `?agent=` are read as conditions of it.
    pub line: Line,
    /// `?actionId=`
    pub action_id: Option<String>,
    /// `?ended=`: the day on which the session ended.
    pub ended: Option<String>,
    /// `?endedSince=`: the first day on which the session may have ended.
    pub ended_since: Option<String>,
    /// `?decided=`: the day on which an item of the session was decided or expired.
    pub decided: Option<String>,
    /// `?answered=`: the day on which an answer of the agent was complete.
    pub answered: Option<String>,
    /// `?zone=`: IANA name of the time zone whose days these are. Absent without a day.
    pub zone: Option<String>,
    /// `?sort=`: the order of the list.
    pub sort: Sort,
}

/// A day that a list is filtered by.
pub(super) struct DayFilter<'a> {
    /// Name of the field.
    pub name: &'static str,
    /// Words before the day.
    pub label: &'static str,
    /// The day, as the address has it; `None` if it does not filter.
    pub day: Option<&'a str>,
}

impl Filter {
    /// The same sessions in another order.
    #[must_use]
    pub fn sorted(&self, sort: Sort) -> Self {
        Self { sort, ..self.clone() }
    }

    /// The filter with one more condition.
    #[must_use]
    pub fn and(mut self, test: Test) -> Self {
        self.line.add(Condition::must(test));
        self
    }

    /// Whether nothing is filtered, in whatever order.
    pub fn is_open(&self) -> bool {
        self.sorted(Sort::default()) == Self::default()
    }

    /// Whether a page looks at a bounded number of sessions, and the next one continues: by conditions that no index
    /// has, or by words.
    pub fn is_search(&self) -> bool {
        !self.line.is_empty()
    }

    /// The days that can be filtered by.
    pub(super) fn days(&self) -> [DayFilter<'_>; 4] {
        [
            DayFilter { name: "ended", label: "Ended on", day: self.ended.as_deref() },
            DayFilter { name: "endedSince", label: "Ended since", day: self.ended_since.as_deref() },
            DayFilter { name: "decided", label: "Decided on", day: self.decided.as_deref() },
            DayFilter { name: "answered", label: "Answered on", day: self.answered.as_deref() },
        ]
    }

    /// The filter without this day. The time zone goes with the last day.
    pub(super) fn without_day(&self, name: &str) -> Self {
        let mut without = self.clone();
        match name {
            "ended" => without.ended = None,
            "endedSince" => without.ended_since = None,
            "decided" => without.decided = None,
            _ => without.answered = None,
        }
        if without.days().iter().all(|by| by.day.is_none()) {
            without.zone = None;
        }
        without
    }

    /// How many conditions narrow the list, without words.
    fn count(&self) -> usize {
        let days = self.days().into_iter().filter(|by| by.day.is_some()).count();
        days + usize::from(self.action_id.is_some()) + self.line.conditions.len()
    }

    /// The address of the filtered list, from a cursor on.
    pub fn href(&self, cursor: Option<&str>) -> String {
        self.address("/sessions", cursor.map(|cursor| ("cursor", cursor)))
    }

    /// The address that counts the sessions of the filtered list that are newer than this one.
    pub fn fresh_href(&self, after: &str) -> String {
        self.address("/sessions/fresh", Some(("after", after)))
    }

    /// What is filtered by, as fields of a query or of a form.
    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let line = self.line.to_string();
        let fields = [
            ("q", Some(line).filter(|line| !line.is_empty())),
            ("actionId", self.action_id.clone()),
            ("ended", self.ended.clone()),
            ("endedSince", self.ended_since.clone()),
            ("decided", self.decided.clone()),
            ("answered", self.answered.clone()),
            ("zone", self.zone.clone()),
            ("sort", (self.sort != Sort::default()).then(|| self.sort.to_string())),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn address(&self, path: &str, more: Option<(&'static str, &str)>) -> String {
        let more = more.map(|(name, value)| (name, value.to_owned()));
        let pairs = self.fields().into_iter().chain(more).map(|(name, value)| format!("{name}={}", query(&value)));
        let pairs: Vec<String> = pairs.collect();
        if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
    }
}

/// The label of a session type.
pub const fn type_word(session_type: Type) -> &'static str {
    match session_type {
        Type::Agent => "Agent",
        Type::Response => "Response",
        Type::Tool => "Tool",
        Type::Mixed => "Mixed",
    }
}

/// What the filter form offers.
pub struct Offers<'o> {
    /// Tasks to filter by, `(id, name)`.
    pub actions: Vec<(String, String)>,
    /// Slugs of agents that are suggested.
    pub agents: &'o [String],
    /// The time zone in which the reader sees times.
    pub reader_zone: &'o str,
}

/// The filter form. Empty fields are sent too; the server treats them as absent. Status, type and agent are added to
/// the line.
///
/// On a phone all fields but the line are folded away. Elsewhere the style sheet shows them whether or not they are.
pub fn filter_form(filter: &Filter, offers: Offers<'_>, form: &FormState) -> impl IntoView + use<> {
    let Offers { actions, agents, reader_zone } = offers;
    let any = |label: &str| vec![(String::new(), label.to_owned())];
    let mut types = any("Type");
    types.extend(Type::ALL.into_iter().map(|t| (t.as_str().to_owned(), type_word(t).to_owned())));
    let mut statuses = any("Status");
    statuses.extend(Status::ALL.into_iter().map(|s| (s.as_str().to_owned(), word(s).to_owned())));
    let mut all_actions = any("Any task");
    all_actions.extend(actions);
    let line = filter.line.to_string();
    let sort = (filter.sort != Sort::default()).then(|| {
        view! { <input type="hidden" name="sort" value=filter.sort.as_str()/> }
    });
    let count = filter.count();
    let count = (count > 0).then(|| {
        view! { <span class="filter-count">{count.to_string()}<span class="hidden-text">" set"</span></span> }
    });
    let none = FormState::default();
    view! {
        <form class="filter session-filter" method="get" action="/sessions" role="search">
            <details class="filter-fold">
                <summary class="button">"Filter"{count}</summary>
                <div class="filter-chips">
                    <Select scope="filter" field=Field::new("status", "Add a status") options=statuses form=&none/>
                    {day_fields(filter, reader_zone, &none)}
                    <Select scope="filter" field=Field::new("type", "Add a type") options=types form=&none/>
                    <Select scope="filter" field=Field::new("actionId", "Task") options=all_actions value=filter.action_id.as_deref().unwrap_or_default() form=&none/>
                    <Input scope="filter" field=Field::new("agent", "Add an agent") kind="text" placeholder="Agent" suggestions=agents.to_vec() form=&none/>
                </div>
            </details>
            <Input scope="filter" field=Field::new("q", "Search sessions") kind="search" placeholder="agent:scout status:failed cost>0.5 words" wide=true chars_max=SEARCH_QUERY_CHARS_MAX suggestions=suggestions(&filter.line, agents) value=&line form=form/>
            {sort}
            <Button>"Search"</Button>
            {(!filter.is_open() || form.is_refused()).then(|| view! { <ButtonLink look=Look::Quiet href="/sessions">"Clear"</ButtonLink> })}
        </form>
    }
}

/// The days, folded. The summary says what is set. Fields for days that insights link to are there only then, because
/// few people look for such a day.
fn day_fields(filter: &Filter, reader_zone: &str, form: &FormState) -> InertElement {
    let zone = filter.zone.as_deref().unwrap_or(reader_zone);
    // Times of the page are in the reader's zone, so only another one is named; and the one for no zone.
    let of_zone = if zone == UTC || zone != reader_zone { format!(" ({zone})") } else { String::new() };
    let set: Vec<_> = filter.days().into_iter().filter_map(|by| Some((by.label, by.day?))).collect();
    let words = match set.as_slice() {
        [] => "Any day".to_owned(),
        [(label, day)] => format!("{label} {day}{of_zone}"),
        several => format!("{} days", several.len()),
    };
    let is_set = (!set.is_empty()).then_some("");
    let shown = filter.days().into_iter().filter(|by| by.day.is_some() || by.name.starts_with("ended"));
    let fields = shown.map(|DayFilter { name, label, day }| {
        let label = format!("{label}{of_zone}");
        let day = day.unwrap_or_default();
        view! { <Input scope="filter" field=Field::new(name, &label) kind="date" value=day form/> }
    });
    static_html(view! {
        <details class="popover" data-opens="below">
            <summary class="button" data-set=is_set>{words}</summary>
            <div class="popover-content">
                {fields.collect::<Vec<_>>()}
                <input type="hidden" name="zone" value=zone.to_owned()/>
            </div>
        </details>
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(line: &str) -> Filter {
        Filter { line: Line::parse(line).unwrap(), ..Filter::default() }
    }

    #[test]
    fn the_address_carries_what_is_narrowed_and_nothing_else() {
        assert_eq!(Filter::default().href(None), "/sessions");
        assert_eq!(asking("a  b status:failed").href(Some("x=")), "/sessions?q=status%3Afailed%20a%20b&cursor=x%3D");
        let day = Filter { ended: Some("2026-11-25".into()), ..asking("type:agent") };
        assert_eq!(day.href(None), "/sessions?q=type%3Aagent&ended=2026-11-25");
        let zone = Some("Europe/Berlin".to_owned());
        let since = Filter { ended_since: Some("2026-11-01".into()), zone, ..Filter::default() };
        assert_eq!(since.href(None), "/sessions?endedSince=2026-11-01&zone=Europe%2FBerlin");
        assert_eq!(since.without_day("endedSince").href(None), "/sessions");
        let decided = Filter { decided: Some("2026-11-25".into()), ..Filter::default() };
        assert_eq!(decided.href(None), "/sessions?decided=2026-11-25");
        let answered = Filter { answered: Some("2026-11-25".into()), ..Filter::default() };
        assert_eq!(answered.href(None), "/sessions?answered=2026-11-25");
        assert_eq!(asking("type:agent").sorted(Sort::Cost).href(None), "/sessions?q=type%3Aagent&sort=cost");
        assert_eq!(since.fresh_href("0189"), "/sessions/fresh?endedSince=2026-11-01&zone=Europe%2FBerlin&after=0189");
    }

    fn form(filter: &Filter, reader_zone: &str) -> String {
        let offers = Offers { actions: Vec::new(), agents: &["scout".to_owned()], reader_zone };
        crate::render::to_html(filter_form(filter, offers, &FormState::default()))
    }

    #[test]
    fn the_line_is_shown_as_it_is_understood() {
        let html = form(&asking("tea STATUS:failed"), UTC);
        assert!(html.contains("name=\"q\" type=\"search\" value=\"status:failed tea\""), "{html}");
        assert!(html.contains("<option value=\"status:failed tea agent:scout\">"), "{html}");
    }

    #[test]
    fn a_day_that_insights_link_to_stays_in_the_form() {
        let decided = Filter { decided: Some("2026-11-25".into()), zone: Some(UTC.into()), ..Filter::default() };
        let html = form(&decided, "Europe/Berlin");
        assert!(html.contains("name=\"decided\"") && html.contains("value=\"2026-11-25\""), "{html}");
        assert!(html.contains("Decided on 2026-11-25 (UTC)") && !html.contains("name=\"answered\""), "{html}");
        assert!(!form(&Filter::default(), UTC).contains("name=\"decided\""));
    }

    #[test]
    fn a_day_names_its_time_zone_unless_it_is_the_readers() {
        let on = |zone: &str| Filter { ended: Some("2026-11-25".into()), zone: Some(zone.into()), ..Filter::default() };
        let own = form(&on("Europe/Berlin"), "Europe/Berlin");
        assert!(own.contains(">Ended on 2026-11-25<") && own.contains(">Ended since<"), "{own}");
        assert!(own.contains("name=\"zone\" value=\"Europe/Berlin\""), "{own}");
        let other = form(&on("America/New_York"), "Europe/Berlin");
        assert!(other.contains(">Ended since (America/New_York)<"), "{other}");
        assert!(other.contains("name=\"zone\" value=\"America/New_York\""), "{other}");
        assert!(form(&Filter::default(), UTC).contains(">Ended on (UTC)<"), "a reader whose zone is not known");
    }

    #[test]
    fn the_button_that_unfolds_the_filter_says_how_many_fields_are_set() {
        let html = form(&Filter::default(), UTC);
        assert!(html.contains(">Filter<") && !html.contains("filter-count"), "{html}");
        let set = Filter {
            ended: Some("2026-11-25".into()),
            zone: Some(UTC.into()),
            ..asking("status:failed agent:scout words are in sight anyway")
        };
        let html = form(&set, UTC);
        assert!(html.contains("Filter<span class=\"filter-count\">3<"), "{html}");
    }
}
