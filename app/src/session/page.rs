//! The page /sessions/{id}.

use super::{
    LiveTranscript, PromoteResponse,
    continuation::{MESSAGE_FORM, RESULTS_FORM, WaitingCall, continuation_forms},
    find::{Find, FoundTick, find_line},
    group::{counts, label, parse_groups},
    promotion::{PromotionOffer, promotion_form},
    rows::LogPart,
    sidebar::{RelatedSessions, sidebar},
    summary::{Summary, summary_view},
    timeline::Scale,
    title::row_title,
    transcript::Content,
    value_text::Titles,
};
use crate::{
    document::render,
    render::{static_html, to_html},
    result::{live_tree_script, tree_script},
    shell::{RailEntry, Shell, frame},
    text::number,
    ui::{
        button::{ButtonLink, Look},
        chip::Chip,
        notice::Refused,
    },
};
use domain::{Timestamp, event::Group, session::Type};
use leptos::{prelude::*, server_fn::ServerFn as _, tachys::html::InertElement};
use wire::{
    event::Event,
    session::{Dependencies, Session},
};

/// The position that a page opens at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OpensAt {
    /// The top of the page, or the row that the address names.
    #[default]
    Start,
    /// The last row, because more events are expected.
    End,
}

/// Data of the page /sessions/{id}.
#[derive(Debug, Clone)]
pub struct Props {
    /// The header of the page.
    pub summary: Summary,
    /// One page of the log (filtered by `?kinds=`), oldest first.
    pub events: Vec<Event>,
    /// The position that the page scrolls to.
    pub opens_at: OpensAt,
    /// Names by id: of people, and of the entities that they viewed.
    pub titles: Titles,
    /// Whether memories that the agent was given can be rated in their rows.
    pub is_rated: bool,
    /// Whether there are earlier events.
    pub has_earlier: bool,
    /// Whether there are later events.
    pub has_later: bool,
    /// `?kinds=` as given; empty without it.
    pub kinds: String,
    /// `?find=` and what it found.
    pub find: Find,
    /// The session that started this one.
    pub parent: Option<Session>,
    /// Sessions that this one started.
    pub children: Vec<Session>,
    /// Whether it started more sessions than these.
    pub has_more_children: bool,
    /// Sessions that it waits for, and sessions that wait for it.
    pub graph: Dependencies,
    /// Sessions that were started by "Run again" on this one.
    pub retries: Vec<Session>,
    /// What the viewer can make of it, if it is a response.
    pub promotion: Option<PromotionOffer>,
    /// The calls that wait for the results that the viewer can give.
    pub calls: Vec<WaitingCall>,
    /// The state of a refused form.
    pub form: crate::FormState,
    /// Address of the script that shows the progress of the run of a tool; empty if the site was not built.
    pub progress_script: String,
}

/// The address of the page filtered by these groups. It looks for the same text.
fn kinds_href(id: &str, groups: &[Group], find: &Find) -> String {
    let names: Vec<_> = groups.iter().map(|g| g.as_str()).collect();
    let kinds = (!names.is_empty()).then(|| format!("kinds={}", names.join(",")));
    let pairs: Vec<_> = kinds.into_iter().chain(find.pair()).collect();
    if pairs.is_empty() { format!("/sessions/{id}") } else { format!("/sessions/{id}?{}", pairs.join("&")) }
}

/// The parts of the page that change while the session runs: header, chips, sidebar, and the forms for what it waits
/// for. The browser replaces their `data-part` elements one by one, and the forms if `data-awaits` has changed;
/// `data-rating` says what the rating panel shows.
pub fn moving_fragment(shell: &Shell, props: &Props) -> String {
    to_html(view! {
        <div data-rating=props.summary.rating.as_str()>
            {summary_view(shell, &props.summary, &[])}
            {forms(&props.summary.session.id.to_string(), &shell.form_key, props)}
            {chips(&props.summary.session.id.to_string(), &parse_groups(&props.kinds), props)}
            {aside(props)}
        </div>
    })
}

