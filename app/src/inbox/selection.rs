//! The selected items beside the list: how many of what, what differs between them, and what can be done with all of
//! them. A decision about several items is made here, so that no one decides what they have not been shown.

use super::{
    answer_all::{answer_all, takes_one_answer},
    api::{DecideMany, SnoozeItems, item_field},
    group_words::words,
    item_text::{Labels, field_text, is_amount, label_of, row_subject, values},
    list::List,
    similar::{Block, Difference, Group, blocks},
    snooze::snooze_fields,
    spread::Spread,
};
use crate::{
    FormState,
    render::{static_html, to_html},
    server_function::page_fields,
    text::{
        escape::query,
        number::{counted, grouped, grouped_digits},
        shorten::one_line,
    },
    ui::{
        button::{Button, Look},
        field::{Field, TextArea},
        icon::{Icon, icon},
        notice::{Notice, Tone},
        popover::{Opens, Popover},
        time::moment,
    },
};
use domain::{
    gate::{GateKind, Verdict},
    limit::REASON_CHARS_MAX,
};
use leptos::{prelude::*, server_fn::ServerFn as _};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use wire::approval::Approval;

/// Most columns of values that differ.
const COLUMNS_MAX: usize = 3;
/// Most values named that all items share.
const SHARED_MAX: usize = 6;
/// Longest value in the table, characters.
const VALUE_CHARS_MAX: usize = 60;
/// A decision on more items than this needs a second press.
pub const ONE_PRESS_MAX: usize = 20;
/// Field of a form that was pressed once without scripts: the label of its button. Also the field of the error that
/// asks for the second press.
pub const CONFIRMED: &str = "confirmed";
/// Popovers of the bar close each other.
const GROUP: &str = "batch-more";

/// The selection of the list as HTML; `None` if nothing is selected.
pub fn selection(list: &List) -> Option<String> {
    (!list.ticked.is_empty()).then(|| to_html(selection_view(list)))
}

/// The selection as an HTML fragment for scripts.
pub fn selection_fragment(list: &List) -> String {
    to_html(selection_view(list))
}

/// A selected item, with what is unusual about it.
struct Selected<'a> {
    item: &'a Approval,
    differs: Vec<Difference>,
}

/// The selected items that can be decided: those that differ from others of their group first.
fn selected(list: &List) -> Vec<Selected<'_>> {
    let mut differing: BTreeMap<usize, Vec<Difference>> = BTreeMap::new();
    for block in blocks(&list.items, &list.labels) {
        if let Block::Group(Group { outliers, .. }) = block {
            differing.extend(outliers.into_iter().map(|outlier| (outlier.at, outlier.differs)));
        }
    }
    let is_selected = |item: &Approval| item.may_decide && list.ticked.contains(&item.id.to_string());
    let items = list.items.iter().enumerate().filter(|(_, item)| is_selected(item));
    let mut selected: Vec<_> =
        items.map(|(at, item)| Selected { item, differs: differing.remove(&at).unwrap_or_default() }).collect();
    selected.sort_by_key(|one| one.differs.is_empty());
    selected
}

/// What of alike items differs, and what they share.
#[derive(Default)]
pub struct Compared {
    /// Keys of the values that differ, numbers first.
    pub columns: Vec<String>,
    /// Labels and values that all share.
    pub shared: Vec<(String, String)>,
    /// Labels, spreads and sums of the numbers that differ.
    pub numbers: Vec<(String, Spread, f64)>,
}

/// Compares the values of items. Items of several groups and changes of memory are not compared.
pub fn compared(items: &[&Approval], labels: &Labels) -> Compared {
    let is_one_kind = items.windows(2).all(|pair| matches!(pair, [a, b] if a.similar_key == b.similar_key));
    if !is_one_kind || items.iter().any(|item| item.kind == GateKind::Memory) {
        return Compared::default();
    }
    let all: Vec<_> = items.iter().map(|item| values(item)).collect();
    let keys: BTreeSet<&String> = all.iter().flat_map(|values| values.keys()).collect();
    let mut found = Compared::default();
    let mut texts = Vec::new();
    for key in keys {
        let of: Vec<&Value> = all.iter().map(|values| values.get(key).unwrap_or(&Value::Null)).collect();
        if of.iter().all(|value| Some(value) == of.first()) {
            let value = of.first().map(|value| field_text(value)).unwrap_or_default();
            found.shared.push((label_of(key, labels), one_line(&value, VALUE_CHARS_MAX)));
            continue;
        }
        let numbers: Vec<f64> = of.iter().filter_map(|value| value.as_f64()).collect();
        let sum = numbers.iter().sum();
        match Spread::of(numbers).filter(|_| of.iter().all(|value| value.is_number() || value.is_null())) {
            Some(spread) => {
                found.columns.push(key.clone());
                found.numbers.push((label_of(key, labels), spread, sum));
            }
            None => texts.push(key.clone()),
        }
    }
    found.columns.extend(texts);
    found
}

