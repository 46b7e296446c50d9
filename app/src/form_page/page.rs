//! The pages of a form: the questions, name and e-mail address before them, thanks, and a form that takes no answer, or
//! none now.

use super::{
    EntityOptions,
    document::{Frame, document},
    questions,
    words::{Note, control_id},
};
use crate::{
    form::FormState,
    render::static_html,
    ui::button::{Button, Look},
};
use domain::{
    issue::Issue,
    view::{Answers, Field},
};
use leptos::{prelude::*, tachys::html::InertElement};

/// Name of the field that people leave empty.
const TRAP: &str = "_website";

/// What someone reads whose answer to an agent's question came too late.
const LATE: &str = "Your answers are recorded, but they came too late: the question was answered or had ended before. \
    The agent that asked does not get them.";

/// A link with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub href: String,
    /// What it says.
    pub text: String,
}

/// Who asks the questions of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// Slug of the agent; absent for a session without one.
    pub agent: Option<String>,
    /// The session that waits for the answers or continues meanwhile.
    pub session: Link,
}

/// Data of a form.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// Paths and settings.
    pub frame: Frame,
    /// Title of the view.
    pub title: String,
    /// Introduction of the view; may be empty.
    pub introduction: String,
    /// The questions.
    pub fields: Vec<Field>,
    /// The answers so far, as typed.
    pub answers: Answers,
    /// What is wrong with them.
    pub issues: Vec<Issue>,
    /// What happened before.
    pub note: Option<Note>,
    /// Where the form is posted to. `/draft` is added for saving a draft.
    pub action: String,
    /// Whether drafts can be saved.
    pub has_drafts: bool,
    /// Names and values that the form carries.
    pub hidden: Vec<(String, String)>,
    /// Entities to choose from.
    pub entities: EntityOptions,
    /// Who asks, if an agent does and the respondent can see its session.
    pub asker: Option<Asker>,
    /// A link at the end of the page.
    pub back: Option<Link>,
}

/// Data of the page after a submission.
#[derive(Debug, Clone, Default)]
pub struct DoneProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Title of the view.
    pub title: String,
    /// The view's own words; may be empty.
    pub thanks: String,
    /// Whether the answers came too late for the agent that asked.
    pub late: bool,
    /// Link to the page of another server with which the respondent continues.
    pub next: Option<Link>,
    /// Questions and answers as recorded.
    pub answers: Vec<(String, String)>,
    /// A link at the end of the page.
    pub back: Option<Link>,
}

/// Data of the page before a form that asks for a name and an e-mail address.
#[derive(Debug, Clone, Default)]
pub struct LeadProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Title of the view.
    pub title: String,
    /// Introduction of the view; may be empty.
    pub introduction: String,
    /// Where it is posted to.
    pub action: String,
    /// Names and values that the form carries.
    pub hidden: Vec<(String, String)>,
    /// The typed texts and the errors.
    pub form: FormState,
}

/// Data of the page for a member who posted a form after the sign-in had ended.
#[derive(Debug, Clone, Default)]
pub struct SignedOutProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Where the form is posted to.
    pub action: String,
    /// Names and values of the posted form.
    pub kept: Vec<(String, String)>,
}

/// Data of the page of a form that takes no answer.
#[derive(Debug, Clone, Default)]
pub struct ClosedProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Why, for members. People without an account read the same text for every reason.
    pub reason: Option<String>,
    /// A link at the end of the page.
    pub back: Option<Link>,
}

/// Data of the page in a frame that leads to a form in a tab.
#[derive(Debug, Clone, Default)]
pub struct TabProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Address of the form.
    pub href: String,
    /// Whether the form asks for a sign-in. Otherwise it asks for a name and an e-mail address.
    pub asks_sign_in: bool,
}

/// Renders a form. Everything in it is untrusted text.
pub fn page(props: &Props) -> String {
    let is_error = !props.issues.is_empty() || props.note.is_some_and(Note::is_error);
    let draft = format!("{}/draft", props.action);
    let save = props.has_drafts.then(|| {
        let draft = draft.clone();
        view! { <Button attr:formaction=draft>"Save draft"</Button> }
    });
    let body = view! {
        <main class="form-page" id="main">
            <h1>{props.title.clone()}</h1>
            {asker(props.asker.as_ref())}
            {summary(&props.issues, &props.fields)}
            {note(props.note)}
            {paragraphs(&props.introduction)}
            <form
                class="form"
                method="post"
                action=props.action.clone()
                novalidate=""
                data-draft=props.has_drafts.then_some(draft)
                data-asks=(!props.has_drafts).then_some("")
            >
                {hidden(&props.hidden)}
                {questions("", &props.fields, &props.answers, &props.issues, &props.entities)}
                {trap()}
                <div class="form-actions">
                    <Button look=Look::Primary>"Submit"</Button>
                    {save}
                    <p class="form-state" role="status" data-state=""></p>
                </div>
            </form>
            {back(props.back.as_ref())}
        </main>
    };
    document(&props.frame, &props.title, is_error, body)
}

