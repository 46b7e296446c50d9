//! The page /inbox/review.

use super::{
    cell::{columns, with_sent},
    figures::{figures, verb},
    outcome::{Outcome, outcome_table, summary, table_href},
    sort::Sort,
    table::{ARRANGE, Entry, Rows, SELECT_ALIKE, SELECT_NONE, entries, table},
};
use crate::{
    FormState,
    document::render,
    inbox::{
        api::item_field,
        group_words::words,
        item_text::agent_name,
        list::List,
        selection::{CONFIRMED, Compared, compared},
    },
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number::counted},
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Field, TextArea},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        popover::{Opens, Popover},
        section::Section,
    },
};
use domain::{
    gate::{GateKind, Verdict},
    id::UserId,
    limit::REASON_CHARS_MAX,
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::approval::Approval;

/// Name of the form.
pub const FORM: &str = "review";
/// Most values named that all items share.
const SHARED_MAX: usize = 12;

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// The open items of the group, closest deadline first, and what is known about their values.
    pub list: List,
    /// Key of the group.
    pub group: String,
    /// Whether more items of the group wait than the page has.
    pub has_more: bool,
    /// The order of the rows.
    pub sort: Sort,
    /// State of the form, if it was refused or asks for a second press.
    pub form: FormState,
    /// What became of the items that the form decided.
    pub outcomes: Vec<Outcome>,
    /// The person who looks; absent for a token.
    pub viewer_id: Option<UserId>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: &Props) -> String {
    let list = &props.list;
    let items: Vec<&Approval> = list.items.iter().collect();
    let title = if items.is_empty() {
        "Review".to_owned()
    } else {
        let (what, about) = words(&items, items.len(), &list.titles, &list.labels);
        about.map_or(what.clone(), |about| format!("{what}: {about}"))
    };
    render(shell, &title, || {
        let crumbs = vec![("Inbox".to_owned(), list.href(""))];
        let outcomes = (!props.outcomes.is_empty()).then(|| {
            let decided = outcome_table(list, &props.outcomes, props.viewer_id);
            view! { <Section name="outcomes" title="Decided">{summary(&props.outcomes, props.viewer_id)}{decided}</Section> }
        });
        let content = if items.is_empty() {
            let link = Some(("Back to the inbox", list.href("")));
            static_html(view! { <Empty sentence="Nothing of this group is waiting any more." link=link/> })
        } else {
            static_html(group(props, &items))
        };
        let page = view! {
            <div data-keys="inbox">
                <PageHead title=title.clone() crumbs=crumbs/>
                <Refused messages=refusals(props)/>
                {static_html(outcomes)}
                {content}
            </div>
        };
        // The styles of the inbox alone lack those of this page.
        frame(shell, RailEntry::Elsewhere, page)
    })
}

/// Errors that are at no row, and where the others are.
fn refusals(props: &Props) -> Vec<String> {
    let ids = || props.list.items.iter().map(|item| item.id.to_string());
    let is_of = |field: &str, id: &str| field == item_field(id) || field.starts_with(&format!("value.{id}."));
    let is_at_row = |field: &str| ids().any(|id| is_of(field, &id));
    let at_rows = ids().filter(|id| {
        let mut fields = props.form.errors.iter().filter_map(|error| error.field.as_deref());
        fields.any(|field| is_of(field, id))
    });
    let at_rows = at_rows.count();
    let general = props.form.errors.iter().filter(|error| match error.field.as_deref() {
        Some(field) => field != CONFIRMED && field != "note" && !is_at_row(field),
        None => true,
    });
    let mut said: Vec<String> = general.map(|error| error.message.clone()).collect();
    if at_rows > 0 {
        said.push(format!("{}: the reasons are at the rows.", counted(at_rows as u64, "refused item")));
    }
    said
}

