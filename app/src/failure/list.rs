//! The page /failures.

use super::parts::{agents_words, state_label, state_words, trend, window_label};
use crate::{
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number},
    ui::{
        button::Button,
        empty::Empty,
        notice::{Notice, Tone},
        page_head::PageHead,
        pager::Pager,
        tabs::{Tab, Tabs},
        time::{moment, stamp},
    },
};
use domain::{
    Timestamp,
    failure::cause::{CauseState, Window},
    id::CauseId,
    role::Permission,
};
use leptos::prelude::*;
use wire::failure_cause::FailureCause;

/// Path of the page.
pub const PATH: &str = "/failures";
/// The value of `?state=` that shows the causes of all states.
pub const ALL: &str = "all";

/// What the list is narrowed to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// `?window=`
    pub window: Window,
    /// `?state=`; `None` for all.
    pub state: Option<CauseState>,
}

impl Filter {
    /// The address of the list, from a cursor on.
    pub fn href(self, cursor: Option<&str>) -> String {
        let state = self.state.map_or(ALL, CauseState::as_str);
        let from = cursor.map(|cursor| format!("&cursor={}", query(cursor))).unwrap_or_default();
        format!("{PATH}?window={}&state={state}{from}", self.window)
    }

    /// The address of the list with the focus at the row of a cause.
    fn at(self, cause: Option<CauseId>) -> String {
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
    /// Whether this is a page after the first.
    pub is_continued: bool,
    /// `?at=`: the cause whose row has the focus.
    pub at: Option<CauseId>,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Failures", || {
        let ListProps { filter, causes, since, grouped_percent, next_cursor, is_continued, at } = props;
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
                row(may_decide, filter.window, filter.at(below), cause, at == Some(cause.id))
            })
            .collect();
        let list = if rows.is_empty() {
            empty(filter).into_any()
        } else {
            view! { <ul class="rows" data-keys="failures">{rows}</ul> }.into_any()
        };
        let newest = is_continued.then(|| filter.href(None));
        let older = next_cursor.map(|cursor| filter.href(Some(&cursor)));
        let page = view! {
            <PageHead title="Failures" crumbs=vec![("Sessions".to_owned(), "/sessions".to_owned())]/>
            <div class="cause-filter">
                {static_html(view! { <Tabs label="When" tabs=windows(filter)/> })}
                {static_html(view! { <Tabs label="State" tabs=states(filter)/> })}
            </div>
            {grouping}
            <p class="meta">"Failures that differ only in numbers, ids and other values are one cause. Since "{stamp(since)}"."</p>
            {static_html(list)}
            <Pager newest=newest older=older/>
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn windows(filter: Filter) -> Vec<Tab> {
    let tab = |window| Tab::new(window_label(window), Filter { window, ..filter }.href(None), filter.window == window);
    Window::ALL.into_iter().map(tab).collect()
}

fn states(filter: Filter) -> Vec<Tab> {
    let states = CauseState::ALL.into_iter().map(Some).chain([None]);
    let tab = |state: Option<CauseState>| {
        let label = state.map_or("All", state_label);
        Tab::new(label, Filter { state, ..filter }.href(None), filter.state == state)
    };
    states.map(tab).collect()
}

fn empty(filter: Filter) -> impl IntoView + use<> {
    let week = Filter { window: Window::Week, state: None };
    let sentence = match (filter.state, filter.window) {
        (Some(CauseState::Open), Window::Visit) => "Nothing open has failed since your last visit.",
        (Some(CauseState::Open), _) => "Nothing open has failed in this time.",
        (None, _) => "Nothing has failed in this time.",
        (Some(_), _) => "No cause in this state has failed in this time.",
    };
    if filter == week {
        view! { <Empty sentence=sentence/> }.into_any()
    } else {
        view! { <Empty sentence=sentence link=Some(("Show all of 7 days", week.href(None)))/> }.into_any()
    }
}

/// A row of the list. `next` is the address that follows a decision.
fn row(may_decide: bool, window: Window, next: String, cause: &FailureCause, has_focus: bool) -> impl IntoView + use<> {
    let href = format!("{PATH}/{}?window={window}", cause.id);
    let count = number::counted(cause.failures, "failure");
    let title = format!("{} · {}", cause.code, cause.message);
    let tool = cause.tool.clone().map(|tool| view! { <span dir="auto">{tool}</span> });
    let first = cause.first_at.map(|at| view! { <span>"first "{moment(at)}</span> });
    let seen = (may_decide && cause.state == CauseState::Open).then(|| {
        let about = cause.message.clone();
        view! {
            <form method="post" action=format!("{PATH}/{}/decision", cause.id)>
                <input type="hidden" name="next" value=next/>
                <Button small=true about=about attr:data-key="seen" name="decision" value="acknowledge" title="Mark as seen (e)">"Mark as seen"</Button>
            </form>
        }
    });
    view! {
        <li class="row cause" data-row="">
            <div class="cause-count"><strong>{number::grouped(cause.failures)}</strong><span class="hidden-text">{count}</span>{trend(cause)}</div>
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
        let filter = Filter { window: Window::Weekend, state: Some(CauseState::Open) };
        assert_eq!(filter.href(None), "/failures?window=weekend&state=open");
        assert_eq!(Filter { state: None, ..filter }.href(Some("K=")), "/failures?window=weekend&state=all&cursor=K%3D");
    }

    #[test]
    fn a_row_is_one_link_and_has_the_decision_for_those_who_may_decide() {
        let html = |may_decide| {
            crate::render::to_html(row(may_decide, Window::Visit, "/failures?at=1".into(), &cause(), may_decide))
        };
        let (member, operator) = (html(false), html(true));
        assert_eq!(member.matches("<a ").count(), 1, "{member}");
        assert!(member.contains("1,034") && member.contains("401 Unauthorized"), "{member}");
        assert!(!member.contains("<form") && !member.contains("autofocus"), "{member}");
        assert!(operator.contains("value=\"/failures?at=1\"") && operator.contains("autofocus"), "{operator}");
        assert!(operator.contains("value=\"acknowledge\"") && operator.contains("data-key=\"seen\""), "{operator}");
    }
}