/// Renders the page after a submission. `data-done` tells the script that the answers are recorded.
pub fn done_page(props: &DoneProps) -> String {
    let rows: Vec<_> = props
        .answers
        .iter()
        .map(|(label, answer)| view! { <div><dt>{label.clone()}</dt><dd>{answer.clone()}</dd></div> })
        .collect();
    let answers = (!rows.is_empty()).then(|| view! { <h2>"Your answers"</h2><dl class="answers">{rows}</dl> });
    let next = props.next.clone().map(|Link { href, text }| view! { <p><a href=href>{text}</a></p> });
    let (tone, thanks) = match (props.late, props.thanks.as_str()) {
        (true, _) => ("wait", LATE),
        (false, "") => ("good", "Thank you. Your answers are recorded."),
        (false, own) => ("good", own),
    };
    let body = view! {
        <main class="form-page" id="main" data-done="">
            <h1 tabindex="-1" autofocus="">{props.title.clone()}</h1>
            <div class="notice" data-tone=tone role="status">{paragraphs(thanks)}</div>
            {next}
            {answers}
            {back(props.back.as_ref())}
        </main>
    };
    document(&props.frame, &props.title, false, body)
}

/// Who asks, with a link to what they do.
fn asker(asker: Option<&Asker>) -> Option<impl IntoView + use<>> {
    let Asker { agent, session } = asker?.clone();
    let lead = agent.map_or_else(|| "Asked in ".to_owned(), |agent| format!("{agent} asks in "));
    Some(view! { <p class="meta">{lead}<a href=session.href dir="auto">{session.text}</a></p> })
}

/// Renders the page that asks for a name and an e-mail address.
pub fn lead_page(props: &LeadProps) -> String {
    let issues: Vec<_> = props
        .form
        .errors
        .iter()
        .map(|error| Issue::new(error.field.clone().unwrap_or_default(), error.message.clone()))
        .collect();
    let of = |name: &'static str, label: &'static str, kind: &'static str, auto: &'static str| {
        let (id, error) = (control_id(name), props.form.error(name).map(str::to_owned));
        let error_id = format!("{id}-error");
        let described_by = error.is_some().then(|| error_id.clone());
        view! {
            <div class="field">
                <label class="field-label" for=id.clone()>{label}</label>
                {error.clone().map(|error| view! { <p class="field-error" id=error_id>{error}</p> })}
                <input class="input" id=id name=name type=kind autocomplete=auto required="" value=props.form.value_or(name, "")
                    aria-invalid=error.is_some().then_some("true") aria-describedby=described_by/>
            </div>
        }
    };
    let is_error = !issues.is_empty();
    let body = view! {
        <main class="form-page" id="main">
            <h1>{props.title.clone()}</h1>
            {summary(&issues, &[])}
            {paragraphs(&props.introduction)}
            <p>"Say who you are to open the form. What you enter is kept with your answers."</p>
            <form class="form" method="post" action=props.action.clone() novalidate="">
                {hidden(&props.hidden)}
                {of("name", "Name", "text", "name")}
                {of("email", "E-mail", "email", "email")}
                {trap()}
                <div class="form-actions"><Button look=Look::Primary>"Continue"</Button></div>
            </form>
        </main>
    };
    document(&props.frame, &props.title, is_error, body)
}

/// Renders the page for a member who is signed out. It carries what was posted.
pub fn signed_out_page(props: &SignedOutProps) -> String {
    const TITLE: &str = "You are signed out";
    let body = view! {
        <main class="form-page" id="main">
            <h1>{TITLE}</h1>
            <p>"Your answers were not sent yet, and this page keeps them."</p>
            <p><a href="/sign-in" target="_blank" rel="noopener">"Sign in in a new tab"</a>", then come back to this page and submit."</p>
            <form class="form" method="post" action=props.action.clone()>
                {hidden(&props.kept)}
                <div class="form-actions"><Button look=Look::Primary>"Submit"</Button></div>
            </form>
        </main>
    };
    document(&props.frame, TITLE, true, body)
}