/// The figures of the group, what its items share, and the form with their tables.
fn group(props: &Props, items: &[&Approval]) -> impl IntoView + use<> {
    let list = &props.list;
    let compared = with_sent(compared(items, &list.labels), &list.items, &props.form, &list.labels);
    let (columns, hidden) = columns(&list.items, &compared, &list.labels);
    let href = table_href(&props.group, list.everyone);
    let (notable, alike) = entries(list, &props.sort);
    let (sort, form) = (&props.sort, &props.form);
    let rows = Rows { list, columns: &columns, sort, href: &href, form };
    // Ctrl Enter presses the first button that decides, which is no denial.
    let decides = items.iter().all(|item| item.kind.takes(Verdict::Approve)).then_some("");
    let by = items.first().map(|item| format!("by {}", agent_name(item)));
    let facts: Vec<_> = by
        .into_iter()
        .chain(figures(items, &list.labels))
        .chain(more(props))
        .map(|fact| view! { <li>{fact}</li> })
        .collect();
    let note = (hidden > 0).then(|| {
        view! { <p class="meta">{format!("{} differ too. Open an item to see all of it.", counted(hidden as u64, "other value"))}</p> }
    });
    let action = format!("{href}{}", sort.query());
    view! {
        <ul class="review-figures" dir="auto">{facts}</ul>
        {shared(&compared)}
        <form class="review-form" method="post" action=action data-decides=decides>
            // Enter in a cell presses the first submit button. This one is disabled, so Enter decides nothing.
            <button type="submit" disabled hidden></button>
            {second_press(form)}
            {look_at_these(rows, &notable)}
            {alike_section(rows, &alike)}
            {note}
            {bar(props)}
        </form>
    }
}

/// States that the page has not all items of the group.
fn more(props: &Props) -> Option<String> {
    let count = counted(props.list.items.len() as u64, "item");
    props.has_more.then(|| format!("the first {count}; more are waiting"))
}

/// The values that all items share.
fn shared(compared: &Compared) -> impl IntoView + use<> {
    let all: Vec<_> = compared.shared.iter().filter(|(_, value)| !value.is_empty()).collect();
    let hidden = all.len().saturating_sub(SHARED_MAX);
    let more = (hidden > 0).then(|| {
        view! { <p class="meta">{format!("{} more.", counted(hidden as u64, "equal value"))}</p> }
    });
    let said: Vec<_> = all
        .iter()
        .take(SHARED_MAX)
        .map(|(label, value)| view! { <div><dt>{label.clone()}</dt><dd dir="auto">{value.clone()}</dd></div> })
        .collect();
    (!said.is_empty()).then(|| {
        view! { <p class="meta">"The same in all of them:"</p><dl class="facts">{said}</dl>{more} }
    })
}

fn look_at_these(rows: Rows<'_>, notable: &[Entry<'_>]) -> Option<InertElement> {
    (!notable.is_empty()).then(|| {
        static_html(view! {
            <Section name="notable" title="Look at these">
                <p class="meta">"They differ from the others or have a flag. None of them is selected at the start."</p>
                {table(rows, notable, "Items to look at")}
            </Section>
        })
    })
}

fn alike_section(rows: Rows<'_>, alike: &[Entry<'_>]) -> Option<InertElement> {
    // Links would drop what was typed. The form has the address of the table in its present order.
    (!alike.is_empty()).then(|| {
        static_html(view! {
            <Section name="alike" title="Alike">
                <p>
                    <Button small=true name=ARRANGE value=SELECT_ALIKE>"Select all alike"</Button>
                    " "
                    <Button small=true name=ARRANGE value=SELECT_NONE>"Select none"</Button>
                </p>
                {table(rows, alike, "Items that are alike")}
            </Section>
        })
    })
}

