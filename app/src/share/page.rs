//! The page /sessions/{id}/share: what a link to the session shows, the form that makes one, and the links to it.

use super::table::table;
use crate::{
    FormState,
    document::render,
    entity::People,
    render::static_html,
    secret_link::new_link,
    session::row_title,
    shell::{RailEntry, Shell, frame},
    ui::{
        button::{Button, Look},
        field::{Field, Select},
        notice::Refused,
        page_head::PageHead,
        section::Section,
    },
};
use domain::{Timestamp, share_link::Audience};
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::{session::Session, share_link::ShareLink};

/// What the link to one run of a tool shows, and what not.
const OF_TOOL: ([&str; 3], [&str; 3]) = (
    [
        "the name, the state and the times of this run",
        "its result, or its error. A result can repeat a private value of the input: look at it before you share",
        "its input, without private values",
    ],
    ["names of people", "the log of the run, and other runs", "pictures"],
);
/// What the link to a whole session shows, and what not.
const OF_SESSION: ([&str; 3], [&str; 4]) = (
    [
        "the title, the state and the times of this session, and its result or error",
        "its log as it is now and as it grows: messages, thinking, calls of tools with their input and output, changes of \
         state, and reports of other systems",
        "what people recorded of their work in it",
    ],
    [
        "names of people",
        "what the agent was given from memories and of the activity of a person",
        "answers to forms, and decisions of reviewers",
        "pictures, other sessions, and costs",
    ],
);

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// What a link would show.
    pub session: Session,
    /// What a link shows of it.
    pub audience: Audience,
    /// The newest links to it, newest first.
    pub links: Vec<ShareLink>,
    /// Everyone who may have made them.
    pub people: People,
    /// Address of a link that was just made. It is shown once.
    pub new_link: Option<String>,
    /// State of the form that makes a link.
    pub form: FormState,
    /// Time at which the links were read (UTC).
    pub now: Timestamp,
}

/// Renders the page.
pub fn page(shell: &Shell, props: &Props) -> String {
    render(shell, "Share a session", || {
        let title = row_title(&props.session);
        let href = format!("/sessions/{}", props.session.id);
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned()), (title, href)];
        let page = view! {
            <PageHead title="Share" crumbs=crumbs/>
            {static_html(content(props))}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn content(props: &Props) -> impl IntoView + use<> {
    let path = format!("/sessions/{}/share", props.session.id);
    let action = path.as_str();
    let list = |items: &[&'static str]| items.iter().map(|item| view! { <li>{*item}</li> }).collect::<Vec<_>>();
    let (shown, hidden) = match props.audience {
        Audience::ToolResult => (list(&OF_TOOL.0), list(&OF_TOOL.1)),
        Audience::Session => (list(&OF_SESSION.0), list(&OF_SESSION.1)),
    };
    let links = (!props.links.is_empty()).then(|| {
        let titles = BTreeMap::new();
        view! { <Section name="links" title="Links" id="links">{table(&props.links, &titles, &props.people, action, props.now)}</Section> }
    });
    view! {
        {props.new_link.as_deref().map(|url| new_link(url, None))}
        <Section name="shown" title="Whoever has the link sees">
            <ul class="forget-kept">{shown}</ul>
            <p>"No account is needed, and the link can be passed on."</p>
        </Section>
        <Section name="hidden" title="Not shown">
            <ul class="forget-kept">{hidden}</ul>
        </Section>
        {static_html(form(action, &props.form))}
        {links}
    }
}

fn form(action: &str, state: &FormState) -> impl IntoView + use<> {
    let choices = [("1", "1 day"), ("7", "7 days"), ("30", "30 days")];
    let options = choices.map(|(value, label)| (value.to_owned(), label.to_owned())).to_vec();
    let days = Field::new("days", "The link works for").hint("You can revoke it before.");
    view! {
        <Section name="share" title="New link">
            <form class="form" method="post" action=action.to_owned()>
                <Refused messages=state.general(&["days"])/>
                <Select scope="share" field=days options=options value="7" form=state/>
                <div class="form-actions"><Button name="do" value="share" look=Look::Primary>"Create link"</Button></div>
            </form>
        </Section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::to_html, session::fixture::session};

    #[test]
    fn the_page_says_what_is_shown_before_a_link_is_made() {
        let of = |audience| Props {
            session: session(),
            audience,
            links: Vec::new(),
            people: People::default(),
            new_link: None,
            form: FormState::default(),
            now: Timestamp::UNIX_EPOCH,
        };
        let tool = to_html(content(&of(Audience::ToolResult)));
        assert!(tool.contains("without private values") && !tool.contains("Links, newest first"), "{tool}");
        let whole = to_html(content(&of(Audience::Session)));
        assert!(whole.contains("its log as it is now") && whole.contains("7 days"), "{whole}");
        assert!(!whole.contains("Copy the link now"), "{whole}");
    }
}