fn selection_view(list: &List) -> impl IntoView + use<> {
    let selected = selected(list);
    let items: Vec<&Approval> = selected.iter().map(|one| one.item).collect();
    let compared = compared(&items, &list.labels);
    let is_one_kind = items.windows(2).all(|pair| matches!(pair, [a, b] if a.similar_key == b.similar_key));
    let title = if is_one_kind {
        let (what, about) = words(&items, items.len(), &list.titles, &list.labels);
        about.map_or(what.clone(), |about| format!("{what}: {about}"))
    } else {
        counted(items.len() as u64, "item")
    };
    let gone = list.ticked.len().saturating_sub(items.len());
    view! {
        <article class="gate" id="selection" data-selection aria-labelledby="selection-title">
            <header class="gate-head">
                <p class="gate-back"><a href=list.href("")>"Back to the list"</a></p>
                <h2 id="selection-title" tabindex="-1" dir="auto">{format!("Selected: {title}")}</h2>
                <div class="row-sub">{numbers(&compared)}</div>
            </header>
            {notes(&selected, gone)}
            {shared(&compared)}
            // The other buttons send no answer, so what an answer requires must not hold them back. The server checks
            // it.
            <form
                class="gate-part" method="post" action=DecideMany::PATH data-decides=(!items.is_empty()).then_some("")
                novalidate=takes_one_answer(&items)
            >
                <button type="submit" disabled hidden></button>
                {page_fields("/inbox?notice=decided", list.href(""))}
                {(!items.is_empty()).then(|| table(list, &selected, &compared))}
                {second_press(&list.batch)}
                {takes_one_answer(&items).then(|| answer(list, &items))}
                {(!items.is_empty()).then(|| buttons(list, &items))}
            </form>
        </article>
    }
}

/// What a second press does, if the first one of a browser without scripts asked for it.
fn second_press(form: &FormState) -> Option<impl IntoView + use<>> {
    let words = form.error(CONFIRMED)?.to_owned();
    let pressed = form.value_or(CONFIRMED, "");
    Some(view! {
        <input type="hidden" name=CONFIRMED value=pressed/>
        {static_html(view! { <Notice tone=Tone::Wait><p>{words}</p></Notice> })}
    })
}

/// The range of each number that differs, and its sum where that says something.
fn numbers(compared: &Compared) -> Vec<AnyView> {
    let said = compared.numbers.iter().map(|(label, spread, sum)| {
        let sum = if is_amount(label) { format!(", sum {}", grouped_digits(&sum.to_string())) } else { String::new() };
        view! { <span>{format!("{label} {}{sum}", spread.range())}</span> }.into_any()
    });
    said.collect()
}