/// What a second press does, with its button, if the first press asked for it.
fn second_press(form: &FormState) -> Option<InertElement> {
    let words = form.error(CONFIRMED)?.to_owned();
    let verdict = Verdict::parse(form.value("decision").unwrap_or_default())?;
    let look = if verdict == Verdict::Deny { Look::Danger } else { Look::Primary };
    Some(static_html(view! {
        <input type="hidden" name=CONFIRMED value=form.value_or(CONFIRMED, "")/>
        <div tabindex="-1" autofocus="">
            <Notice tone=Tone::Wait>
                <p>{words}</p>
                <p><Button look=look name="decision" value=verdict.as_str()>{format!("Yes, {}", verb(verdict).to_lowercase())}</Button></p>
            </Notice>
        </div>
    }))
}

/// The buttons for the selected rows. Styles count the selected rows, also without scripts.
fn bar(props: &Props) -> impl IntoView + use<> {
    let form = &props.form;
    let items = &props.list.items;
    let is_approvable = items.iter().all(|item| item.kind.takes(Verdict::Approve));
    let is_question = items.iter().all(|item| item.kind == GateKind::Question);
    let approve = is_approvable.then(|| {
        view! {
            <Button
                look=Look::Primary name="decision" value="approve" attr:data-key="approve" attr:data-shortcut="a"
                title="Approve the selected items (a)"
            >
                "Approve "<span class="review-count"></span>
            </Button>
        }
    });
    let answer = is_question.then(|| {
        let href = props.list.href(&format!("&select={}", query(&props.group)));
        view! { <p class="meta">"Each question needs its own answer. "<a href=href>"Answer them in the inbox"</a></p> }
    });
    let (label, button) = if is_question { ("Refuse to answer…", "Refuse to answer ") } else { ("Deny…", "Deny ") };
    let is_typed = form.value("note").is_some_and(|note| !note.is_empty()) || form.error("note").is_some();
    view! {
        <div class="gate-bar" role="group" aria-label="Selected items">
            {approve}
            <Popover label=label title="Deny the selected items (r)" shortcut="deny" opens=Opens::AboveBar decides=true open=is_typed>
                <TextArea scope="review" field=Field::new("note", "Why? The agents receive your reason.") rows=2 chars_max=REASON_CHARS_MAX form=form/>
                <Button look=Look::Danger name="decision" value="deny" title="Deny the selected items (Ctrl Enter)">
                    {button}<span class="review-count"></span>
                </Button>
            </Popover>
            {answer}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FieldError,
        inbox::fixture::{question, tool},
        render::to_html,
    };
    use serde_json::json;

    fn props(items: Vec<Approval>) -> Props {
        Props {
            list: List { items, undo_seconds: 5, ..List::default() },
            group: "key".into(),
            has_more: false,
            sort: Sort::default(),
            form: FormState::default(),
            outcomes: Vec::new(),
            viewer_id: None,
        }
    }

    fn refunds(amounts: &[u32]) -> Vec<Approval> {
        let call = |(n, amount): (usize, &u32)| {
            tool(n as u32, json!({"amount": amount, "charge": format!("ch_{n}"), "currency": "EUR"}))
        };
        amounts.iter().enumerate().map(call).collect()
    }

    fn html(props: &Props) -> String {
        let items: Vec<&Approval> = props.list.items.iter().collect();
        to_html(group(props, &items))
    }

    /// The amounts in the order of the rows.
    fn amounts(html: &str) -> Vec<&str> {
        let cells = html.split(".amount\" type=\"text\" value=\"").skip(1);
        cells.filter_map(|cell| cell.split('"').next()).collect()
    }

    #[test]
    fn extremes_and_flagged_items_are_first_and_not_selected() {
        let mut items = refunds(&[5, 6, 900, 7, 8, 6]);
        items[4].flags = vec!["fraud".into()];
        let html = html(&props(items));
        let (look, alike) = html.split_once("id=\"alike-title\"").unwrap();
        assert_eq!((amounts(look), amounts(alike)), (vec!["900", "8"], vec!["5", "6", "7", "6"]), "{html}");
        assert_eq!((look.matches(" checked").count(), alike.matches(" checked").count()), (0, 4), "{html}");
        assert!(html.contains("Amount 5 to 900, sum 932") && html.contains("by scout"), "{html}");
        assert_eq!(html.matches(">EUR<").count(), 1, "what is equal is said once: {html}");
    }

    #[test]
    fn rows_are_sorted_by_numbers_as_numbers() {
        let sort = Sort { key: Some("amount".into()), is_descending: false };
        let sorted = Props { sort, ..props(refunds(&[1_000, 90, 500, 700])) };
        let page = html(&sorted);
        assert_eq!(amounts(&page), ["90", "500", "700", "1000"], "{page}");
        assert!(page.contains("aria-sort=\"ascending\"") && page.contains("sort=amount&amp;order=desc"), "{page}");
        assert!(page.contains("action=\"/inbox/review?group=key&amp;sort=amount\""), "{page}");
    }

    #[test]
    fn another_selection_keeps_what_was_typed() {
        let items = refunds(&[5, 6, 900, 7, 8, 6]);
        let cell = super::super::edit::cell_field(items[0].id, "amount");
        let changed = (super::super::edit::shown_field(items[1].id), "of an earlier proposal".to_owned());
        let odd = (item_field(&items[2].id.to_string()), items[2].digest.clone());
        let list = props(items).list;
        let arranged = |how: &str| {
            let typed = [(cell.clone(), "55".to_owned()), (ARRANGE.to_owned(), how.to_owned())];
            let values = typed.into_iter().chain([changed.clone(), odd.clone()]).collect();
            let form = FormState { form: FORM.into(), values, errors: Vec::new() };
            let form = super::super::table::arranged(form, &list);
            assert_eq!(form.value(&cell), Some("55"), "{how}");
            let rows = list.items.iter().map(|item| form.value(&item_field(&item.id.to_string())).is_some());
            rows.collect::<Vec<_>>()
        };
        assert_eq!(arranged(SELECT_NONE), [false; 6]);
        assert_eq!(arranged(SELECT_ALIKE), [true, false, true, true, true, true], "those to look at stay as they are");
        assert_eq!(arranged("sort"), [false, false, true, false, false, false]);
    }

    #[test]
    fn a_refused_cell_keeps_what_was_typed_into_the_others() {
        let items = refunds(&[5, 6, 7]);
        let cell = |n: usize| super::super::edit::cell_field(items[n].id, "amount");
        let error = FieldError { field: Some(cell(0)), message: "Enter a number.".into() };
        let values = [(cell(0), "many".to_owned()), (cell(1), "66".to_owned())];
        let box_of_second = (item_field(&items[1].id.to_string()), items[1].digest.clone());
        let values = values.into_iter().chain([box_of_second]).collect();
        let form = FormState { form: FORM.into(), values, errors: vec![error] };
        let refused = Props { form, ..props(items.clone()) };
        let page = html(&refused);
        assert_eq!(amounts(&page), ["many", "66", "7"], "{page}");
        assert_eq!((page.matches("Enter a number.").count(), page.matches(" checked").count()), (1, 1), "{page}");
        assert_eq!(refusals(&refused), ["1 refused item: the reasons are at the rows."]);
    }

    #[test]
    fn a_second_press_says_what_it_decides_and_questions_are_not_approved() {
        let asks = FieldError { field: Some(CONFIRMED.into()), message: "Approve 34 items?".into() };
        let values = [("decision", "approve"), (CONFIRMED, "approve 34")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let form = FormState { form: FORM.into(), values, errors: vec![asks] };
        let asked = Props { form, ..props(refunds(&[5, 6, 7])) };
        let page = html(&asked);
        assert!(page.contains("Approve 34 items?") && page.contains(">Yes, approve<"), "{page}");
        assert!(page.contains("name=\"confirmed\" value=\"approve 34\"") && refusals(&asked).is_empty(), "{page}");
        let page = html(&props((0..3).map(question).collect()));
        assert!(!page.contains("value=\"approve\"") && page.contains("Answer them in the inbox"), "{page}");
    }
}
