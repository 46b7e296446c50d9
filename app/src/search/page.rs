//! The page /search.

use super::{
    filter::{Filter, PATH},
    records::{kind_tabs, marked, records},
};
use crate::{
    FormState,
    agent_href::agent_word,
    document::render,
    render::static_html,
    session::{kind_words, turn_href},
    sessions::suggestions,
    shell::{RailEntry, Shell, frame},
    text::{
        escape::query,
        number::{counted, grouped},
        shorten::one_line,
    },
    ui::{
        badge::StatusBadge,
        button::{Button, ButtonLink, Look},
        chip::chips,
        empty::Empty,
        field::{Field, Input},
        notice::{Notice, Tone},
        page_head::PageHead,
        pager::Pager,
        time::moment,
    },
};
use domain::{
    Timestamp,
    limit::{SEARCH_LOOKED_MAX, SEARCH_QUERY_CHARS_MAX},
    search::{Field as Condition, Line},
};
use leptos::prelude::*;
use wire::search::{FoundEvent, FoundEvents, FoundSession};

/// Seconds from which the page says that the newest events are not found yet.
const LAG_SHOWN_SECONDS: i64 = 10;
/// Longest title that is shown, characters.
const TITLE_CHARS: usize = 160;

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// What is searched for, and where.
    pub filter: Filter,
    /// What was found; absent without a search, and for one that was refused.
    pub found: Option<FoundEvents>,
    /// Why the search was refused, and how it was typed.
    pub form: FormState,
    /// Slugs of agents that are suggested.
    pub agents: Vec<String>,
    /// Whether this is a page after the first.
    pub is_continued: bool,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let now = shell.now;
    render(shell, "Search", || {
        let Props { filter, found, form, agents, is_continued } = props;
        let general = form.general(&["q"]);
        let found = found.map(|found| static_html(results(&filter, &found, is_continued, now)));
        let help = (filter.line.is_empty() && !form.is_refused()).then(|| static_html(how_to()));
        let set = chips(filter.set(), "Conditions").map(static_html);
        let has_kinds = !filter.line.words.is_empty() && !filter.is_narrowed();
        let tabs = has_kinds.then(|| static_html(kind_tabs(&filter)));
        let page = view! {
            <PageHead title="Search"/>
            {static_html(search_form(&filter, &agents, &form))}
            {set}
            {tabs}
            {(filter.is_narrowed() && filter.line.words.is_empty()).then(|| static_html(sessions_of(&filter)))}
            {general.into_iter().map(|message| view! { <Notice tone=Tone::Bad><p>{message}</p></Notice> }).collect::<Vec<_>>()}
            {help}
            {found}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn search_form(filter: &Filter, agents: &[String], form: &FormState) -> impl IntoView + use<> {
    let line = filter.line.to_string();
    view! {
        <form class="filter" method="get" action=PATH role="search">
            {filter.kind.map(|kind| view! { <input type="hidden" name="kind" value=kind.as_str()/> })}
            <Input scope="search" field=Field::new("q", "Words to find, and conditions") kind="search" wide=true chars_max=SEARCH_QUERY_CHARS_MAX suggestions=suggestions(&filter.line, agents) value=&line form=form/>
            <Button look=Look::Primary>"Search"</Button>
        </form>
    }
}

/// Conditions without words select sessions, not events.
fn sessions_of(filter: &Filter) -> impl IntoView + use<> {
    let href = format!("/sessions?q={}", query(&filter.line.to_string()));
    view! { <p><ButtonLink href=href>"List the sessions of these conditions"</ButtonLink></p> }
}

/// What can be typed.
fn how_to() -> impl IntoView + use<> {
    let ways = [
        ("token expired", "both words, in any order and form"),
        ("\"rate limit\"", "the phrase"),
        ("unauth*", "words that begin so"),
        ("timeout -zendesk", "one without the other"),
        ("foo_bar", "a name of code, a path or an error code, whole"),
    ];
    let conditions = [
        ("error agent:scout status:failed,expired", "in sessions of the agent with one of these statuses"),
        ("refund cost>0.5 duration>2m", "in sessions that cost more than half a dollar and ran more than two minutes"),
        ("token after:fri -status:completed", "since the beginning of Friday, in sessions that are not completed"),
    ];
    let list = |ways: Vec<(&str, &str)>| {
        let ways = ways.into_iter().map(|(typed, finds)| {
            let href = Filter { line: Line::parse(typed).unwrap_or_default(), kind: None }.href(None);
            view! { <li><a href=href><code>{typed.to_owned()}</code></a>" "<span class="meta">{finds.to_owned()}</span></li> }
        });
        view! { <ul class="search-ways">{ways.collect::<Vec<_>>()}</ul> }
    };
    let fields = Condition::ALL.map(Condition::as_str).join(", ");
    view! {
        <section class="section" aria-labelledby="ways-title">
            <h2 id="ways-title">"What you can type"</h2>
            {list(ways.to_vec())}
            <h3>"Conditions on the session"</h3>
            {list(conditions.to_vec())}
            <p class="meta">{format!("The fields are {fields}.")}</p>
            <p class="meta">"Searched are messages, inputs and outputs of tools, errors, questions and decisions in all sessions of the workspace, and its tasks, entities and memory. Incognito conversations are not. A search with conditions finds events alone."</p>
        </section>
    }
}

fn results(filter: &Filter, found: &FoundEvents, is_continued: bool, now: Timestamp) -> impl IntoView + use<> {
    let events = filter.has_events().then(|| events(filter, found, is_continued, now));
    view! {
        {records(filter, found)}
        {events}
    }
}

/// The events, below the records.
fn events(filter: &Filter, found: &FoundEvents, is_continued: bool, now: Timestamp) -> impl IntoView + use<> {
    let title = (!found.records.is_empty()).then(|| view! { <h2>"Events"</h2> });
    let newest = is_continued.then(|| filter.href(None));
    let older = found.next_cursor.as_deref().map(|cursor| filter.href(Some(cursor)));
    let list = match (found.items.is_empty(), older.is_some()) {
        (false, _) => {
            let items = found.items.iter().map(session).collect::<Vec<_>>();
            view! { <ol class="search-found" aria-label="Sessions, newest event first">{items}</ol> }.into_any()
        }
        (true, true) => {
            let looked = grouped(SEARCH_LOOKED_MAX as u64);
            view! { <p class="meta">{format!("None of the {looked} newest events with these words matches the filter. Older ones may.")}</p> }
                .into_any()
        }
        (true, false) if filter.is_narrowed() => {
            let all = filter.words().href(None);
            view! { <Empty sentence="No event with these words matches the filter." link=Some(("Search without it", all))/> }
                .into_any()
        }
        (true, false) if is_continued => {
            view! { <Empty sentence="There are no older events with these words."/> }.into_any()
        }
        (true, false) => {
            view! { <Empty sentence="No event has these words. All words must be in one event."/> }.into_any()
        }
    };
    view! {
        {lag(found.indexed_until, now)}
        {title}
        {list}
        <Pager newest=newest older=older/>
    }
}

/// Says that the newest events are not found yet.
fn lag(indexed_until: Option<Timestamp>, now: Timestamp) -> Option<impl IntoView + use<>> {
    let text = match indexed_until {
        None => view! { "The search is being made ready. Not all events are found yet." }.into_any(),
        Some(until) if (now - until).num_seconds() <= LAG_SHOWN_SECONDS => return None,
        Some(until) => view! { "Events since "{moment(until)}" are not found yet." }.into_any(),
    };
    Some(view! { <Notice tone=Tone::Wait><p>{text}</p></Notice> })
}

fn session(found: &FoundSession) -> impl IntoView + use<> {
    let events = found.events.iter().map(|event| hit(found, event)).collect::<Vec<_>>();
    let title = one_line(&found.title, TITLE_CHARS);
    let agent = found.agent_slug.as_deref().map(|agent| view! { <span class="meta">{agent_word(agent)}</span> });
    let more = (found.more_events > 0).then(|| {
        let more = counted(found.more_events, "more event");
        view! { <p class="meta">{format!("{more} with these words")}</p> }
    });
    view! {
        <li class="search-session">
            <p class="search-head">
                <a class="quiet" href=format!("/sessions/{}", found.session_id) dir="auto">{title}</a>
                <StatusBadge status=found.status/>
                {agent}
            </p>
            <ol class="search-events">{events}</ol>
            {more}
        </li>
    }
}

fn hit(of: &FoundSession, event: &FoundEvent) -> impl IntoView + use<> {
    view! {
        <li class="search-event">
            <span class="meta search-number">{grouped(event.sequence)}</span>
            <a class="search-link" href=turn_href(of.session_id, event.sequence) dir="auto">{marked(&event.snippet)}</a>
            <span class="meta">{kind_words(&event.event_type)}</span>
            <span class="meta search-when">{moment(event.recorded_at)}</span>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use domain::session::Status;
    use wire::search::SnippetPiece;

    fn asking(line: &str) -> Filter {
        Filter { line: Line::parse(line).unwrap(), kind: None }
    }

    fn found(events: usize) -> FoundEvents {
        let piece = |text: &str, is_marked| SnippetPiece { text: text.to_owned(), is_marked };
        let event = |number: usize| FoundEvent {
            sequence: 7 + number as u64,
            event_type: "agent.tool_result".into(),
            recorded_at: "2026-11-29T10:00:00Z".parse().unwrap(),
            snippet: vec![piece("<b>", false), piece("refund", true)],
        };
        let session = FoundSession {
            session_id: "0193b0a0-0000-7000-8000-000000000001".parse().unwrap(),
            title: "<i>Title".into(),
            agent_slug: Some("scout".into()),
            status: Status::Failed,
            events: (0..events).map(event).collect(),
            more_events: 1,
        };
        FoundEvents {
            records: Vec::new(),
            has_more_records: false,
            has_older_records: false,
            items: vec![session],
            next_cursor: None,
            indexed_until: Some("2026-11-29T10:00:00Z".parse().unwrap()),
        }
    }

    fn rendered(filter: &Filter, found: &FoundEvents, seconds: i64) -> String {
        let now: Timestamp = "2026-11-29T10:00:00Z".parse().unwrap();
        to_html(results(filter, found, false, now + chrono::TimeDelta::seconds(seconds)))
    }

    #[test]
    fn what_was_found_is_text_with_marks_and_leads_to_its_event() {
        let html = rendered(&Filter::default(), &found(2), 0);
        for part in [
            "href=\"/sessions/0193b0a0-0000-7000-8000-000000000001?before=107#seq-7\"",
            "&lt;b&gt;<mark>refund</mark>",
            "&lt;i&gt;Title",
            "1 more event with these words",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches("<mark>").count(), 2);
    }

    #[test]
    fn an_empty_page_says_whether_older_events_may_match() {
        let filter = asking("tea agent:scout");
        let none = FoundEvents { items: Vec::new(), ..found(0) };
        assert!(rendered(&filter, &none, 0).contains("href=\"/search?q=tea\""), "the way out of the filter");
        let more = FoundEvents { next_cursor: Some("x".into()), ..none.clone() };
        let html = rendered(&filter, &more, 0);
        assert!(html.contains("4,000 newest events") && html.contains("q=agent%3Ascout%20tea&amp;cursor=x"), "{html}");
        assert!(rendered(&Filter::default(), &none, 0).contains("No event has these words"));
    }

    #[test]
    fn a_search_that_is_behind_says_so() {
        assert!(!rendered(&Filter::default(), &found(1), 10).contains("not found yet"));
        assert!(rendered(&Filter::default(), &found(1), 11).contains("are not found yet"));
        let never = FoundEvents { indexed_until: None, ..found(1) };
        assert!(rendered(&Filter::default(), &never, 0).contains("being made ready"));
    }
}
