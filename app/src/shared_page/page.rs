//! The pages: the one that asks before it opens a link, the shared session, and what is in their place if there is
//! none.

use super::{
    document::{Frame, document},
    input::input_section,
};
use crate::{
    render::static_html,
    session::{shared_rows, shared_value},
    ui::{
        badge::word,
        button::{Button, Look},
        time::stamp,
    },
};
use domain::{Timestamp, share_link::Audience};
use leptos::prelude::*;
use wire::{event::Event, session::Session};

/// Title of the pages that show nothing of a session.
const TITLE: &str = "Shared page";

/// Data of the page that asks before it opens a link. It is the same for every link.
#[derive(Debug, Clone, Default)]
pub struct OpenProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Where the button posts to.
    pub action: String,
}

/// A part of the log.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Its events, oldest first.
    pub events: Vec<Event>,
    /// The address of the first part; absent on that part.
    pub first: Option<String>,
    /// The address of the next part; absent on the last one.
    pub next: Option<String>,
}

/// Data of the page of a shared session.
#[derive(Debug, Clone)]
pub struct Props {
    /// Paths and settings.
    pub frame: Frame,
    /// Title, state, times, result and error.
    pub session: Session,
    /// Address at which the result is saved as a file.
    pub result_href: String,
    /// What is shown of it.
    pub audience: Audience,
    /// The shown part of its log; absent for one run of a tool.
    pub log: Option<Part>,
    /// Time until which the link works (UTC).
    pub expires_at: Timestamp,
}

/// Renders the page that asks before it opens a link. Programs that only fetch the address learn nothing of what it
/// shows.
pub fn open_page(props: &OpenProps) -> String {
    let body = view! {
        <main class="shared-page" id="main">
            <h1>"Someone shared a page with you"</h1>
            <p>"It is shown after you press the button. Your browser then keeps a cookie for this one page, until the link ends."</p>
            <form method="post" action=props.action.clone()>
                <Button look=Look::Primary>"Show the page"</Button>
            </form>
        </main>
    };
    document(&props.frame, TITLE, body)
}

/// Renders the page for a link that shows nothing, whatever the reason.
pub fn gone_page(frame: &Frame) -> String {
    let body = view! {
        <main class="shared-page" id="main">
            <h1>"There is nothing to show"</h1>
            <p>"The link is wrong, it has ended, or this browser has not opened it yet. If you still have the link, open it again. Otherwise ask the person who gave it to you for a new one."</p>
        </main>
    };
    document(frame, TITLE, body)
}

/// Renders the page for a reader over the limit of requests.
pub fn wait_page(frame: &Frame) -> String {
    let body = view! {
        <main class="shared-page" id="main">
            <h1>"Too many requests"</h1>
            <p>"Wait a minute, then try again."</p>
        </main>
    };
    document(frame, TITLE, body)
}

/// Renders a shared session. Everything in it is untrusted text.
pub fn page(props: &Props) -> String {
    let session = &props.session;
    let title = title(session, props.audience);
    let error = session.error.as_ref().map(|error| {
        let code = error.code.clone().map(|code| view! { " "<code>{code}</code> });
        view! { <section class="shared-part" aria-labelledby="error"><h2 id="error">"Error"</h2><p class="shared-text" dir="auto">{error.message.clone()}{code}</p></section> }
    });
    let input = (props.audience == Audience::ToolResult).then(|| input_section(session, None)).flatten();
    let result = session.result.as_deref().map(|result| {
        let html = shared_value(Some(result));
        view! { <section class="shared-part" aria-labelledby="result"><h2 id="result">"Result"</h2><div inner_html=html></div><p><a href=props.result_href.clone() download="result.json">"Save the result as JSON"</a></p></section> }
    });
    let none = (props.audience == Audience::ToolResult && session.result.is_none() && session.error.is_none())
        .then(|| view! { <p>"There is no result yet. Load the page again later."</p> });
    let ended = session.completed_at.map(|at| view! { <div><dt>"Ended"</dt><dd>{stamp(at)}</dd></div> });
    let body = view! {
        <main class="shared-page" id="main">
            <header>
                <h1 dir="auto">{title.clone()}</h1>
                <dl class="shared-facts">
                    <div><dt>"State"</dt><dd>{word(session.status)}</dd></div>
                    <div><dt>"Created"</dt><dd>{stamp(session.created_at)}</dd></div>
                    {ended}
                </dl>
            </header>
            {error}
            {result}
            {none}
            {input}
            {props.log.as_ref().map(log)}
            <footer class="meta">"You read this by a link, which works until "{stamp(props.expires_at)}" unless it is revoked before."</footer>
        </main>
    };
    document(&props.frame, &title, body)
}

