//! The person's own day: time per task, and the working sessions.

use super::LiveDay;
use crate::{
    render::{static_html, to_html},
    sessions::{SessionEntry, session_table},
    text::{duration, number},
    ui::empty::Empty,
};
use domain::Timestamp;
use leptos::prelude::*;
use wire::human::{HumanToday, TaskTime};

/// Data of the section about the day.
#[derive(Debug, Clone)]
pub struct Day {
    /// Time per task and working sessions of the day.
    pub today: HumanToday,
    /// Whether the sessions are listed; otherwise only the time per task.
    pub whole: bool,
    /// The server's clock when the section was rendered (UTC).
    pub now: Timestamp,
}

impl Day {
    /// The value of `?detail=` of the fragment.
    const fn detail(&self) -> &'static str {
        if self.whole { "whole" } else { "tasks" }
    }
}

/// The section as an HTML fragment, for the reader's time zone or after a change.
pub fn day_fragment(day: &Day) -> String {
    to_html(day_section(day))
}

/// The section, kept up to date in the browser.
pub(super) fn live_day(day: &Day) -> impl IntoView + use<> {
    let section = day_section(day);
    view! { <LiveDay>{section}</LiveDay> }
}

fn day_section(day: &Day) -> impl IntoView + use<> {
    let HumanToday { tasks, sessions } = &day.today;
    let total: u64 = tasks.iter().map(|task| task.duration_ms).sum();
    let total = (!tasks.is_empty()).then(|| view! { <span class="meta">{duration::words(total)}</span> });
    let rows: Vec<_> = tasks.iter().map(task_row).collect();
    let empty = tasks.is_empty().then(|| {
        view! { <Empty sentence="You have not worked on anything today. Choose a task to start." small=true/> }
    });
    let list = (!tasks.is_empty()).then(|| view! { <ul class="day">{rows}</ul> });
    let sessions = (day.whole && !sessions.is_empty()).then(|| {
        let entries: Vec<_> = sessions.iter().cloned().map(SessionEntry::new).collect();
        view! {
            <h3>"Sessions"</h3>
            {session_table(&entries, day.now, "Your working sessions of today")}
        }
    });
    let more =
        (!day.whole).then(|| view! { <p class="rows-more"><a href="/working-on">"Sessions of your day"</a></p> });
    static_html(view! {
        <section class="section" id="your-day" aria-labelledby="your-day-title" data-detail=day.detail()>
            <div class="section-head">
                <h2 id="your-day-title">"Your day"</h2>
                {total}
            </div>
            {empty}
            {list}
            {sessions}
            {more}
        </section>
    })
}

fn task_row(task: &TaskTime) -> impl IntoView + use<> {
    let spread = number::counted(task.sessions.into(), "session");
    view! {
        <li class="day-task">
            <a class="quiet" href=format!("/actions/{}", task.task_id) dir="auto">{task.title.clone()}</a>
            <span class="meta">{spread}</span>
            <span class="day-time">{duration::words(task.duration_ms)}</span>
        </li>
    }
}