/// Renders the page of a form that takes no answer. For people without an account it is the same for every reason.
pub fn closed_page(props: &ClosedProps) -> String {
    const TITLE: &str = "This form does not accept answers";
    let reason = props.reason.clone().unwrap_or_else(|| {
        "It may be closed, full or withdrawn, or the link may be incomplete or too old. Ask whoever gave it to you."
            .to_owned()
    });
    let body = view! {
        <main class="form-page" id="main">
            <h1>{TITLE}</h1>
            <p>{reason}</p>
            {back(props.back.as_ref())}
        </main>
    };
    document(&props.frame, TITLE, false, body)
}

/// Renders the page in place of a form for a person over the limit of requests. It is the same for every form.
pub fn wait_page(frame: &Frame) -> String {
    const TITLE: &str = "There were too many requests";
    let body = view! {
        <main class="form-page" id="main">
            <h1>{TITLE}</h1>
            <p>"Nothing is lost: wait a minute, then load this page again."</p>
        </main>
    };
    document(frame, TITLE, true, body)
}

/// Renders the page in a frame that leads to a form in a tab. It is the same for every form with the same question.
pub fn tab_page(props: &TabProps) -> String {
    const TITLE: &str = "This form opens in a new tab";
    let why = if props.asks_sign_in {
        "Only people who sign in can answer it, and browsers do not keep a sign-in for a form inside another page."
    } else {
        "It asks for your name and e-mail address first, and browsers do not keep them for a form inside another page."
    };
    let body = view! {
        <main class="form-page" id="main">
            <h1>{TITLE}</h1>
            <p>{why}</p>
            <p>
                <a class="button" data-look="primary" href=props.href.clone() target="_blank" rel="noopener">
                    "Open the form in a new tab"
                </a>
            </p>
        </main>
    };
    document(&props.frame, TITLE, false, body)
}

/// The errors of the form, each with a link to its control.
fn summary(issues: &[Issue], fields: &[Field]) -> Option<InertElement> {
    if issues.is_empty() {
        return None;
    }
    let items: Vec<_> = issues
        .iter()
        .map(|issue| {
            let key = issue.field.split('.').next().unwrap_or_default();
            let label = fields.iter().find(|field| field.key == key).map(|field| format!("{} ", field.label));
            let text = format!("{}{}", label.unwrap_or_default(), issue.message);
            let href = format!("#{}", control_id(&issue.field));
            if issue.field.is_empty() {
                static_html(view! { <li>{text}</li> })
            } else {
                static_html(view! { <li><a href=href>{text}</a></li> })
            }
        })
        .collect();
    Some(static_html(view! {
        <div class="summary" tabindex="-1" autofocus="">
            <div role="alert">
                <h2>"There is a problem"</h2>
                <ul>{items}</ul>
            </div>
        </div>
    }))
}

fn note(note: Option<Note>) -> Option<InertElement> {
    let note = note?;
    let (tone, role) = if note.is_error() { ("wait", "alert") } else { ("good", "status") };
    Some(static_html(view! { <div class="notice" data-tone=tone role=role><p>{note.text()}</p></div> }))
}

fn hidden(pairs: &[(String, String)]) -> Vec<InertElement> {
    let one = |(name, value): &(String, String)| {
        static_html(view! { <input type="hidden" name=name.clone() value=value.clone()/> })
    };
    pairs.iter().map(one).collect()
}

/// A field that people do not see. Programs that fill in everything are recognised by it.
fn trap() -> InertElement {
    static_html(view! {
        <div class="trap" aria-hidden="true">
            <label for="f-trap">"Leave this empty"</label>
            <input id="f-trap" name=TRAP type="text" tabindex="-1" autocomplete="off"/>
        </div>
    })
}

fn back(link: Option<&Link>) -> Option<InertElement> {
    let Link { href, text } = link?.clone();
    Some(static_html(view! { <p class="form-back"><a href=href>{text}</a></p> }))
}

/// Text as paragraphs: an empty line separates two.
fn paragraphs(text: &str) -> Vec<InertElement> {
    let parts = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| static_html(view! { <p class="text">{part.to_owned()}</p> })).collect()
}
