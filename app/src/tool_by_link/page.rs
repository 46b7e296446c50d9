//! The pages: the one that asks before it opens a link, the form of the tool, and a run.

use crate::{
    FormState,
    render::static_html,
    schema_form::{Drawn, Place, draw_fields, sent_fields},
    session::shared_value,
    shared_page::{Frame, input_section, shared_document},
    text::shorten::one_line,
    ui::{
        badge::word,
        button::{Button, Look},
        notice::Refused,
        time::stamp,
    },
};
use domain::{
    Timestamp,
    schema_form::{Form, begin},
    session::Status,
    tool::{
        Definition,
        run::{DENIED, INPUT_INVALID, MAY_HAVE_RUN, TIME_LIMIT},
    },
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::Value;
use wire::session::Session;

/// Data of the page that asks before it opens a link. It is the same for every link.
#[derive(Debug, Clone, Default)]
pub struct OpenProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Where the button posts to.
    pub action: String,
}

/// Data of the page with the form.
#[derive(Debug, Clone)]
pub struct FormProps {
    /// Paths and settings.
    pub frame: Frame,
    /// Where the form posts to.
    pub action: String,
    /// The key that the form carries.
    pub key: String,
    /// The id of the page: it begins one run.
    pub page_id: String,
    /// The version that a run uses.
    pub definition: Definition,
    /// What was typed, if the form was sent.
    pub form: FormState,
    /// The part of the form that the last button was about; empty if there was none.
    pub focus: String,
    /// Time until which the link works (UTC).
    pub expires_at: Timestamp,
}

/// Data of the page of a run.
#[derive(Debug, Clone)]
pub struct RunProps {
    /// Paths and settings.
    pub frame: Frame,
    /// State, times, input without private values, result and code of the error.
    pub session: Session,
    /// Schema of the tool's input.
    pub input_schema: Value,
    /// Address of this page.
    pub run_href: String,
    /// Address of the form.
    pub form_href: String,
    /// Time until which the link works (UTC).
    pub expires_at: Timestamp,
}

/// Renders the page that asks before it opens a link. Programs that only fetch the address learn nothing of the tool.
pub fn open_page(props: &OpenProps) -> String {
    let body = view! {
        <main class="shared-page" id="main">
            <h1>"Someone shared a tool with you"</h1>
            <p>"Its form is shown after you press the button. Your browser then keeps cookies for this form, by which it finds the results of your runs."</p>
            <form method="post" action=props.action.clone()>
                <Button look=Look::Primary>"Show the form"</Button>
            </form>
        </main>
    };
    shared_document(&props.frame, "Shared tool", body)
}

/// Renders the form of the tool.
pub fn form_page(props: &FormProps) -> String {
    let definition = &props.definition;
    let title = one_line(&definition.name, 120);
    let about = (!definition.description.is_empty())
        .then(|| view! { <p class="text" dir="auto">{definition.description.clone()}</p> });
    let private = (!definition.private_fields.is_empty())
        .then(|| view! { <p class="meta">"Private values are in no log and not on the page of the run."</p> });
    let asks = definition
        .requires_confirmation
        .then(|| view! { <p class="meta">"A person has to approve the call before it is made."</p> });
    let body = view! {
        <main class="form-page" id="main" data-tool="">
            <h1 dir="auto">{title.clone()}</h1>
            {about}
            {run_form(props)}
            {private}
            {asks}
            <footer class="meta">"The people of the workspace see what you enter and the result. The link works until "{stamp(props.expires_at)}" unless it is revoked before."</footer>
        </main>
    };
    shared_document(&props.frame, &title, body)
}

fn run_form(props: &FormProps) -> InertElement {
    let form = Form::of_input(&props.definition.input_schema);
    let texts = sent_fields(form, &props.form).unwrap_or_else(|| begin(form));
    let nothing = "This tool takes no input.";
    let place = Place { scope: "run", label: "Input", target: &props.action, nothing, keeps_rows: false };
    let Drawn { html: fields, names, takes_files, json_button, .. } =
        draw_fields(place, form, &texts, (&props.form, &props.focus));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let general = props.form.general(&names);
    static_html(view! {
        <form class="form" method="post" action=props.action.clone() enctype=takes_files.then_some("multipart/form-data")>
            // Enter in a field presses the first button, which must not be one that changes the form.
            <button class="hidden-text" type="submit" tabindex="-1" aria-hidden="true">"Run"</button>
            <input type="hidden" name="_key" value=props.key.clone()/>
            <input type="hidden" name="_id" value=props.page_id.clone()/>
            <Refused messages=general/>
            {fields}
            <div class="form-actions">
                <Button look=Look::Primary>"Run"</Button>
                {json_button}
            </div>
        </form>
    })
}

/// What the state of a run means to whoever waits for it; `None` once it has ended.
const fn waits(status: Status) -> Option<&'static str> {
    if status.is_final() {
        return None;
    }
    Some(match status {
        Status::AwaitingTool | Status::WaitingHuman => "A person has to approve the call before it is made.",
        _ => "The run has not ended.",
    })
}

