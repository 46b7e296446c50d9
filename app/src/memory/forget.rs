//! The page /memory/forget: what the memories of all agents have of a person, and the form that erases it.

use super::document_name;
use crate::{
    FormState,
    document::render,
    entity::People,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, Look},
        field::{Field, Input, TextArea},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        section::Section,
        time::moment,
    },
};
use domain::{
    Timestamp,
    id::UserId,
    memory_forget::RemovalReason,
    memory_writer::turn::{OWN_PLATFORM, own_path},
};
use leptos::prelude::*;
use wire::memory_forget::{
    ForgottenDocument, ForgottenLead, ForgottenLine, ForgottenPerson, ForgottenProposal, PromotedEntity,
};

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct ForgetProps {
    /// The person as it was typed.
    pub person: String,
    /// What was found, or erased.
    pub found: Option<ForgottenPerson>,
    /// The members who ask to be forgotten and when (UTC), the oldest first.
    pub requests: Vec<(UserId, Timestamp)>,
    /// Names of the members, whose documents have an id as their path.
    pub people: People,
    /// State of a refused form: `look` or `forget`.
    pub form: FormState,
}

/// Renders the page.
pub fn forget_page(shell: &Shell, props: ForgetProps) -> String {
    render(shell, "Forget a person", || {
        let crumbs = vec![("Memory".to_owned(), "/memory".to_owned())];
        let found = props.found.as_ref().map(|found| static_html(result(&props, found)));
        let page = view! {
            <PageHead title="Forget a person" crumbs=crumbs/>
            {static_html(requests(&props))}
            {static_html(look(&props))}
            {found}
        };
        frame(shell, RailEntry::Memory, page)
    })
}

