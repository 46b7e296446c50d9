//! The pages /rules/new and /rules/{id}/edit.

use super::tested::tested_section;
use crate::{
    FormState,
    document::render,
    shell::{RailEntry, Shell, frame},
    ui::{
        button::{Button, Look},
        field::{Field, Input, Select, TextArea},
        notice::Refused,
        page_head::PageHead,
    },
};
use domain::{
    id::RuleId,
    limit::{RULE_DAYS_MAX, RULE_PER_DAY_MAX},
};
use leptos::prelude::*;
use wire::rule::BackTest;

/// Which condition a value has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Test {
    /// None: anything.
    #[default]
    Any,
    /// It is one of some values.
    OneOf,
    /// It is a number in a range.
    Range,
}

impl Test {
    /// Every test, in the order of the options.
    pub const ALL: [Self; 3] = [Self::Any, Self::OneOf, Self::Range];

    /// The value of the option.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::OneOf => "one_of",
            Self::Range => "range",
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Any => "Anything",
            Self::OneOf => "One of these values",
            Self::Range => "A number in this range",
        }
    }
}

/// One value of the items, and its condition as the form shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConditionRow {
    /// Name of the value.
    pub field: String,
    /// Which condition it has.
    pub test: Test,
    /// The values that are taken, one on each line.
    pub values: String,
    /// Least number.
    pub least: String,
    /// Largest number.
    pub most: String,
}

/// What the form of a rule holds at the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The rule; `None` for a new one.
    pub id: Option<RuleId>,
    /// The version that the form was made from; 0 for a new rule.
    pub version: u64,
    /// Which items the rule is about, as JSON.
    pub subject: String,
    /// Which items the rule is about, in words: `refund calls of scout`.
    pub what: String,
    /// One row for each value.
    pub rows: Vec<ConditionRow>,
    /// Most decisions of a day.
    pub per_day: String,
    /// Name of the value that is added up; empty for none.
    pub amount_field: String,
    /// Largest sum of a day.
    pub amount_per_day: String,
    /// The last day (UTC) on which the rule decides.
    pub until: String,
    /// Percentage of items that still ask.
    pub canary_percent: String,
}

/// Data of the editor.
#[derive(Debug, Clone)]
pub struct EditorProps {
    /// What the form holds at the start.
    pub draft: Draft,
    /// What the rule would have decided; absent if the form has errors.
    pub tested: Option<BackTest>,
    /// State of the form.
    pub form: FormState,
}

/// Renders the page.
pub fn editor_page(shell: &Shell, props: EditorProps) -> String {
    let title = if props.draft.id.is_some() { "Edit rule" } else { "New rule" };
    render(shell, title, || {
        let EditorProps { draft, tested, form } = props;
        let mut crumbs = vec![("Rules".to_owned(), "/rules".to_owned())];
        crumbs.extend(draft.id.map(|id| ("Rule".to_owned(), format!("/rules/{id}"))));
        let page = view! {
            <PageHead title=title crumbs=crumbs/>
            {rule_form(&draft, &form)}
            {tested.as_ref().map(tested_section)}
        };
        frame(shell, RailEntry::Elsewhere, page)
    })
}

fn rule_form(draft: &Draft, form: &FormState) -> impl IntoView + use<> {
    let (target, save) = match draft.id {
        Some(id) => (format!("/rules/{id}/edit"), "Save new version"),
        None => ("/rules".to_owned(), "Create rule"),
    };
    let rows = draft.rows.iter().enumerate().map(|(at, row)| condition_row(at, row, form)).collect::<Vec<_>>();
    let mut shown: Vec<String> =
        ["per_day", "amount_field", "amount_per_day", "until", "canary_percent"].map(str::to_owned).to_vec();
    shown.extend(
        (0..draft.rows.len())
            .flat_map(|at| ["test", "values", "least", "most"].map(|part| format!("condition.{at}.{part}"))),
    );
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let mut fields = vec![(String::new(), "No limit".to_owned())];
    fields.extend(draft.rows.iter().map(|row| (row.field.clone(), row.field.clone())));
    let per_day_hint = format!("1 to {RULE_PER_DAY_MAX}. Days are UTC. Above it a person is asked.");
    let until_hint = format!("The last day, UTC. At most {RULE_DAYS_MAX} days from now.");
    view! {
        <form class="form" method="post" action=target>
            <Refused messages=form.general(&shown)/>
            <input type="hidden" name="subject" value=draft.subject.clone()/>
            <input type="hidden" name="version" value=draft.version.to_string()/>
            <p>"Approve "<strong dir="auto">{draft.what.clone()}</strong>" without asking if all of this holds:"</p>
            {rows}
            <div class="form-row">
                <Input scope="rule" field=Field::new("per_day", "Decisions a day").hint(&per_day_hint).required() value=draft.per_day.clone() form=form/>
                <Input scope="rule" field=Field::new("canary_percent", "Still ask, percent").hint("0 to 100. So you see what the rule decides.").required() value=draft.canary_percent.clone() form=form/>
            </div>
            <div class="form-row">
                <Select scope="rule" field=Field::new("amount_field", "Add up a day") options=fields value=draft.amount_field.clone() form=form/>
                <Input scope="rule" field=Field::new("amount_per_day", "Largest sum a day") value=draft.amount_per_day.clone() form=form/>
            </div>
            <Input scope="rule" kind="date" field=Field::new("until", "Until").hint(&until_hint).required() value=draft.until.clone() form=form/>
            <div class="form-actions">
                <Button name="do" value="test">"Test against 90 days"</Button>
                <Button name="do" value="save" look=Look::Primary>{save}</Button>
            </div>
        </form>
    }
}

fn condition_row(at: usize, row: &ConditionRow, form: &FormState) -> impl IntoView + use<> {
    let name = |part: &str| format!("condition.{at}.{part}");
    let (test, values, least, most) = (name("test"), name("values"), name("least"), name("most"));
    let options = Test::ALL.map(|test| (test.as_str().to_owned(), test.label().to_owned())).to_vec();
    let hint = "One on each line. 5 is a number and \"5\" a text.";
    view! {
        <fieldset class="criteria-row">
            <legend class="meta" dir="auto">{row.field.clone()}</legend>
            <Select scope="rule" field=Field::new(&test, "Condition") options=options value=row.test.as_str().to_owned() form=form/>
            <TextArea scope="rule" field=Field::new(&values, "Values").hint(hint) rows=2 value=row.values.clone() form=form/>
            <div class="form-row">
                <Input scope="rule" field=Field::new(&least, "At least") value=row.least.clone() form=form/>
                <Input scope="rule" field=Field::new(&most, "At most") value=row.most.clone() form=form/>
            </div>
        </fieldset>
    }
}
