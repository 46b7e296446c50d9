//! The page /failures.

use super::parts::{agents_words, snooze_choices, state_label, state_words, title, trend, window_label};
use crate::{
    FormState,
    document::render,
    render::static_html,
    sessions::{LiveRows, selecting_help, tick},
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number},
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Field, Input, Select},
        list_search::{search_chips, suggestions},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        pager::Pager,
        popover::Sheet,
        tabs::{Tab, Tabs},
        time::{moment, stamp},
    },
};
use domain::{
    Timestamp,
    failure::cause::{CauseState, Window},
    id::CauseId,
    limit::{BULK_CAUSES_MAX, SEARCH_QUERY_CHARS_MAX},
    role::Permission,
    search,
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::failure_cause::FailureCause;

/// Path of the page.
pub const PATH: &str = "/failures";
/// The value of `?state=` that shows the causes of all states.
pub const ALL: &str = "all";
/// Name of the form of the selected causes, and its id, which the check boxes name.
const FORM: &str = "causes";

/// What the list is narrowed to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// `?window=`
    pub window: Window,
    /// `?state=`; `None` for all.
    pub state: Option<CauseState>,
    /// `?q=`: words and conditions; may be empty.
    pub q: String,
}

impl Filter {
    /// The address of the list, from a cursor on.
    pub fn href(&self, cursor: Option<&str>) -> String {
        let state = self.state.map_or(ALL, CauseState::as_str);
        let q = if self.q.is_empty() { String::new() } else { format!("&q={}", query(&self.q)) };
        let from = cursor.map(|cursor| format!("&cursor={}", query(cursor))).unwrap_or_default();
        format!("{PATH}?window={}&state={state}{q}{from}", self.window)
    }

