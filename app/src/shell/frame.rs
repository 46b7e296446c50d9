//! The shell of signed-in pages.

use super::{Connection, InboxCount, SavedEntry, Shell, ThemeSwitch, badge};
use crate::{
    palette::Palette,
    render::{static_html, static_island, to_html},
    text::number,
    ui::{
        button::{Button, IconButton, Press},
        chip::session_count,
        icon::{Icon, icon},
        notice,
    },
    working_on::{TaskChooser, WorkingOn, WorkingOnContext},
};
use domain::{limit::BADGE_COUNT_MAX, role::Permission};
use leptos::{prelude::*, tachys::html::InertElement};
use std::sync::OnceLock;

static PALETTE: OnceLock<String> = OnceLock::new();
static CONNECTION: OnceLock<String> = OnceLock::new();
static THEME_SWITCH: OnceLock<String> = OnceLock::new();

/// The entries of the rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RailEntry {
    /// The page `/today`.
    Today,
    /// Pages below `/inbox`.
    Inbox,
    /// Pages below `/sessions`.
    Sessions,
    /// Pages below `/chat`.
    Chat,
    /// Pages below `/actions`.
    Actions,
    /// Pages below `/entities`.
    Entities,
    /// Pages below `/memory` and `/agents`.
    Memory,
    /// The page `/insights`.
    Insights,
    /// Pages below `/settings`.
    Settings,
    /// A page without an entry in the rail.
    Elsewhere,
}

const ENTRIES: [(RailEntry, Icon, &str, &str, &str); 9] = [
    (RailEntry::Today, Icon::Today, "Today", "/today", "Today (g t)"),
    (RailEntry::Inbox, Icon::Inbox, "Inbox", "/inbox", "Inbox (g i)"),
    (RailEntry::Sessions, Icon::Sessions, "Sessions", "/sessions", "Sessions (g s)"),
    (RailEntry::Chat, Icon::Chat, "Chat", "/chat", "Chat (g c)"),
    (RailEntry::Actions, Icon::Actions, "Tasks", "/actions", "Tasks (g a)"),
    (RailEntry::Entities, Icon::Entities, "Entities", "/entities", "Entities (g e)"),
    (RailEntry::Memory, Icon::Memory, "Memory", "/memory", "Memory"),
    (RailEntry::Insights, Icon::Insights, "Insights", "/insights", "Insights (g n)"),
    (RailEntry::Settings, Icon::Settings, "Settings", "/settings", "Settings (g ,)"),
];

/// Entries that fit into the bottom bar of a phone; the others are under "More".
const BAR_ENTRIES: usize = 4;

/// A page inside the shell.
pub fn frame(shell: &Shell, here: RailEntry, page: impl IntoView) -> impl IntoView {
    let notice = shell.notice.as_deref().and_then(notice::of);
    // In the body, where it comes before all that it styles: the first visits of a day do not load it.
    let more_styles = (!matches!(here, RailEntry::Today | RailEntry::Inbox) && !shell.pages_css_href.is_empty())
        .then(|| view! { <link rel="stylesheet" href=shell.pages_css_href.clone()/> });
    view! {
        {more_styles}
        <a class="skip" href="#main">"Skip to content"</a>
        <div class="shell">
            {rail(shell, here)}
            <main class="page" id="main" tabindex="-1">
                <div class="page-inner">{notice}{page}</div>
            </main>
        </div>
        {static_island(&PALETTE, || view! { <Palette/> })}
    }
}

