//! The form of the filter of decided items.

use super::{
    list::{ItemFilter, List},
    search::search_field,
};
use crate::{
    FormState,
    render::static_html,
    sessions::UTC,
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input, Select},
    },
};
use domain::gate::GateOutcome;
use leptos::{prelude::*, tachys::html::InertElement};

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
    let clear = (filter.is_set() || !list.search.q.is_empty()).then(|| {
        view! { <ButtonLink look=Look::Quiet href=list.whole_href()>"Clear"</ButtonLink> }
    });
    Some(static_html(view! {
        <form class="form-actions" method="get" action="/inbox" role="search" aria-label="Decided items">
            <input type="hidden" name="state" value=list.filter.as_str()/>
            {list.everyone.then(|| view! { <input type="hidden" name="assignedTo" value="all"/> })}
            {search_field(list, "")}
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
    use crate::inbox::DecidedFilter;

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