    /// The address of the list with the focus at the row of a cause.
    fn at(&self, cause: Option<CauseId>) -> String {
        let at = cause.map(|id| format!("&at={id}")).unwrap_or_default();
        format!("{}{at}", self.href(None))
    }
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// What the list is narrowed to.
    pub filter: Filter,
    /// The causes, those with the newest failure first.
    pub causes: Vec<FailureCause>,
    /// Beginning of the time range (UTC).
    pub since: Timestamp,
    /// How much of the failures is grouped, in percent.
    pub grouped_percent: u32,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// `?cursor=`: absent on the first page.
    pub cursor: Option<String>,
    /// `?at=`: the cause whose row has the focus.
    pub at: Option<CauseId>,
    /// `?undo=`: causes that were open and were just decided about.
    pub undo: Vec<CauseId>,
    /// State of the refused form: `causes`.
    pub form: FormState,
    /// Why the search was refused, and how it was typed.
    pub search: FormState,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Failures", || {
        let ListProps { filter, causes, since, grouped_percent, next_cursor, cursor, at, undo, form, search } = props;
        let grouping = (grouped_percent < 100).then(|| {
            let words = format!("Failures of before the upgrade are being grouped: {grouped_percent} % are done. Until then, numbers are too small.");
            static_html(view! { <Notice tone=Tone::Wait><p>{words}</p></Notice> })
        });
        let may_decide = shell.may(Permission::ManageSessions);
        let rows: Vec<_> = causes
            .iter()
            .enumerate()
            .map(|(index, cause)| {
                // The keys go on at the row below the one that was decided about, or at the last one.
                let below = causes.get(index + 1).or_else(|| causes.get(index.checked_sub(1)?)).map(|cause| cause.id);
                let tick = may_decide.then(|| static_html(cause_tick(cause, &form)));
                row(tick, filter.window, filter.at(below), cause, at == Some(cause.id))
            })
            .collect();
        let undo =
            (may_decide && !undo.is_empty()).then(|| static_html(undo_form(filter.href(cursor.as_deref()), undo)));
        let list = if rows.is_empty() {
            let undo = undo.map(|undo| view! { <LiveRows>{undo}</LiveRows> });
            (undo, static_html(empty(&filter))).into_any()
        } else {
            let bar = may_decide.then(|| static_html(bar(&filter, cursor.clone(), &form)));
            let rows = static_html(view! { <ul class="rows" data-keys="failures">{rows}</ul> });
            view! { <LiveRows>{undo}{bar}{rows}</LiveRows> }.into_any()
        };
        let newest = cursor.is_some().then(|| filter.href(None));
        let older = next_cursor.map(|cursor| filter.href(Some(&cursor)));
        let page = view! {
            <PageHead title="Failures" crumbs=vec![("Sessions".to_owned(), "/sessions".to_owned())]/>
            <div class="cause-filter">
                {static_html(view! { <Tabs label="When" tabs=windows(&filter)/> })}
                {static_html(view! { <Tabs label="State" tabs=states(&filter)/> })}
                {static_html(search_form(&filter, &search))}
            </div>
            {grouping}
            <p class="meta">"Failures that differ only in numbers, ids and other values are one cause. Since "{stamp(since)}"."</p>
            {list}
            <Pager newest=newest older=older/>
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn windows(filter: &Filter) -> Vec<Tab> {
    let tab = |window| {
        Tab::new(window_label(window), Filter { window, ..filter.clone() }.href(None), filter.window == window)
    };
    Window::ALL.into_iter().map(tab).collect()
}

fn states(filter: &Filter) -> Vec<Tab> {
    let states = CauseState::ALL.into_iter().map(Some).chain([None]);
    let tab = |state: Option<CauseState>| {
        let label = state.map_or("All", state_label);
        Tab::new(label, Filter { state, ..filter.clone() }.href(None), filter.state == state)
    };
    states.map(tab).collect()
}

/// The search in the list, and a chip for each part of it. It keeps the range and the state.
fn search_form(filter: &Filter, form: &FormState) -> impl IntoView + use<> {
    let field = Field::new("q", "Search causes").hint("Words, agent:scout, error:\"rate limit\", -not");
    let left = |q: &str| Filter { q: q.to_owned(), ..filter.clone() }.href(None);
    let set = search_chips(&filter.q, &search::Field::OF_CAUSES, &left);
    view! {
        <form class="filter" method="get" action=PATH role="search">
            <input type="hidden" name="window" value=filter.window.as_str()/>
            <input type="hidden" name="state" value=filter.state.map_or(ALL, CauseState::as_str)/>
            <Input scope="search" field=field kind="search" chars_max=SEARCH_QUERY_CHARS_MAX suggestions=suggestions(&filter.q, &search::Field::OF_CAUSES) value=&filter.q form=form/>
            <Button>"Search"</Button>
        </form>
        {set}
    }
}

fn empty(filter: &Filter) -> impl IntoView + use<> {
    let week = Filter { window: Window::Week, ..Filter::default() };
    if !filter.q.is_empty() {
        let all = Filter { q: String::new(), ..filter.clone() }.href(None);
        let link = Some(("Show all causes of this time", all));
        return view! { <Empty sentence="No cause in this list is found by these words." link=link/> }.into_any();
    }
    let sentence = match (filter.state, filter.window) {
        (Some(CauseState::Open), Window::Visit) => "Nothing open has failed since your last visit.",
        (Some(CauseState::Open), _) => "Nothing open has failed in this time.",
        (None, _) => "Nothing has failed in this time.",
        (Some(_), _) => "No cause in this state has failed in this time.",
    };
    if *filter == week {
        view! { <Empty sentence=sentence/> }.into_any()
    } else {
        view! { <Empty sentence=sentence link=Some(("Show all of 7 days", week.href(None)))/> }.into_any()
    }
}

/// The form that opens causes again which were open before a decision.
fn undo_form(next: String, causes: Vec<CauseId>) -> impl IntoView + use<> {
    let fields = causes.into_iter().map(|id| view! { <input type="hidden" name="cause" value=id.to_string()/> });
    let fields = fields.collect::<Vec<_>>();
    view! {
        <form class="form-actions" method="post" action=format!("{PATH}/decisions")>
            <input type="hidden" name="next" value=next/>
            {fields}
            <Button small=true name="decision" value="reopen" title="Undo (z)" attr:data-list-key="z">"Undo"</Button>
        </form>
    }
}

/// The form that decides about the selected causes, or runs their failures again. The check boxes are in the rows.
fn bar(filter: &Filter, cursor: Option<String>, form: &FormState) -> impl IntoView + use<> {
    let has_open = filter.state.is_none_or(|state| state == CauseState::Open);
    let has_closed = filter.state != Some(CauseState::Open);
    let until = Field::new("until", "Until");
    let day = Field::new("day", "Day").hint("For the choice of a day.");
    let open = has_open.then(|| {
        view! {
            <Button
                small=true name="decision" value="acknowledge" title="Mark the selected causes as seen (a)"
                attr:data-list-key="a" attr:data-of-ticked=""
            >
                "Mark selected as seen"
            </Button>
            <Button small=true name="decision" value="resolve">"Resolve selected"</Button>
            <Sheet summary="Snooze selected" open=form.is_refused()>
                <div class="cause-again">
                    <Select scope=FORM field=until options=snooze_choices() form=form/>
                    <Input scope=FORM field=day kind="date" form=form/>
                    <Button look=Look::Primary name="decision" value="snooze">"Snooze"</Button>
                </div>
            </Sheet>
        }
    });
    let closed = has_closed.then(|| {
        view! { <Button small=true name="decision" value="reopen">"Open selected again"</Button> }
    });
    view! {
        <form class="bulk-bar" id=FORM method="post" action=format!("{PATH}/decisions") aria-label="Selected causes">
            <Refused messages=form.general(&["until", "day"])/>
            <input type="hidden" name="next" value=filter.href(cursor.as_deref())/>
            <input type="hidden" name="window" value=filter.window.as_str()/>
            <input type="hidden" name="state" value=filter.state.map_or(ALL, CauseState::as_str)/>
            <input type="hidden" name="q" value=filter.q.clone()/>
            {cursor.map(|cursor| view! { <input type="hidden" name="cursor" value=cursor/> })}
            {open}{closed}
            <Button
                small=true name="decision" value="run_again" title="Show what running the failures of the selected causes again would do (R)"
                attr:data-list-key="R" attr:data-of-ticked=""
            >
                "Run selected again…"
            </Button>
            <label class="choice">
                <input type="checkbox" name="all" value="on" data-tick-all=""/>
                <span>{format!("All of this list, at most {BULK_CAUSES_MAX}")}</span>
            </label>
            {selecting_help(Some("all of this list"))}
        </form>
    }
}

/// The check box of a cause. It stays ticked if the form was refused.
fn cause_tick(cause: &FailureCause, form: &FormState) -> impl IntoView + use<> {
    let id = cause.id.to_string();
    let is_ticked = form.value("cause").is_some_and(|ids| ids.lines().any(|ticked| ticked == id));
    tick((FORM, "cause"), id, &cause.message, is_ticked)
}

/// A row of the list. `next` is the address that follows a decision. A reader who may not decide has no check box.
fn row(
    tick: Option<InertElement>,
    window: Window,
    next: String,
    cause: &FailureCause,
    has_focus: bool,
) -> impl IntoView + use<> {
    let href = format!("{PATH}/{}?window={window}", cause.id);
    let count = number::counted(cause.failures, "failure");
    let title = title(&cause.code, &cause.message);
    let tool = cause.tool.clone().map(|tool| view! { <span dir="auto">{tool}</span> });
    let first = cause.first_at.map(|at| view! { <span>"first "{moment(at)}</span> });
    let seen = (tick.is_some() && cause.state == CauseState::Open).then(|| {
        let about = cause.message.clone();
        view! {
            <form method="post" action=format!("{PATH}/{}/decision", cause.id)>
                <input type="hidden" name="next" value=next/>
                <input type="hidden" name="state" value=CauseState::Open.as_str()/>
                <Button small=true about=about attr:data-key="seen" attr:data-list-key="a" name="decision" value="acknowledge" title="Mark as seen (a, e)">"Mark as seen"</Button>
            </form>
        }
    });
    view! {
        <li class="row cause" data-row="">
            <div class="cause-count">{tick}<strong>{number::grouped(cause.failures)}</strong><span class="hidden-text">{count}</span>{trend(cause)}</div>
            <div class="row-body">
                <a class="row-title" href=href dir="auto" autofocus=has_focus>{title}</a>
                <div class="row-sub">
                    {state_words(cause)}
                    {tool}
                    <span>{agents_words(cause)}</span>
                    {first}
                </div>
            </div>
            <span class="row-when">{cause.last_at.map(moment)}</span>
            <div class="row-action">{seen}</div>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::{super::parts::tests::cause, *};

    #[test]
    fn the_address_has_the_window_and_the_state() {
        let filter = Filter { window: Window::Weekend, state: Some(CauseState::Open), q: String::new() };
        assert_eq!(filter.href(None), "/failures?window=weekend&state=open");
        let found = Filter { state: None, q: "rate limit".into(), ..filter };
        assert_eq!(found.href(Some("K=")), "/failures?window=weekend&state=all&q=rate%20limit&cursor=K%3D");
    }

    #[test]
    fn a_row_is_one_link_and_has_the_decision_for_those_who_may_decide() {
        let html = |may_decide: bool| {
            let tick = may_decide.then(|| static_html(cause_tick(&cause(), &FormState::default())));
            crate::render::to_html(row(tick, Window::Visit, "/failures?at=1".into(), &cause(), may_decide))
        };
        let (member, operator) = (html(false), html(true));
        assert_eq!(member.matches("<a ").count(), 1, "{member}");
        assert!(member.contains("1,034") && member.contains("401 Unauthorized"), "{member}");
        assert!(!member.contains("<form") && !member.contains("autofocus"), "{member}");
        assert!(operator.contains("value=\"/failures?at=1\"") && operator.contains("autofocus"), "{operator}");
        assert!(operator.contains("value=\"acknowledge\"") && operator.contains("data-key=\"seen\""), "{operator}");
        assert!(operator.contains("form=\"causes\"") && !operator.contains("checked"), "{operator}");
    }

    #[test]
    fn a_refused_decision_keeps_what_was_selected_and_typed() {
        let id = cause().id.to_string();
        let values = [("cause", id.as_str()), ("until", "day"), ("day", "soon")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let error = crate::FieldError { field: Some("day".into()), message: "a day that exists".into() };
        let form = FormState { form: FORM.into(), values, errors: vec![error] };
        assert!(crate::render::to_html(cause_tick(&cause(), &form)).contains("checked"));
        let filter = Filter { window: Window::Day, state: Some(CauseState::Open), q: "rate limit".into() };
        let html = crate::render::to_html(bar(&filter, Some("K=".into()), &form));
        assert!(html.contains("a day that exists") && html.contains("value=\"soon\""), "{html}");
        assert!(html.contains("name=\"cursor\" value=\"K=\"") && !html.contains("reopen"), "{html}");
    }
}
