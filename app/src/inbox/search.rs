//! The search line above the list of the inbox.

use super::list::{ItemFilter, List};
use crate::{
    render::static_html,
    text::escape::query,
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input},
        list_search::{search_chips, suggestions},
    },
};
use domain::limit::SEARCH_QUERY_CHARS_MAX;
use leptos::{prelude::*, tachys::html::InertElement};

/// What can be typed.
const HINT: &str = "Words, agent:scout, kind:question, tool:refund, -not";

/// The form that searches open and snoozed items. Decided ones are searched by the form of their filter. Without
/// anything to search there is none.
pub fn search_form(list: &List) -> Option<InertElement> {
    let has_items = !list.items.is_empty() || !list.questions.is_empty();
    if list.filter == ItemFilter::Settled || (list.search.q.is_empty() && !has_items) {
        return None;
    }
    let clear = (!list.search.q.is_empty()).then(|| {
        view! { <ButtonLink look=Look::Quiet href=list.whole_href()>"Clear"</ButtonLink> }
    });
    Some(static_html(view! {
        <form class="form-actions" method="get" action="/inbox" role="search">
            <input type="hidden" name="state" value=list.filter.as_str()/>
            {list.everyone.then(|| view! { <input type="hidden" name="assignedTo" value="all"/> })}
            {search_field(list, HINT)}
            <Button>"Search"</Button>
            {clear}
        </form>
    }))
}

/// The field of the search line, with the reason why it was refused.
pub fn search_field(list: &List, hint: &str) -> InertElement {
    let field = Field::new("q", "Search items").hint(hint);
    let known = suggestions(&list.search.q, list.search.fields);
    static_html(view! {
        <Input scope="search" field=field kind="search" chars_max=SEARCH_QUERY_CHARS_MAX suggestions=known value=&list.search.q form=&list.search.form/>
    })
}

/// A chip for each part of the search, with the address of the list without it.
pub fn chips_of(list: &List) -> Option<InertElement> {
    let left = |q: &str| {
        let q = if q.is_empty() { String::new() } else { format!("&q={}", query(q)) };
        format!("{}{}{q}", list.whole_href(), list.decided.query())
    };
    search_chips(&list.search.q, list.search.fields, &left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FieldError, FormState,
        inbox::{fixture::tool, list_content::list_fragment},
        render::to_html,
        ui::list_search::ListSearch,
    };
    use serde_json::json;

    fn searched(q: &str, errors: Vec<FieldError>) -> List {
        let form = FormState { errors, ..FormState::default() };
        let search = ListSearch { q: q.to_owned(), form, fields: &domain::search::Field::OF_APPROVALS };
        List { search, ..List::default() }
    }

    #[test]
    fn a_search_is_in_every_address_of_the_list() {
        let list = List { everyone: true, ..searched("tool:a b", Vec::new()) };
        assert_eq!(list.query(), "state=open&assignedTo=all&q=tool%3Aa%20b");
        assert_eq!(list.item_href(1), "/inbox/1?state=open&assignedTo=all&q=tool%3Aa%20b");
        let html = to_html(search_form(&list));
        assert!(html.contains("value=\"tool:a b\"") && html.contains("assignedTo"), "{html}");
        assert!(html.contains("href=\"/inbox?state=open&amp;assignedTo=all\""), "{html}");
        assert!(html.contains("<option value=\"tool:a b agent:scout\">"), "{html}");
        let html = to_html(chips_of(&list));
        assert!(html.contains("href=\"/inbox?state=open&amp;assignedTo=all&amp;q=tool%3Aa\""), "{html}");
    }

    #[test]
    fn an_empty_inbox_has_no_search_and_a_search_that_finds_nothing_leads_to_all_items() {
        assert!(search_form(&List::default()).is_none());
        let list = searched("tea", Vec::new());
        assert!(search_form(&list).is_some());
        assert!(list_fragment(&list).contains("No item matches the search."));
        let more = List { next_cursor: Some("c".to_owned()), ..list };
        assert!(list_fragment(&more).contains("None of the items that were compared"));
    }

    #[test]
    fn a_refused_search_says_why_and_shows_the_list() {
        let error = FieldError { field: Some("q".to_owned()), message: "the fields are agent".to_owned() };
        let list = List { items: vec![tool(1, json!({"to": "x"}))], ..searched("cost>1", vec![error]) };
        assert!(to_html(search_form(&list)).contains("the fields are agent"));
        assert!(list_fragment(&list).contains("type=\"checkbox\"") && !list.is_searched());
    }
}