fn rail(shell: &Shell, here: RailEntry) -> impl IntoView {
    let workspace_title = shell.viewer.as_ref().map(|me| me.tenant.name.clone()).unwrap_or_default();
    let workspace = workspace_title.clone();
    let me = shell.viewer.as_ref().and_then(|me| me.user.as_ref());
    let email_title = me.map(|me| me.email.clone()).unwrap_or_default();
    let called = me.map(|me| if me.name.is_empty() { &me.email } else { &me.name }).cloned().unwrap_or_default();
    let figure = if shell.needs_me == 0 { String::new() } else { number::badge(shell.needs_me) };
    provide_context(badge::BadgeContext { figure, most: BADGE_COUNT_MAX });
    let entries = ENTRIES
        .into_iter()
        .enumerate()
        .map(|(at, (place, picture, label, href, title))| {
            let badge = (place == RailEntry::Inbox).then(|| view! { <InboxCount/> });
            view! {
                <li class=(at >= BAR_ENTRIES).then_some("rail-wide")>
                    <a class="rail-link" href=href title=title aria-current=(place == here).then_some("page")>
                        {icon(picture)}
                        <span class="rail-text">{label}</span>
                        {badge}
                    </a>
                </li>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <header class="rail">
            <div class="rail-brand" title=workspace_title>
                <span class="rail-mark">{icon(Icon::Mark)}</span>
                <span class="rail-workspace">{workspace}</span>
            </div>
            {switch(shell)}
            <div class="rail-slot">{picker(shell)}</div>
            <nav class="rail-nav" aria-label="Main">
                <ul>{entries}</ul>
                {static_html(more(shell, here))}
            </nav>
            {saved(&shell.saved)}
            <div class="rail-foot">
                {static_island(&CONNECTION, || view! { <Connection/> })}
                <div class="rail-tools js-only">
                    <IconButton picture=Icon::Search press=Press::Script attr:data-open="palette" label="Go to or search" title="Go to or search (Ctrl K)"/>
                    <IconButton picture=Icon::Keys press=Press::Script attr:data-open="keys" label="Keyboard shortcuts" title="Keyboard shortcuts (?)"/>
                    {static_island(&THEME_SWITCH, || view! { <ThemeSwitch/> })}
                </div>
                <div class="rail-row">
                    <span class="rail-person" title=email_title>{called}</span>
                    <form method="post" action="/sign-out">
                        <IconButton picture=Icon::SignOut attr:data-key="sign-out" label="Sign out" title="Sign out"/>
                    </form>
                </div>
            </div>
        </header>
    }
}

/// The entries under "More" on a phone: other pages, search, theme, workspaces and sign-out.
fn more(shell: &Shell, here: RailEntry) -> impl IntoView + use<> {
    let others = ENTRIES.get(BAR_ENTRIES..).unwrap_or_default();
    let is_here = others.iter().any(|(place, ..)| *place == here);
    let links = others
        .iter()
        .map(|&(place, picture, label, href, _)| {
            view! { <li><a class="rail-link" href=href aria-current=(place == here).then_some("page")>{icon(picture)}<span>{label}</span></a></li> }
        })
        .collect::<Vec<_>>();
    let email = shell.viewer.as_ref().and_then(|me| me.user.as_ref()).map(|user| user.email.clone());
    let workspace = shell.viewer.as_ref().map(|me| me.tenant.name.clone()).unwrap_or_default();
    view! {
        <details class="rail-more" name="rail-more">
            <summary class="rail-link" data-here=is_here.then_some("")>{icon(Icon::More)}<span class="rail-text">"More"</span></summary>
            <div class="rail-sheet">
                <ul>
                    {links}
                    <li class="js-only">
                        <button class="rail-link" type="button" data-open="palette">{icon(Icon::Search)}<span>"Go to or search"</span></button>
                    </li>
                    <li><a class="rail-link" href="/sessions#filter-q">{icon(Icon::Sessions)}<span>"Search sessions"</span></a></li>
                    <li><a class="rail-link" href="/settings#appearance">{icon(Icon::Theme)}<span>"Theme"</span></a></li>
                    <li>
                        <form method="post" action="/sign-out">
                            <button class="rail-link" type="submit">{icon(Icon::SignOut)}<span>"Sign out"</span></button>
                        </form>
                    </li>
                </ul>
                {saved(&shell.saved)}
                {switch(shell)}
                <p class="meta">{workspace}{email.map(|email| format!(" · {email}"))}</p>
            </div>
        </details>
    }
}

/// The picker, for people. Its island also runs the recorder, so it is mounted once on every page.
fn picker(shell: &Shell) -> Option<impl IntoView + use<>> {
    let me = shell.viewer.as_ref()?;
    let (user, may_create) = (me.user.as_ref()?, shell.may(Permission::StartSession));
    provide_context(WorkingOnContext::new(
        &me.tenant.id.to_string(),
        &user.id.to_string(),
        may_create,
        shell.working_on.clone(),
    ));
    Some(view! {
        <WorkingOn/>
        <div data-idle="">
            <TaskChooser/>
        </div>
    })
}

/// Links to the first saved searches, with their numbers of sessions. They are in the rail where it has words, and
/// under "More" on a phone: both have the other workspaces too, so the links have their style. Lists of
/// sessions replace it while sessions change.
fn saved(saved: &[SavedEntry]) -> Option<InertElement> {
    let link = |SavedEntry { name, href, count }: &SavedEntry| {
        let (title, name, count) = (name.clone(), name.clone(), count.map(session_count));
        view! {
            <li>
                <a class="rail-link" href=href.clone() title=title>
                    <span class="rail-person" dir="auto">{name}</span>
                    {count}
                </a>
            </li>
        }
    };
    let links = saved.iter().map(link).collect::<Vec<_>>();
    (!links.is_empty()).then(|| {
        static_html(view! { <nav class="rail-switch" aria-label="Saved" data-saved=""><ul>{links}</ul></nav> })
    })
}

/// The same links alone, with later numbers.
pub fn saved_fragment(entries: &[SavedEntry]) -> String {
    saved(entries).map(to_html).unwrap_or_default()
}

/// Links to the other workspaces of the person.
fn switch(shell: &Shell) -> Option<impl IntoView + use<>> {
    let present = shell.viewer.as_ref().map(|me| me.tenant.slug.clone()).unwrap_or_default();
    let others: Vec<_> = shell.workspaces.iter().filter(|w| w.slug != present).cloned().collect();
    (!others.is_empty()).then(|| {
        let forms = others
            .into_iter()
            .map(|w| {
                view! {
                    <li>
                        <Button small=true name="slug" value=w.slug>{w.name}</Button>
                    </li>
                }
            })
            .collect::<Vec<_>>();
        view! {
            <details class="rail-switch">
                <summary class="meta">"Other workspaces"</summary>
                <form method="post" action="/workspace">
                    <ul>{forms}</ul>
                </form>
            </details>
        }
    })
}
