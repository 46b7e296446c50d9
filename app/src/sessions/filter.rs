//! The filter of the list of sessions, as a form and as a query.

use crate::{
    FormState,
    text::escape::query,
    ui::{
        badge::word,
        button::{Button, ButtonLink, Look},
        field::{Field, Input, Select},
    },
};
use domain::session::{Status, Type};
use leptos::prelude::*;

/// The filter of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// `?type=`
    pub session_type: Option<Type>,
    /// `?status=`
    pub status: Option<Status>,
    /// `?actionId=`
    pub action_id: Option<String>,
    /// `?agent=`: the agent's slug.
    pub agent: Option<String>,
    /// `?ended=`: the day on which the session ended, UTC.
    pub ended: Option<String>,
    /// `?endedSince=`: the first day on which the session may have ended, UTC.
    pub ended_since: Option<String>,
    /// `?decided=`: the day on which an item of the session was decided or expired, UTC.
    pub decided: Option<String>,
    /// `?answered=`: the day on which an answer of the agent was complete, UTC.
    pub answered: Option<String>,
    /// `?q=`: part of the title.
    pub q: Option<String>,
}

impl Filter {
    /// Whether nothing is filtered.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// The address of the filtered list, from a cursor on.
    pub fn href(&self, cursor: Option<&str>) -> String {
        self.address("/sessions", cursor.map(|cursor| ("cursor", cursor)))
    }

    /// The address that counts the sessions of the filtered list that are newer than this one.
    pub fn fresh_href(&self, after: &str) -> String {
        self.address("/sessions/fresh", Some(("after", after)))
    }

    fn address(&self, path: &str, more: Option<(&str, &str)>) -> String {
        let mut pairs = Vec::new();
        let mut add = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                pairs.push(format!("{key}={}", query(value)));
            }
        };
        add("type", self.session_type.map(Type::as_str));
        add("status", self.status.map(Status::as_str));
        add("actionId", self.action_id.as_deref());
        add("agent", self.agent.as_deref());
        add("ended", self.ended.as_deref());
        add("endedSince", self.ended_since.as_deref());
        add("decided", self.decided.as_deref());
        add("answered", self.answered.as_deref());
        add("q", self.q.as_deref());
        if let Some((key, value)) = more {
            add(key, Some(value));
        }
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

/// The filter form. Empty fields are sent too; the server treats them as absent.
pub fn filter_form(filter: &Filter, actions: Vec<(String, String)>) -> impl IntoView + use<> {
    let none = FormState::default();
    let any = |label: &str| vec![(String::new(), label.to_owned())];
    let mut types = any("Any type");
    types.extend(Type::ALL.into_iter().map(|t| (t.as_str().to_owned(), type_word(t).to_owned())));
    let mut statuses = any("Any status");
    statuses.extend(Status::ALL.into_iter().map(|s| (s.as_str().to_owned(), word(s).to_owned())));
    let mut all_actions = any("Any task");
    all_actions.extend(actions);
    let q = filter.q.clone().unwrap_or_default();
    let agent = filter.agent.clone().unwrap_or_default();
    let ended = filter.ended.clone().unwrap_or_default();
    let since = filter.ended_since.clone().unwrap_or_default();
    // Insights link to these two. They are shown only then, because few people look for such a day.
    let linked =
        [("decided", "Decided on (UTC)", &filter.decided), ("answered", "Answered on (UTC)", &filter.answered)];
    let linked = linked.into_iter().filter_map(|(name, label, day)| {
        let day = day.as_deref()?;
        Some(view! { <Input scope="filter" field=Field::new(name, label) kind="date" value=day form=&none/> })
    });
    let linked = linked.collect::<Vec<_>>();
    view! {
        <form class="filter" method="get" action="/sessions" role="search">
            <Select scope="filter" field=Field::new("status", "Status") options=statuses value=filter.status.map_or("", Status::as_str) form=&none/>
            <Select scope="filter" field=Field::new("type", "Type") options=types value=filter.session_type.map_or("", Type::as_str) form=&none/>
            <Select scope="filter" field=Field::new("actionId", "Task") options=all_actions value=filter.action_id.as_deref().unwrap_or_default() form=&none/>
            <Input scope="filter" field=Field::new("agent", "Agent") kind="text" value=&agent form=&none/>
            <Input scope="filter" field=Field::new("ended", "Ended on (UTC)") kind="date" value=&ended form=&none/>
            <Input scope="filter" field=Field::new("endedSince", "Ended since (UTC)") kind="date" value=&since form=&none/>
            {linked}
            <Input scope="filter" field=Field::new("q", "Title contains") kind="search" wide=true value=&q form=&none/>
            <Button>"Filter"</Button>
            {(!filter.is_open()).then(|| view! { <ButtonLink look=Look::Quiet href="/sessions">"Clear"</ButtonLink> })}
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_carries_what_is_narrowed_and_nothing_else() {
        assert_eq!(Filter::default().href(None), "/sessions");
        let filter = Filter { status: Some(Status::Failed), q: Some("a b".into()), ..Filter::default() };
        assert_eq!(filter.href(Some("x=")), "/sessions?status=failed&q=a%20b&cursor=x%3D");
        assert_eq!(Filter { agent: Some("scout".into()), ..Filter::default() }.href(None), "/sessions?agent=scout");
        let day = Filter { session_type: Some(Type::Agent), ended: Some("2026-11-25".into()), ..Filter::default() };
        assert_eq!(day.href(None), "/sessions?type=agent&ended=2026-11-25");
        let since = Filter { ended_since: Some("2026-11-01".into()), ..Filter::default() };
        assert_eq!(since.href(None), "/sessions?endedSince=2026-11-01");
        let decided = Filter { decided: Some("2026-11-25".into()), ..Filter::default() };
        assert_eq!(decided.href(None), "/sessions?decided=2026-11-25");
        let answered = Filter { answered: Some("2026-11-25".into()), ..Filter::default() };
        assert_eq!(answered.href(None), "/sessions?answered=2026-11-25");
        assert_eq!(since.fresh_href("0189"), "/sessions/fresh?endedSince=2026-11-01&after=0189");
    }

    #[test]
    fn a_day_that_insights_link_to_stays_in_the_form() {
        let form = |filter: &Filter| crate::render::to_html(filter_form(filter, Vec::new()));
        let decided = Filter { decided: Some("2026-11-25".into()), ..Filter::default() };
        let html = form(&decided);
        assert!(html.contains("name=\"decided\"") && html.contains("value=\"2026-11-25\""), "{html}");
        assert!(html.contains("Decided on (UTC)") && !html.contains("name=\"answered\""), "{html}");
        assert!(!form(&Filter::default()).contains("name=\"decided\""));
    }
}