/// The members who ask to be forgotten, each with the way to what is known about them.
fn requests(props: &ForgetProps) -> Option<impl IntoView + use<>> {
    let rows = props.requests.iter().map(|(user_id, at)| {
        let path = own_path(*user_id);
        let name = one_line(&document_name(&props.people, &path), 120);
        let href = format!("/memory/forget?person={}-{user_id}", OWN_PLATFORM);
        view! {
            <li class="history-item">
                <p class="history-head"><a class="quiet" href=href dir="auto">{name}</a><span class="meta">{moment(*at)}</span></p>
            </li>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    (!rows.is_empty()).then(|| view! { <Section name="requests" title="Who asks to be forgotten"><ol class="history">{rows}</ol></Section> })
}

/// The form that asks for the person. It changes nothing.
fn look(props: &ForgetProps) -> impl IntoView + use<> {
    let form = props.form.of("look");
    view! {
        <form class="form" method="get" action="/memory/forget">
            <Refused messages=form.general(&["person"])/>
            <Input
                scope="look"
                field=Field::new("person", "Person").hint("Platform and id, such as discord-1234: the name of their document below people/.").required()
                value=props.person.clone()
                form=&form
            />
            <div class="form-actions"><Button>"Show what is known"</Button></div>
        </form>
    }
}

fn result(props: &ForgetProps, found: &ForgottenPerson) -> impl IntoView + use<> {
    let what = if found.applied { "Erased" } else { "What would be erased" };
    let people = &props.people;
    let documents = found.documents.iter().map(|one| document(people, one)).collect::<Vec<_>>();
    let proposals = found.proposals.iter().map(|one| proposal(people, one)).collect::<Vec<_>>();
    let leads = found.leads.iter().map(lead).collect::<Vec<_>>();
    let counts = found.denials + found.interactions;
    let is_empty = documents.is_empty() && proposals.is_empty() && leads.is_empty() && counts == 0;
    let denials = (found.denials > 0).then(|| view! { <p>{counted(found.denials, "denied line")}</p> });
    let captured = (found.interactions > 0).then(|| {
        let count = counted(found.interactions, "prompt");
        view! { <p>{count}" with answers in the training data"</p> }
    });
    let kept = found.kept.iter().map(|text| view! { <li dir="auto">{text.clone()}</li> }).collect::<Vec<_>>();
    let names = found.names.join(", ");
    let looked = if names.is_empty() { "No name is known.".to_owned() } else { format!("Looked for: {names}.") };
    let done = found.applied.then(|| {
        let text = "Erased. The digests of the texts are kept. What this person says later is neither remembered nor captured.";
        static_html(view! { <Notice tone=Tone::Good><p>{text}</p></Notice> })
    });
    let confirm = (!found.applied).then(|| static_html(confirm(props, found)));
    view! {
        {done}
        <Section name="gone" title=what>
            <p dir="auto">{named(people, &found.path)}</p>
            <p class="meta" dir="auto">{looked}</p>
            {is_empty.then(|| view! { <p>"Neither a memory nor the training data has anything of this person."</p> })}
            <ul class="forget-list">{documents}{proposals}{leads}</ul>
            {denials}
            {captured}
        </Section>
        <Section name="kept" title="What is kept, and what cannot be found">
            <ul class="forget-kept">{kept}</ul>
            {static_html(promoted(&found.promoted))}
        </Section>
        {confirm}
    }
}

/// The path of a document. The name of the member whom it is about comes first: their path has only an id.
fn named(people: &People, path: &str) -> String {
    let (name, shown) = (document_name(people, path), one_line(path, 120));
    if name == path { shown } else { format!("{} ({shown})", one_line(&name, 120)) }
}

fn document(people: &People, document: &ForgottenDocument) -> AnyView {
    let path = named(people, &document.path);
    let what = if document.is_whole { "the whole document" } else { "the lines below" };
    let versions = counted(document.versions, "version");
    let lines = document.lines.iter().map(line).collect::<Vec<_>>();
    view! {
        <li class="forget-document">
            <p><strong dir="auto">{path}</strong><span class="meta">" of "{document.agent.clone()}": "{what}", and the texts of "{versions}</span></p>
            {(!lines.is_empty()).then(|| view! { <ol class="forget-lines" role="list">{lines}</ol> })}
        </li>
    }
    .into_any()
}

fn line(line: &ForgottenLine) -> impl IntoView + use<> {
    let why = match line.why {
        RemovalReason::Said => "from their turn",
        RemovalReason::Named => "names them",
        RemovalReason::Below => "below such a heading",
        RemovalReason::Whole => "",
    };
    view! {
        <li>
            <span class="memory-number">{line.line}</span>
            <span class="memory-text" dir="auto">{line.text.clone()}</span>
            <span class="meta">{why}</span>
        </li>
    }
}

fn proposal(people: &People, proposal: &ForgottenProposal) -> AnyView {
    let state = if proposal.waits { "waits for a decision and is withdrawn" } else { "was decided" };
    let href = format!("/sessions/{}", proposal.session_id);
    view! {
        <li class="forget-document">
            <p><a href=href dir="auto">"Proposal for "{named(people, &proposal.path)}</a><span class="meta">" of "{proposal.agent.clone()}": "{state}</span></p>
        </li>
    }
    .into_any()
}

fn lead(lead: &ForgottenLead) -> AnyView {
    let href = format!("/entities/{}", lead.entity_id);
    let email = lead.email.as_ref().map(|email| format!(" <{email}>")).unwrap_or_default();
    let shown = one_line(&format!("{}{email}", lead.name), 200);
    let responses = match lead.responses {
        0 => String::new(),
        count => format!(", with {}", counted(count, "response")),
    };
    view! {
        <li class="forget-document">
            <p><a href=href dir="auto">{shown}</a><span class="meta">" gave this before a form"{responses}</span></p>
        </li>
    }
    .into_any()
}

/// The way to each entity that is kept: its page erases it.
fn promoted(entities: &[PromotedEntity]) -> Option<impl IntoView + use<>> {
    let rows = entities.iter().map(|one| {
        let href = format!("/entities/{}", one.entity_id);
        view! {
            <li class="forget-document">
                <p><a href=href dir="auto">{one_line(&one.title, 200)}</a><span class="meta">" was made from their response"</span></p>
            </li>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    (!rows.is_empty()).then(|| view! { <ul class="forget-list">{rows}</ul> })
}

/// The form that erases. The names can be corrected, and looked for again first.
fn confirm(props: &ForgetProps, found: &ForgottenPerson) -> impl IntoView + use<> {
    let form = props.form.of("forget");
    let names = [found.names.clone(), found.short_names.clone()].concat().join("\n");
    view! {
        <Section name="forget" title="Erase">
            <form class="form" method="post" action="/memory/forget">
                <Refused messages=form.general(&["names", "confirm", "person"])/>
                <input type="hidden" name="person" value=found.path.clone()/>
                <TextArea scope="forget" field=Field::new("names", "Names to look for").hint("One on each line. A name that others have too erases lines about them.") value=names rows=4 form=&form/>
                <Input scope="forget" field=Field::new("confirm", "Type “forget” to erase").hint("The texts are removed from the database. This cannot be undone.") form=&form/>
                <div class="form-actions">
                    <Button name="step" value="look">"Look again"</Button>
                    <Button look=Look::Danger name="step" value="forget">"Erase"</Button>
                </div>
            </form>
        </Section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_lines_with_the_reason_and_asks_for_a_word() {
        let line = ForgottenLine { line: 3, text: "- <b>Ines</b>".into(), why: RemovalReason::Said };
        let document = ForgottenDocument {
            agent: "scout".into(),
            path: "topics/a.md".into(),
            is_whole: false,
            lines: vec![line],
            versions: 2,
        };
        let found = ForgottenPerson {
            applied: false,
            path: "people/discord-1.md".into(),
            names: vec!["Ines".into()],
            short_names: vec!["In".into()],
            documents: vec![document],
            proposals: Vec::new(),
            denials: 0,
            leads: vec![ForgottenLead {
                entity_id: "0193b0a0-0000-7000-8000-0000000000e1".parse().unwrap(),
                name: "Ines".into(),
                email: Some("ines@example.org".into()),
                responses: 2,
            }],
            promoted: vec![PromotedEntity {
                entity_id: "0193b0a0-0000-7000-8000-0000000000e2".parse().unwrap(),
                title: "<i>Ines</i> Ltd".into(),
            }],
            interactions: 0,
            kept: vec!["Logs are kept.".into()],
        };
        let props = ForgetProps { found: Some(found.clone()), ..ForgetProps::default() };
        let html = crate::render::to_html(result(&props, &found));
        for part in [
            "from their turn",
            "&lt;b&gt;Ines",
            "2 versions",
            "Logs are kept.",
            "Type “forget”",
            "Ines\nIn",
            "Ines &lt;ines@example.org&gt;",
            ", with 2 responses",
            "href=\"/entities/0193b0a0-0000-7000-8000-0000000000e2\"",
            "&lt;i&gt;Ines&lt;/i&gt; Ltd",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let mia = "people/shiftbook-0193b0a0-0000-7000-8000-000000000001.md";
        assert!(!html.contains("Mia"), "{html}");
        let found = ForgottenPerson { path: mia.into(), ..found };
        let user = "user:0193b0a0-0000-7000-8000-000000000001".to_owned();
        let people = People([(user, "Mia <Smith>".to_owned())].into());
        let props = ForgetProps { people, ..props };
        let html = crate::render::to_html(result(&props, &found));
        assert!(html.contains(&format!("Mia &lt;Smith&gt; ({mia})")), "{html}");
        let done = ForgottenPerson { applied: true, ..found };
        let html = crate::render::to_html(result(&props, &done));
        assert!(!html.contains("<form") && html.contains("Erased."), "{html}");
    }
}
