//! The filter of the decided items, as a form and as a query.

use super::list::{ItemFilter, List};
use crate::{
    FormState,
    render::static_html,
    sessions::UTC,
    text::escape::query,
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input, Select},
    },
};
use domain::gate::GateOutcome;
use leptos::{prelude::*, tachys::html::InertElement};

/// Which decided items the list shows. Empty: all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecidedFilter {
    /// `?by=`: id of the person who decided.
    pub by: Option<String>,
    /// `?outcome=`: how the item ended.
    pub outcome: Option<GateOutcome>,
    /// `?agent=`: the agent that asked.
    pub agent: Option<String>,
    /// `?since=`: the first day, such as `2026-01-31`.
    pub since: Option<String>,
    /// `?until=`: the last day.
    pub until: Option<String>,
    /// `?zone=`: IANA name of the time zone of the days. Absent without a day.
    pub zone: Option<String>,
}

impl DecidedFilter {
    /// Whether it leaves anything out.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// What it adds to the query of the list: `&by=…&outcome=…`.
    pub(super) fn query(&self) -> String {
        let outcome = self.outcome.map(GateOutcome::as_str);
        let fields = [
            ("by", self.by.as_deref()),
            ("outcome", outcome),
            ("agent", self.agent.as_deref()),
            ("since", self.since.as_deref()),
            ("until", self.until.as_deref()),
            ("zone", self.zone.as_deref()),
        ];
        let set = fields.into_iter().filter_map(|(name, value)| Some(format!("&{name}={}", query(value?))));
        set.collect()
    }
}

const fn outcome_word(outcome: GateOutcome) -> &'static str {
    match outcome {
        GateOutcome::Approved => "Approved",
        GateOutcome::Edited => "Approved with changes",
        GateOutcome::Denied => "Denied",
        GateOutcome::Answered => "Answered",
        GateOutcome::ByRule => "Approved by a rule",
        GateOutcome::Expired => "Expired",
        GateOutcome::Withdrawn => "Withdrawn",
    }
}

/// The form that narrows the decided items; `None` for other lists.
pub fn decided_form(list: &List) -> Option<InertElement> {
    if list.filter != ItemFilter::Settled {
        return None;
    }
    let filter = &list.decided;
    let zone = filter.zone.as_deref().unwrap_or(&list.timezone);
    let mut people = vec![(String::new(), "Anyone".to_owned())];
    people.extend(list.people.iter().cloned());
    let mut outcomes = vec![(String::new(), "Any".to_owned())];
    outcomes.extend(GateOutcome::ALL.map(|one| (one.as_str().to_owned(), outcome_word(one).to_owned())));
    // Times of the page are in the reader's zone, so only another one is named; and the one for no zone.
    let of_zone = if zone == UTC || zone != list.timezone { format!(" ({zone})") } else { String::new() };
    let (since, until) = (format!("Since{of_zone}"), format!("Until{of_zone}"));
    let none = FormState::default();
    let clear = filter.is_set().then(|| {
        view! { <ButtonLink look=Look::Quiet href=list.whole_href()>"Clear"</ButtonLink> }
    });
    Some(static_html(view! {
        <form class="filter" method="get" action="/inbox" role="search" aria-label="Decided items">
            <input type="hidden" name="state" value=list.filter.as_str()/>
            {list.everyone.then(|| view! { <input type="hidden" name="assignedTo" value="all"/> })}
            <Select scope="decided" field=Field::new("by", "Decided by") options=people value=filter.by.as_deref().unwrap_or_default() form=&none/>
            <Select scope="decided" field=Field::new("outcome", "Outcome") options=outcomes value=filter.outcome.map_or("", GateOutcome::as_str) form=&none/>
            <Input scope="decided" field=Field::new("agent", "Agent") value=filter.agent.as_deref().unwrap_or_default() form=&none/>
            <Input scope="decided" field=Field::new("since", &since) kind="date" value=filter.since.as_deref().unwrap_or_default() form=&none/>
            <Input scope="decided" field=Field::new("until", &until) kind="date" value=filter.until.as_deref().unwrap_or_default() form=&none/>
            <input type="hidden" name="zone" value=zone.to_owned()/>
            <Button>"Filter"</Button>
            {clear}
        </form>
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrowed_list_keeps_its_filter_in_every_address_and_only_decided_items_have_the_form() {
        let decided = DecidedFilter {
            by: Some("7".into()),
            outcome: Some(GateOutcome::ByRule),
            agent: Some("a&b".into()),
            since: Some("2026-11-01".into()),
            until: None,
            zone: Some("Europe/Berlin".into()),
        };
        let people = vec![("7".to_owned(), "Mia <m>".to_owned())];
        let list = List { filter: ItemFilter::Settled, everyone: true, people, decided, ..List::default() };
        let narrowed = "&by=7&outcome=rule&agent=a%26b&since=2026-11-01&zone=Europe%2FBerlin";
        assert_eq!(list.query(), format!("state=decided&assignedTo=all{narrowed}"));
        assert_eq!(list.href("&cursor=x"), format!("/inbox?state=decided&assignedTo=all{narrowed}&cursor=x"));
        assert_eq!(list.item_href(1), format!("/inbox/1?state=decided&assignedTo=all{narrowed}"));
        let html = crate::render::to_html(decided_form(&list));
        assert!(html.contains("Mia &lt;m&gt;"), "{html}");
        assert!(html.contains("href=\"/inbox?state=decided&amp;assignedTo=all\""), "{html}");
        assert!(decided_form(&List::default()).is_none());
    }
}