impl Props {
    /// The address of the first event that was found, for a search that has just begun.
    pub fn first_found(&self) -> Option<String> {
        let sequence = self.find.sequence().filter(|_| self.find.is_new)?;
        Some(self.find.href(&self.summary.session.id.to_string(), &self.kinds, 0, sequence))
    }

    /// The marks of what was found.
    fn ticks(&self, now: Timestamp) -> Vec<FoundTick> {
        let scale = Scale::of(&self.summary.session, &self.summary.timeline, now);
        self.find.ticks(&self.summary.session.id.to_string(), &self.kinds, scale)
    }
}

/// The sidebar with the related sessions, input and output.
fn aside(props: &Props) -> impl IntoView + use<> {
    let related_sessions = RelatedSessions {
        parent: props.parent.as_ref(),
        children: &props.children,
        has_more_children: props.has_more_children,
        graph: &props.graph,
        retries: &props.retries,
    };
    let inner = sidebar(&props.summary.session, &related_sessions);
    view! { <aside class="sidebar" data-part="sidebar" aria-label="About this session">{inner}</aside> }
}

/// Renders the page.
pub fn page(shell: &Shell, mut props: Props) -> String {
    let first = props.events.first().map_or(0, |e| e.sequence);
    let last = props.events.last().map_or(0, |e| e.sequence);
    props.summary.shown = (first, last);
    let title = row_title(&props.summary.session);
    render(shell, &title, || {
        let session = &props.summary.session;
        let id = session.id.to_string();
        let picked = parse_groups(&props.kinds);
        let with = |direction: String| {
            let kinds = if props.kinds.is_empty() {
                String::new()
            } else {
                format!("&kinds={}", crate::text::escape::query(&props.kinds))
            };
            let find = props.find.pair().map(|pair| format!("&{pair}")).unwrap_or_default();
            format!("/sessions/{id}?{direction}{kinds}{find}")
        };
        // The head may be newer than the last row that was read; the live tail then reads the difference at once.
        let caught_up_to = if props.events.is_empty() { 0 } else { last };
        let later = props.has_later.then(|| {
            view! {
                <p class="transcript-end">
                    <ButtonLink small=true id="later" href=with(format!("after={last}"))>"Load later events"</ButtonLink>
                    <ButtonLink small=true look=Look::Quiet href=with("at=end".to_owned())>"Go to the newest events"</ButtonLink>
                </p>
            }
        });
        let end = if session.status.is_final() {
            "End of the log"
        } else if props.events.is_empty() {
            "No events have been recorded yet. New events appear here."
        } else {
            "Waiting for new events"
        };
        provide_context(Content {
            kinds: props.kinds.clone(),
            last_sequence: caught_up_to.max(if props.kinds.is_empty() { 0 } else { session.head_sequence }),
            at_head: !props.has_later,
            opens_at_end: props.opens_at == OpensAt::End,
            is_complete: !props.has_earlier && !props.has_later && props.kinds.is_empty(),
            earlier: props.has_earlier.then(|| with(format!("before={first}"))),
            end: end.to_owned(),
            rating: props.summary.rating,
            summary: to_html((
                summary_view(shell, &props.summary, &props.ticks(shell.now)),
                below_summary(&id, &shell.form_key, &props),
            )),
            chips: to_html((chips(&id, &picked, &props), find_line(&id, &props.kinds, &props.find, first))),
            rows: rows(&id, &props),
            later: later.map(to_html).unwrap_or_default(),
            sidebar: to_html(aside(&props)),
            session_id: id,
        });
        let page = view! {
            {progress(shell, &props)}
            {script_of_trees(shell, session)}
            <LiveTranscript/>
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// The script of the tree of the result. The result of a run that has not ended arrives while the page is open.
fn script_of_trees(shell: &Shell, session: &Session) -> Option<InertElement> {
    let page = (shell.nonce.as_str(), shell.tree_js_href.as_str());
    if session.session_type == Type::Tool && !session.status.is_final() {
        return live_tree_script(page);
    }
    tree_script(session.result.as_deref(), page)
}

/// Where the script shows how far the run of a tool is; `None` for other sessions and for those that have ended.
fn progress(shell: &Shell, props: &Props) -> Option<InertElement> {
    let session = &props.summary.session;
    if session.session_type != Type::Tool || session.status.is_final() || props.progress_script.is_empty() {
        return None;
    }
    let stream = format!("/api/sessions/{}/events/stream?afterSequence={}", session.id, session.head_sequence);
    Some(static_html(view! {
        <p class="meta" role="status" data-progress=stream></p>
        <script type="module" nonce=shell.nonce.clone() src=props.progress_script.clone()></script>
    }))
}

/// The rows, with what was found marked. Of a session that failed, the step at which it failed is unfolded, if its
/// error is on the page.
fn rows(id: &str, props: &Props) -> String {
    let error = props.summary.error_sequence;
    let shows_error = error.is_some() && props.events.iter().any(|event| Some(event.sequence) == error);
    let (events, titles) = (&props.events, &props.titles);
    let part = LogPart { session_id: id, events, titles, opens_failing_step: shows_error };
    match props.find.phrase() {
        Some(phrase) => part.found_rows(&phrase, props.find.sequence()),
        None if props.is_rated => part.rateable_rows(props.summary.session.id),
        None => part.rows(),
    }
}

/// The errors of a refused form, and the forms that show their own errors: for what the session waits for, and to make
/// an entity.
fn below_summary(id: &str, key: &str, props: &Props) -> impl IntoView + use<> {
    let promoting = props.form.of(PromoteResponse::PATH);
    let is_shown_there = props.promotion.is_some() && promoting.is_refused();
    let continuing = [MESSAGE_FORM, RESULTS_FORM].contains(&props.form.form.as_str());
    let refused = if is_shown_there || continuing { Vec::new() } else { props.form.general(&[]) };
    let promote = props.promotion.as_ref().map(|offer| promotion_form(id, offer, &promoting));
    view! {
        <Refused messages=refused/>
        {forms(id, key, props)}
        {promote}
    }
}

/// The forms for what the session waits for.
fn forms(id: &str, key: &str, props: &Props) -> impl IntoView + use<> {
    continuation_forms(id, (props.summary.offer, props.calls.as_slice()), key, &props.form)
}

/// The filter chips. They are plain links; the browser filters in place if the whole log is loaded.
fn chips(id: &str, picked: &[Group], props: &Props) -> impl IntoView + use<> {
    let by_kind = &props.summary.kind_counts;
    let of_page: Vec<_> = props.events.iter().map(|event| (event.kind.clone(), 1)).collect();
    let known = counts(if by_kind.is_empty() { &of_page } else { by_kind });
    let all = known.values().sum::<u64>();
    let mut chips = vec![
        view! {
            <Chip href=kinds_href(id, &[], &props.find) is_here=picked.is_empty() attr:data-chip="">
                "All " <span class="chip-count" data-part="kind-all">{number::grouped(all)}</span>
            </Chip>
        }
        .into_any(),
    ];
    for group in Group::ALL {
        // Groups without events are hidden but present, because a running session may still get some.
        let count = known.get(&group).copied().unwrap_or_default();
        let part = format!("kind-{}", group.as_str());
        let is_on = picked.contains(&group);
        let mut then: Vec<_> = picked.to_vec();
        if is_on {
            then.retain(|g| *g != group);
        } else {
            then.push(group);
        }
        chips.push(
            view! {
                <Chip href=kinds_href(id, &then, &props.find) is_here=is_on attr:data-chip=group.as_str()>
                    {label(group)} " " <span class="chip-count" data-part=part data-count=count.to_string()>{number::grouped(count)}</span>
                </Chip>
            }
            .into_any(),
        );
    }
    view! { <nav class="chips" aria-label="Filter by kind">{chips}</nav> }
}
