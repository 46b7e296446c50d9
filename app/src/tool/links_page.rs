//! The page /tools/{slug}/links: the form that makes a link to the tool, and the links to it.

use crate::{
    FormState,
    document::render,
    entity::People,
    render::static_html,
    secret_link::{Link, link_row, links_table, new_link},
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Field, Select},
        notice::Refused,
        page_head::PageHead,
        section::Section,
    },
};
use domain::{Timestamp, limit::TOOL_LINK_RUNS_PER_HOUR_MAX};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::tool_link::ToolLink;

/// Heading of how often a link was opened.
const OPENED: &str = "Opened";

/// Data of the page.
#[derive(Debug, Clone)]
pub struct LinksProps {
    /// Slug of the tool.
    pub slug: String,
    /// Name of the tool.
    pub name: String,
    /// Whether the published version allows links.
    pub is_allowed: bool,
    /// The newest links to it and older ones that work, newest first.
    pub links: Vec<ToolLink>,
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
pub fn links_page(shell: &Shell, props: &LinksProps) -> String {
    render(shell, "Links to a tool", || {
        let href = format!("/tools/{}", props.slug);
        let crumbs = vec![("Tools".to_owned(), "/tools".to_owned()), (one_line(&props.name, 120), href)];
        let page = view! {
            <PageHead title="Links" crumbs=crumbs/>
            {static_html(content(props))}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

fn content(props: &LinksProps) -> impl IntoView + use<> {
    let action = format!("/tools/{}/links", props.slug);
    let links = match props.links.is_empty() {
        true => static_html(view! { <Empty sentence="This tool has no links yet."/> }),
        false => {
            let rows = props.links.iter().map(|link| row(link, &action, &props.people, props.now)).collect();
            links_table(OPENED, rows)
        }
    };
    let make = match props.is_allowed {
        true => static_html(form(&action, &props.form)),
        false => static_html(view! {
            <Section name="make" title="New link">
                <Refused messages=props.form.general(&[])/>
                <p>"The published version does not allow links. Set "<code>"\"link\": true"</code>" in the audience of the tool, also of each tool that it runs, and publish it."</p>
            </Section>
        }),
    };
    view! {
        {props.new_link.as_deref().map(|url| new_link(url, None))}
        <Section name="about" title="Whoever has the link">
            <ul class="forget-kept">
                <li>"runs the tool with the form of its input, without an account. The link can be passed on"</li>
                <li>"sees the results of the runs of their own browser, and no other run"</li>
                <li>{format!("begins, with everyone else who has it, at most {TOOL_LINK_RUNS_PER_HOUR_MAX} runs in an hour")}</li>
            </ul>
            <p>"The runs are in the list of runs of the tool. If it asks for approval, a person still approves each call."</p>
        </Section>
        {make}
        <Section name="links" title="Links" id="links">{links}</Section>
    }
}

fn row(link: &ToolLink, action: &str, people: &People, now: Timestamp) -> InertElement {
    let runs = counted(link.runs, "run");
    let main = static_html(view! { <code>{link.hint.clone()}"…"</code><span class="meta">" "{runs}</span> });
    let id = link.id.to_string();
    let shown = Link {
        id: &id,
        hint: &link.hint,
        created_by: &link.created_by,
        created_at: link.created_at,
        expires_at: link.expires_at,
        uses: link.uses,
        last_used_at: link.last_used_at,
        revoked_at: link.revoked_at,
    };
    link_row(shown, main, (OPENED, action), people, now)
}

fn form(action: &str, state: &FormState) -> impl IntoView + use<> {
    let choices = [("1", "1 day"), ("7", "7 days"), ("30", "30 days")];
    let options = choices.map(|(value, label)| (value.to_owned(), label.to_owned())).to_vec();
    let days = Field::new("days", "The link works for").hint("You can revoke it before.");
    view! {
        <Section name="make" title="New link">
            <form class="form" method="post" action=action.to_owned()>
                <Refused messages=state.general(&["days"])/>
                <Select scope="link" field=days options=options value="7" form=state/>
                <div class="form-actions"><Button name="do" value="make" look=Look::Primary>"Create link"</Button></div>
            </form>
        </Section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn a_tool_that_does_not_allow_links_has_no_form_that_makes_one() {
        let of = |is_allowed| LinksProps {
            slug: "weather".to_owned(),
            name: "Weather".to_owned(),
            is_allowed,
            links: Vec::new(),
            people: People::default(),
            new_link: None,
            form: FormState::default(),
            now: Timestamp::UNIX_EPOCH,
        };
        let allowed = to_html(content(&of(true)));
        assert!(allowed.contains("Create link") && allowed.contains("at most 60 runs"), "{allowed}");
        let closed = to_html(content(&of(false)));
        assert!(!closed.contains("Create link") && closed.contains("does not allow links"), "{closed}");
    }
}