/// What the reader should know before deciding.
fn notes(selected: &[Selected<'_>], gone: usize) -> impl IntoView + use<> {
    let unusual = selected.iter().filter(|one| !one.differs.is_empty()).count();
    let mut said = Vec::new();
    match unusual {
        0 => {}
        1 => said.push("1 of these differs from the others of its kind. It is listed first.".to_owned()),
        many => said.push(format!("{many} of these differ from the others of their kind. They are listed first.")),
    }
    if gone > 0 {
        said.push(format!("{} of the selected items cannot be decided here any more.", grouped(gone as u64)));
    }
    (!said.is_empty()).then(|| {
        let lines: Vec<_> = said.into_iter().map(|line| view! { <p>{line}</p> }).collect();
        static_html(view! { <Notice tone=Tone::Wait>{lines}</Notice> })
    })
}

/// The values that all items share.
fn shared(compared: &Compared) -> impl IntoView + use<> {
    let said: Vec<_> = compared
        .shared
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .take(SHARED_MAX)
        .map(|(label, value)| view! { <div><dt>{label.clone()}</dt><dd dir="auto">{value.clone()}</dd></div> })
        .collect();
    (!said.is_empty()).then(|| view! { <p class="meta">"The same in all of them:"</p><dl class="facts">{said}</dl> })
}

/// One row for each item, with what differs. A row whose box is not ticked is not decided.
fn table(list: &List, selected: &[Selected<'_>], compared: &Compared) -> impl IntoView + use<> {
    let columns: Vec<&String> = compared.columns.iter().take(COLUMNS_MAX).collect();
    let hidden = compared.columns.len().saturating_sub(columns.len());
    let more = (hidden > 0).then(|| {
        view! { <p class="meta">{format!("{} differ too. Open an item to see all of it.", counted(hidden as u64, "other value"))}</p> }
    });
    let mut heads: Vec<String> = columns.iter().map(|key| label_of(key, &list.labels)).collect();
    if heads.is_empty() {
        let are_questions = selected.iter().all(|one| one.item.kind == GateKind::Question);
        heads.push(if are_questions { "Asked for" } else { "Change" }.to_owned());
    }
    let heads: Vec<_> = heads.into_iter().map(|head| view! { <th scope="col">{head}</th> }).collect();
    let rows: Vec<_> = selected.iter().map(|one| table_row(list, one, &columns)).collect();
    view! {
        <div class="selection-scroll">
            <table class="selection-table">
                <caption class="hidden-text">"Selected items"</caption>
                <thead><tr><td></td><th scope="col">"Item"</th>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {more}
    }
}

fn table_row(list: &List, one: &Selected<'_>, columns: &[&String]) -> impl IntoView + use<> {
    let (item, id) = (one.item, one.item.id.to_string());
    let title = row_subject(item, &list.titles);
    let values = values(item);
    let cells: Vec<AnyView> = if columns.is_empty() && item.kind == GateKind::Question {
        vec![view! { <td dir="auto">{distinction(item)}</td> }.into_any()]
    } else {
        let texts: Vec<String> = if columns.is_empty() {
            vec![list.row_summary(item)]
        } else {
            columns.iter().map(|key| cell(values.get(*key), list)).collect()
        };
        texts.into_iter().map(|text| view! { <td dir="auto">{text}</td> }.into_any()).collect()
    };
    let marks: Vec<_> = one
        .differs
        .iter()
        .map(|differs| format!("{}, others {}", differs.label, one_line(&differs.usual, VALUE_CHARS_MAX)))
        .map(|words| view! { <span class="inbox-differs">{icon(Icon::Alert)}{words}</span> })
        .collect();
    let why = list.refused.get(&id).cloned().map(|why| view! { <p class="field-error">{why}</p> });
    view! {
        <tr data-outlier=(!one.differs.is_empty()).then_some("")>
            <td>
                <input
                    type="checkbox" name=item_field(&id) value=item.digest.clone() checked=true
                    aria-label=format!("Selected: {title}")
                />
            </td>
            <th scope="row" dir="auto"><a href=list.item_href(&id)>{title}</a>{marks}{why}</th>
            {cells}
        </tr>
    }
}

/// What tells questions with one text apart: task, record and age.
pub fn distinction(item: &Approval) -> impl IntoView + use<> {
    let about: Vec<_> = [item.action_name.clone(), item.entity_title.clone()].into_iter().flatten().collect();
    view! { {about.join(" · ")}" "<span class="meta">{moment(item.opened_at)}</span> }
}

/// A value in the table: a record by its title, a number with groups of three digits.
pub fn cell(value: Option<&Value>, list: &List) -> String {
    match value {
        Some(Value::Number(number)) => grouped_digits(&number.to_string()),
        Some(other) => {
            let text = field_text(other);
            one_line(list.titles.get(&text).unwrap_or(&text), VALUE_CHARS_MAX)
        }
        None => String::new(),
    }
}

/// What a button says after the first press where a decision takes effect at once; `None` if it can be undone.
fn at_once(list: &List) -> Option<String> {
    (list.undo_seconds == 0).then(|| "Press again: this cannot be undone".to_owned())
}

/// One answer to all of the items, which are questions that are alike. Several take a second press, which says how many
/// they are.
fn answer(list: &List, items: &[&Approval]) -> impl IntoView + use<> {
    let count = items.len();
    let many = (count > 1).then(|| format!("Press again: {count} questions get this answer"));
    answer_all(items, GROUP, at_once(list).or(many), (&list.batch, list.styles.as_str()))
}

/// What can be done with all of the items. An approval takes those that all can be approved, so never a question.
fn buttons(list: &List, items: &[&Approval]) -> impl IntoView + use<> {
    let count = items.len();
    let form: &FormState = &list.batch;
    let snooze = format!("{}?next={}", SnoozeItems::PATH, query("/inbox?notice=snoozed"));
    let expire = items.iter().any(|item| item.due_at.is_some());
    let snooze = snooze_fields(&list.timezone, expire, form, Some(&snooze));
    let is_time_refused = form.error("at").is_some();
    let open = form.value("note").is_some_and(|note| !note.is_empty());
    let at_once = at_once(list);
    let asks = |what: &str| {
        at_once.clone().or_else(|| (count > ONE_PRESS_MAX).then(|| format!("Press again to {what} {count}")))
    };
    let confirm = asks("approve");
    let is_approvable = items.iter().all(|item| item.kind.takes(Verdict::Approve));
    let approve = is_approvable.then(|| {
        view! {
            <Button
                look=Look::Primary name="decision" value="approve" attr:data-key="approve" attr:data-shortcut="a"
                attr:data-confirm=confirm title="Approve the selected items (a)"
            >
                {format!("Approve {count}")}
            </Button>
        }
    });
    let none_approvable = !items.iter().any(|item| item.kind.takes(Verdict::Approve));
    let (label, title) = if none_approvable {
        ("Refuse to answer…", "Refuse to answer the selected questions (r)")
    } else {
        ("Deny…", "Deny the selected items (r)")
    };
    let (deny, confirm_deny) = if none_approvable {
        (format!("Refuse to answer {count}"), asks("refuse to answer"))
    } else {
        (format!("Deny {count}"), asks("deny"))
    };
    let why = (!is_approvable && !takes_one_answer(items)).then(|| {
        let why = if none_approvable {
            "Each question needs its own answer."
        } else {
            "Questions need an answer, so they are not approved with others."
        };
        view! { <p class="meta">{why}</p> }
    });
    view! {
        <div class="gate-bar" id="inbox-batch-bar" role="group" aria-label="Selected items">
            {approve}
            <Popover label=label title=title shortcut="deny" group=GROUP opens=Opens::AboveBar decides=true open=open>
                <TextArea scope="batch" field=Field::new("note", "Why? The agents receive your reason.") rows=2 chars_max=REASON_CHARS_MAX form=form/>
                <Button look=Look::Danger name="decision" value="deny" attr:data-confirm=confirm_deny title="Deny the selected items (Ctrl Enter)">{deny}</Button>
            </Popover>
            <Popover label="Snooze…" title="Snooze the selected items (h)" shortcut="snooze" group=GROUP opens=Opens::AboveBar open=is_time_refused>
                {snooze}
            </Popover>
            {why}
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{output, question, tool};
    use serde_json::json;

    fn list(items: Vec<Approval>) -> List {
        let ticked = items.iter().map(|item| item.id.to_string()).collect();
        List { items, undo_seconds: 5, ..List::default() }.with_selection(ticked)
    }

    #[test]
    fn the_selection_says_range_and_sum_and_lists_the_extreme_first() {
        let amount = |n: u32| if n == 3 { 1_290_000 } else { 1_999 + n };
        let items =
            (0..6).map(|n| tool(n, json!({"amount": amount(n), "charge": format!("ch_{n}"), "currency": "EUR"})));
        let html = selection_fragment(&list(items.collect()));
        assert!(html.contains("Selected: 6 send_mail calls") && html.contains(">Approve 6<"), "{html}");
        assert!(html.contains("Amount 1,999 to 1,290,000, sum 1,300,007"), "{html}");
        assert!(html.contains("1 of these differs"), "{html}");
        let rows: Vec<&str> = html.split("<tr").skip(2).collect();
        assert_eq!((rows.len(), rows[0].contains("1,290,000"), rows[0].contains("data-outlier")), (6, true, true));
        assert!(html.contains("<dt>Currency</dt><dd dir=\"auto\">EUR</dd>"), "{html}");
        assert_eq!(html.matches("type=\"checkbox\"").count(), 6);
        assert!(!html.contains("data-confirm"), "{html}");
    }

    #[test]
    fn questions_are_never_approved_together() {
        let html = selection_fragment(&list(vec![question(1), tool(2, json!({"to": "x"}))]));
        assert!(!html.contains("value=\"approve\"") && html.contains("Deny 2"), "{html}");
        assert!(html.contains("Questions need an answer"), "{html}");
        let mut other = question(4);
        other.similar_key = "another text".into();
        let html = selection_fragment(&list(vec![question(1), other]));
        assert!(!html.contains("value=\"approve\"") && html.contains("Refuse to answer 2"), "{html}");
        assert!(html.contains("Each question needs its own answer.") && !html.contains("value=\"respond\""), "{html}");
    }

    #[test]
    fn questions_that_are_alike_get_one_answer_after_it_was_said_how_many_they_are() {
        let html = selection_fragment(&list((0..3).map(question).collect()));
        assert!(!html.contains("value=\"approve\"") && html.contains("Refuse to answer 3"), "{html}");
        assert!(
            html.contains("Each of the 3 selected questions gets this answer") && html.contains(">Answer 3<"),
            "{html}"
        );
        assert!(html.contains("data-confirm=\"Press again: 3 questions get this answer\""), "{html}");
        assert!(html.contains("name=\"answer\"") && html.contains(" novalidate"), "{html}");
        assert_eq!(html.matches("type=\"checkbox\"").count(), 3, "all of them are listed: {html}");
    }

    #[test]
    fn an_answer_that_was_refused_is_still_there() {
        let values = [("answer".to_owned(), "EU".to_owned())].into();
        let batch = FormState { form: DecideMany::PATH.to_owned(), values, errors: Vec::new() };
        let html = selection_fragment(&List { batch, ..list((0..3).map(question).collect()) });
        assert!(html.contains("EU</textarea>"), "{html}");
    }

    #[test]
    fn many_items_or_no_time_to_undo_need_a_second_press() {
        let items: Vec<_> = (0..21).map(|n| output(n, json!({"stage": "Won"}))).collect();
        let html = selection_fragment(&list(items.clone()));
        assert!(html.contains("data-confirm=\"Press again to approve 21\""), "{html}");
        assert!(html.contains("data-confirm=\"Press again to deny 21\""), "{html}");
        let html = selection_fragment(&list((0..21).map(question).collect()));
        assert!(html.contains("data-confirm=\"Press again to refuse to answer 21\""), "{html}");
        assert!(!selection_fragment(&list(items[..20].to_vec())).contains("data-confirm"));
        let at_once = List { undo_seconds: 0, ..list(items[..2].to_vec()) };
        let html = selection_fragment(&at_once);
        assert_eq!(html.matches("data-confirm=\"Press again: this cannot be undone\"").count(), 2, "{html}");
    }

    #[test]
    fn what_is_gone_is_said_and_what_may_not_be_decided_is_left_out() {
        let mut items = vec![output(1, json!({"stage": "Won"})), output(2, json!({"stage": "Won"}))];
        items[1].may_decide = false;
        let mut list = list(items);
        list.ticked.insert("01935f00-0000-7000-8000-00000000ffff".into());
        let html = selection_fragment(&list);
        assert!(html.contains("2 of the selected items cannot be decided") && html.contains(">Approve 1<"), "{html}");
        list.items.clear();
        assert!(!selection_fragment(&list).contains("value=\"approve\""));
    }

    #[test]
    fn what_agents_write_never_becomes_markup() {
        let items = (0..3).map(|n| tool(n, json!({"<b>k</b>": format!("<script>{n}</script>"), "to": "<img src=x>"})));
        let html = selection_fragment(&list(items.collect()));
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>k"), "{html}");
    }
}