fn title(session: &Session, audience: Audience) -> String {
    let title = session.title.trim();
    match (title.is_empty(), audience) {
        (false, _) => title.to_owned(),
        (true, Audience::ToolResult) => "Run of a tool".to_owned(),
        (true, Audience::Session) => "Session".to_owned(),
    }
}

fn log(part: &Part) -> impl IntoView + use<> {
    let rows = shared_rows(&part.events);
    let none = part.events.is_empty().then(|| view! { <p>"Nothing is recorded here yet."</p> });
    let link = |href: Option<String>, text: &'static str| href.map(|href| view! { <a href=href>{text}</a> });
    let (first, next) = (link(part.first.clone(), "Beginning"), link(part.next.clone(), "Next part"));
    let pager = (part.first.is_some() || part.next.is_some())
        .then(|| view! { <nav class="shared-pager" aria-label="Parts of the log">{first}{next}</nav> });
    static_html(view! {
        <section class="shared-part" aria-labelledby="log">
            <h2 id="log">"Log"</h2>
            {none}
            <ol class="shared-log" inner_html=rows></ol>
            {pager}
        </section>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::session;
    use serde_json::value::RawValue;

    #[test]
    fn the_page_that_asks_is_the_same_for_every_link_and_no_page_has_a_script() {
        let frame = Frame { referrer: "no-referrer", ..Frame::default() };
        let asks = open_page(&OpenProps { frame: frame.clone(), action: "/s/x".to_owned() });
        assert!(asks.contains("method=\"post\" action=\"/s/x\"") && asks.contains("noindex, nofollow"), "{asks}");
        let mut shared = session();
        shared.title = "<b>Compare".to_owned();
        let props = Props {
            frame: frame.clone(),
            session: shared,
            result_href: "/shared/x/result".to_owned(),
            audience: Audience::Session,
            log: Some(Part { next: Some("/shared/x?after=200".to_owned()), ..Part::default() }),
            expires_at: Timestamp::UNIX_EPOCH,
        };
        let html = page(&props);
        assert!(html.contains("&lt;b>Compare") || html.contains("&lt;b&gt;Compare"), "{html}");
        assert!(html.contains("href=\"/shared/x?after=200\"") && html.contains("no-referrer"), "{html}");
        for text in [asks, html, gone_page(&frame), wait_page(&frame)] {
            assert!(!text.contains("<script") && !text.contains("/sessions"), "{text}");
        }
    }

    #[test]
    fn a_run_of_a_tool_without_input_has_no_section_for_it() {
        for (input, is_shown) in [(None, false), (Some("{}"), false), (Some("null"), false), (Some("{\"a\":1}"), true)]
        {
            let mut run = session();
            run.input = input.map(|input| RawValue::from_string(input.to_owned()).unwrap());
            let props = Props {
                frame: Frame::default(),
                session: run,
                result_href: String::new(),
                audience: Audience::ToolResult,
                log: None,
                expires_at: Timestamp::UNIX_EPOCH,
            };
            assert_eq!(page(&props).contains("id=\"input\""), is_shown, "{input:?}");
        }
    }
}