/// What an outsider reads of a failure. The message of the error is left out: it can quote the service that the tool
/// calls, and addresses inside of the network.
fn failure(code: Option<&str>) -> &'static str {
    match code {
        Some(DENIED) => "A person did not allow the call.",
        Some(MAY_HAVE_RUN) => "The call may have taken effect: its outcome is unknown.",
        Some(TIME_LIMIT) => "The tool took too long.",
        Some(INPUT_INVALID) => "The tool does not accept this input.",
        _ => "The run has failed. Ask the person who gave you the link.",
    }
}

/// Renders a run. Everything in it is untrusted text.
pub fn run_page(props: &RunProps) -> String {
    let session = &props.session;
    let title = one_line(&session.title, 120);
    let error = session.error.as_ref().map(|error| {
        let why = failure(error.code.as_deref());
        view! { <section class="shared-part" aria-labelledby="error"><h2 id="error">"Error"</h2><p>{why}</p></section> }
    });
    let result = session.result.as_deref().map(|result| {
        let html = shared_value(Some(result));
        let href = format!("{}/result", props.run_href);
        view! { <section class="shared-part" aria-labelledby="result"><h2 id="result">"Result"</h2><div inner_html=html></div><p><a href=href download="result.json">"Save the result as JSON"</a></p></section> }
    });
    let waits = waits(session.status).map(|why| {
        view! { <p>{why}" "<a href=props.run_href.clone()>"Look again"</a></p> }
    });
    let ended = session.completed_at.map(|at| view! { <div><dt>"Ended"</dt><dd>{stamp(at)}</dd></div> });
    let body = view! {
        <main class="shared-page" id="main">
            <header>
                <h1 dir="auto">{title.clone()}</h1>
                <dl class="shared-facts">
                    <div><dt>"State"</dt><dd>{word(session.status)}</dd></div>
                    <div><dt>"Begun"</dt><dd>{stamp(session.created_at)}</dd></div>
                    {ended}
                </dl>
            </header>
            {waits}
            {error}
            {result}
            {input_section(session, Some(&props.input_schema))}
            <p><a href=props.form_href.clone()>"Run it again"</a></p>
            <footer class="meta">"Only this browser reads this page, until "{stamp(props.expires_at)}" unless the link is revoked before. Keep the result if you need it longer."</footer>
        </main>
    };
    shared_document(&props.frame, &title, body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::session;
    use serde_json::{json, value::RawValue};

    fn form() -> FormProps {
        let definition = json!({
            "name": "<b>Weather", "kind": "worker", "description": "Of a city.", "timeLimitSeconds": 60, "retries": 0,
            "repeatable": false, "requiresConfirmation": true, "privateFields": ["key"],
            "inputSchema": { "type": "object", "properties": { "city": { "type": "string" }, "key": { "type": "string" } } },
        });
        FormProps {
            frame: Frame::default(),
            action: "/tool-links/x".to_owned(),
            key: "k1".to_owned(),
            page_id: "p1".to_owned(),
            definition: serde_json::from_value(definition).unwrap(),
            form: FormState::default(),
            focus: String::new(),
            expires_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn run(session: Session) -> RunProps {
        RunProps {
            frame: Frame::default(),
            session,
            input_schema: json!({ "type": "object", "properties": { "city": { "type": "string", "title": "City" } } }),
            run_href: "/tool-links/x/runs/y".to_owned(),
            form_href: "/tool-links/x".to_owned(),
            expires_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_run_has_the_titles_of_its_input_and_no_section_without_one() {
        let html = |input: &str| {
            let input = RawValue::from_string(input.to_owned()).unwrap();
            run_page(&run(Session { input: Some(input), ..session() }))
        };
        let given = html(r#"{"city":"Oslo"}"#);
        assert!(given.contains(">City</dt>") && given.contains("Oslo"), "{given}");
        assert!(!html("{}").contains("id=\"input\""), "{given}");
    }

    #[test]
    fn the_form_carries_its_key_and_says_what_happens_to_the_values() {
        let html = form_page(&form());
        for part in ["name=\"_key\" value=\"k1\"", "name=\"_id\" value=\"p1\"", "name=\"input.city\"", "has to approve"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<b>Weather") && html.contains("Private values"), "{html}");
    }

    #[test]
    fn a_failure_is_explained_without_what_the_service_said() {
        assert_eq!(failure(Some("time_limit")), "The tool took too long.");
        let mut failed = session();
        let error = json!({ "code": "http_status", "message": "the service answered 500 at 10.0.0.7" });
        failed.error = Some(serde_json::from_value(error).unwrap());
        let html = run_page(&run(failed));
        assert!(html.contains("The run has failed.") && !html.contains("10.0.0.7"), "{html}");
    }

    #[test]
    fn no_page_has_a_script_or_a_way_into_the_workspace() {
        let asks = open_page(&OpenProps { action: "/r/x".to_owned(), ..OpenProps::default() });
        for html in [asks, form_page(&form()), run_page(&run(session()))] {
            assert!(!html.contains("<script") && !html.contains("href=\"/sessions"), "{html}");
            assert!(html.contains("noindex, nofollow"), "{html}");
        }
    }
}
