//! The editor of a form. It works without scripts: adding, removing and moving a question are buttons of the form,
//! which answer the same page with the changed form and save nothing.
//!
//! Fields: `revision`, `rows` (number of questions), `title`, `slug` (new forms only), `introduction`; for each
//! question `fields[N].PART` with the parts of [`Row`]; `publishConfig.PART`. `do` is `save`, `preview`, `add`, or
//! `up:N`, `down:N`, `remove:N` and `kind:N`.

use super::{KINDS, LivePreview, Row, preview::preview};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{Button, Look},
        field::{Choice, Field, Input, Select, TextArea},
        notice::Refused,
        page_head::PageHead,
        popover::Sheet,
    },
};
use domain::{
    limit::VIEW_FIELDS_MAX,
    view::{self, Gate, Publication, Responses},
};
use leptos::{prelude::*, tachys::html::InertElement};

/// What the editor holds.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Slug of the form; `None` for a new one.
    pub slug: Option<String>,
    /// The revision that was read; 0 for a new form.
    pub revision: u64,
    /// Title of the form.
    pub title: String,
    /// Text above the questions.
    pub introduction: String,
    /// The questions.
    pub rows: Vec<Row>,
    /// Who may answer, how often and when.
    pub publication: Publication,
    /// The questions as they can be read.
    pub fields: Vec<view::Field>,
}

/// Data of the editor's page.
#[derive(Debug, Clone, Default)]
pub struct EditorProps {
    /// What the editor holds.
    pub draft: Draft,
    /// The questions of the draft with the dimensions of their ratings, for the preview.
    pub preview: Vec<view::Field>,
    /// Slugs and names of the criteria sets, for ratings.
    pub criteria_sets: Vec<(String, String)>,
    /// Slugs and names of the entity types, for references.
    pub entity_types: Vec<(String, String)>,
    /// Slugs and names of the groups, for the audience.
    pub groups: Vec<(String, String)>,
    /// What is wrong with the form; its values are in the draft.
    pub form: FormState,
}

/// Renders the page.
pub fn editor_page(shell: &Shell, props: EditorProps) -> String {
    let draft = &props.draft;
    let title = match &draft.slug {
        None => "New form".to_owned(),
        Some(_) => format!("Edit {}", one_line(&draft.title, 100)),
    };
    render(shell, &title, || {
        let mut crumbs = vec![("Forms".to_owned(), "/views".to_owned())];
        if let Some(slug) = &draft.slug {
            crumbs.push((one_line(&draft.title, 60), format!("/views/{slug}")));
        }
        let shown = preview(&draft.title, &draft.introduction, &props.preview);
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs/>
            <div class="view-editor">
                {editor(&props)}
                <section class="section" id="preview" aria-labelledby="preview-title">
                    <h2 id="preview-title">"Preview"</h2>
                    <LivePreview><div id="view-preview">{shown}</div></LivePreview>
                </section>
            </div>
        };
        frame(shell, RailEntry::Actions, page)
    })
}

fn target(draft: &Draft) -> String {
    draft.slug.as_ref().map_or_else(|| "/views".to_owned(), |slug| format!("/views/{slug}/edit"))
}

fn editor(props: &EditorProps) -> InertElement {
    let EditorProps { draft, form, .. } = props;
    let names: Vec<String> = known_names(draft.rows.len());
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows: Vec<_> = draft.rows.iter().enumerate().map(|(at, row)| row_view(props, at, row)).collect();
    let slug = draft.slug.is_none().then(|| {
        static_html(view! { <Input scope="edit" field=Field::new("slug", "Slug").hint("Its address. Created from the title if left empty. It cannot be changed later.") form=form/> })
    });
    let save = if draft.slug.is_some() { "Save" } else { "Create form" };
    let add = (draft.rows.len() < VIEW_FIELDS_MAX).then(|| {
        let next = format!("{}#field-{}", target(draft), draft.rows.len());
        view! { <Button name="do" value="add" attr:formaction=next>"Add a question"</Button> }
    });
    let preview_target = format!("{}#preview", target(draft));
    static_html(view! {
        <form class="form view-form" id="view-form" method="post" action=target(draft) novalidate>
            <Refused messages=form.general(&known)/>
            <input type="hidden" name="revision" value=draft.revision.to_string()/>
            <input type="hidden" name="rows" value=draft.rows.len().to_string()/>
            <div class="form-actions">
                <Button name="do" value="save" look=Look::Primary>{save}</Button>
                <span class="no-js"><Button name="do" value="preview" attr:formaction=preview_target>"Update preview"</Button></span>
            </div>
            <Input scope="edit" field=Field::new("title", "Title").required() value=&draft.title form=form/>
            {slug}
            <TextArea scope="edit" field=Field::new("introduction", "Introduction") value=&draft.introduction rows=3 form=form/>
            <h2>"Questions"</h2>
            {rows}
            <div class="form-actions">{add}<span class="meta">{format!("At most {VIEW_FIELDS_MAX} questions.")}</span></div>
            {publication(props)}
            <div class="form-actions">
                <Button name="do" value="save" look=Look::Primary>{save}</Button>
                <span class="meta">"People answer the published version until you publish again."</span>
            </div>
        </form>
    })
}

/// Names of all controls, at which messages can be shown.
fn known_names(rows: usize) -> Vec<String> {
    let parts = [
        "key",
        "label",
        "type",
        "help",
        "default",
        "options",
        "minimum",
        "maximum",
        "lowLabel",
        "highLabel",
        "of",
        "ifField",
        "ifTest",
        "ifValue",
    ];
    let of_rows = (0..rows).flat_map(|row| parts.map(|part| format!("fields[{row}].{part}")));
    let config = ["gate", "audience", "responses", "maxResponses", "opensAt", "closesAt", "thanks", "redirectUrl"];
    let of_config = config.map(|part| format!("publishConfig.{part}"));
    let others = ["title", "slug", "introduction", "publishConfig.embedOrigins"].map(str::to_owned);
    of_rows.chain(of_config).chain(others).collect()
}

/// The questions with their controls, one fieldset for each.
fn row_view(props: &EditorProps, at: usize, row: &Row) -> InertElement {
    let EditorProps { draft, form, .. } = props;
    let name = |part: &str| format!("fields[{at}].{part}");
    let legend = format!("Question {}: {}", at + 1, if row.label.is_empty() { "new" } else { row.label.as_str() });
    let kinds = KINDS.map(|(kind, word)| (kind.to_owned(), word.to_owned())).to_vec();
    let (labels, types, keys, helps) = (name("label"), name("type"), name("key"), name("help"));
    let press = |what: &str, to: usize| (format!("{what}:{at}"), format!("{}#field-{to}", target(draft)));
    let ((up, up_to), (down, down_to)) = (press("up", at.saturating_sub(1)), press("down", at + 1));
    let ((remove, removed_to), (kind, kind_to)) = (press("remove", at.saturating_sub(1)), press("kind", at));
    let about = format!("question {}", at + 1);
    let folded = ["key", "help", "default", "ifField", "ifTest", "ifValue"];
    let is_used = [&row.if_field, &row.help, &row.default].into_iter().any(|text| !text.is_empty());
    let is_wrong = folded.into_iter().any(|part| form.error(&name(part)).is_some());
    let is_open = is_used || is_wrong || row.hidden || row.prefill;
    static_html(view! {
        <fieldset class="view-row" id=format!("field-{at}") tabindex="-1">
            <legend class="meta" dir="auto">{one_line(&legend, 100)}</legend>
            <div class="form-row">
                <Input scope="edit" field=Field::new(&labels, "Question").required() value=&row.label form=form/>
                <Select scope="edit" field=Field::new(&types, "Kind of answer") options=kinds value=&row.kind form=form/>
            </div>
            {kind_controls(props, at, row)}
            <Choice name=name("required") checked=row.required>"An answer is required"</Choice>
            <Sheet summary="More" open=is_open>
                <div class="view-more">
                    <Input scope="edit" field=Field::new(&keys, "Key").hint("Name of the answer for agents. Created from the question if left empty.") value=&row.key form=form/>
                    <TextArea scope="edit" field=Field::new(&helps, "Explanation") value=&row.help rows=2 form=form/>
                    {start_controls(at, row, form)}
                    {condition_controls(draft, at, row, form)}
                </div>
            </Sheet>
            <div class="form-actions">
                <Button small=true name="do" value=up attr:formaction=up_to disabled=at == 0 about=about.clone()>"Move up"</Button>
                <Button small=true name="do" value=down attr:formaction=down_to disabled=at + 1 == draft.rows.len() about=about.clone()>"Move down"</Button>
                <Button small=true name="do" value=kind attr:formaction=kind_to about=about.clone()>"Apply kind"</Button>
                <Button small=true look=Look::Danger name="do" value=remove attr:formaction=removed_to about=about>"Remove"</Button>
            </div>
        </fieldset>
    })
}

/// The controls that only this kind of field has.
fn kind_controls(props: &EditorProps, at: usize, row: &Row) -> InertElement {
    let form = &props.form;
    let name = |part: &str| format!("fields[{at}].{part}");
    let (least, most, options, of) = (name("minimum"), name("maximum"), name("options"), name("of"));
    let (low, high) = (name("lowLabel"), name("highLabel"));
    let bounds = |from: &'static str, to: &'static str| {
        static_html(view! {
            <div class="form-row">
                <Input scope="edit" field=Field::new(&least, from) value=&row.minimum form=form/>
                <Input scope="edit" field=Field::new(&most, to) value=&row.maximum form=form/>
            </div>
        })
    };
    let choices = || {
        static_html(view! {
            <TextArea scope="edit" field=Field::new(&options, "Options").hint("One per line. To store a value other than the label: value | label. Write \\| for | inside them.") value=&row.options form=form/>
        })
    };
    let reference = |label: &'static str, hint: &'static str, known: &[(String, String)]| {
        let mut known = known.to_vec();
        if !row.of.is_empty() && !known.iter().any(|(slug, _)| *slug == row.of) {
            known.push((row.of.clone(), row.of.clone()));
        }
        known.insert(0, (String::new(), "Choose".to_owned()));
        static_html(
            view! { <Select scope="edit" field=Field::new(&of, label).hint(hint) options=known value=&row.of form=form/> },
        )
    };
    match row.kind.as_str() {
        "number" | "integer" => bounds("Least", "Greatest"),
        "single_choice" => choices(),
        "text_list" => bounds("At least this many texts", "At most this many texts"),
        "multiple_choice" => static_html((choices(), bounds("Choose at least", "Choose at most"))),
        "scale" => static_html((
            bounds("From", "To"),
            view! {
                <div class="form-row">
                    <Input scope="edit" field=Field::new(&low, "Meaning of the lowest") value=&row.low_label form=form/>
                    <Input scope="edit" field=Field::new(&high, "Meaning of the highest") value=&row.high_label form=form/>
                </div>
            },
        )),
        "rating" => {
            reference("Criteria set", "Its dimensions are copied when the form is published.", &props.criteria_sets)
        }
        "entity" => reference("Entity type", "", &props.entity_types),
        "yes_no" | "date" | "date_time" | "email" | "url" => static_html(()),
        _ => bounds("At least this many characters", "At most this many characters"),
    }
}

/// Where the starting value comes from.
fn start_controls(at: usize, row: &Row, form: &FormState) -> InertElement {
    let name = |part: &str| format!("fields[{at}].{part}");
    let default = name("default");
    let hint = "Several options are separated by |, with \\| for | inside one. Yes or no: true or false.";
    let field = Field::new(&default, "Starting value").hint(hint);
    // A one-line input would join the lines.
    let start = if row.kind == "long_text" || row.default.contains('\n') {
        static_html(view! { <TextArea scope="edit" field=field value=&row.default rows=2 form=form/> })
    } else {
        static_html(view! { <Input scope="edit" field=field value=&row.default form=form/> })
    };
    static_html(view! {
        {start}
        <Choice name=name("prefill") checked=row.prefill>"The link can give the answer"</Choice>
        <Choice name=name("hidden") checked=row.hidden>"Not shown: the answer comes only from the link"</Choice>
    })
}

/// On which earlier answer the question depends.
fn condition_controls(draft: &Draft, at: usize, row: &Row, form: &FormState) -> InertElement {
    let name = |part: &str| format!("fields[{at}].{part}");
    let (asked, test, value) = (name("ifField"), name("ifTest"), name("ifValue"));
    let mut earlier = vec![(String::new(), "always".to_owned())];
    earlier.extend(draft.fields.iter().take(at).map(|field| (field.key.clone(), one_line(&field.label, 60))));
    if !row.if_field.is_empty() && !earlier.iter().any(|(key, _)| *key == row.if_field) {
        earlier.push((row.if_field.clone(), format!("{} (not an earlier question)", row.if_field)));
    }
    let tests = [("equals", "is"), ("in", "is one of"), ("filled", "is answered"), ("empty", "is not answered")];
    let tests = tests.map(|(test, word)| (test.to_owned(), word.to_owned())).to_vec();
    static_html(view! {
        <div class="form-row">
            <Select scope="edit" field=Field::new(&asked, "Ask only if") options=earlier value=&row.if_field form=form/>
            <Select scope="edit" field=Field::new(&test, "Test") options=tests value=&row.if_test form=form/>
            <Input scope="edit" field=Field::new(&value, "Answer").hint("The value that the option stores. Several are separated by |, with \\| for | inside one.") value=&row.if_value form=form/>
        </div>
    })
}

/// Who may answer, how often and when.
fn publication(props: &EditorProps) -> InertElement {
    let form = &props.form;
    let config = &props.draft.publication;
    let gates = [
        (Gate::Member, "Members, signed in"),
        (Gate::Lead, "Anyone who gives name and e-mail address"),
        (Gate::None, "Anyone with the link"),
    ];
    let gates = gates.map(|(gate, word)| (gate.as_str().to_owned(), word.to_owned())).to_vec();
    let often = [(Responses::One, "Once"), (Responses::Many, "Any number of times")];
    let often = often.map(|(responses, word)| (responses.as_str().to_owned(), word.to_owned())).to_vec();
    let mut groups = props.groups.clone();
    groups.insert(0, (String::new(), "Every member".to_owned()));
    let time = |at: Option<domain::Timestamp>| {
        let Some(at) = at else { return String::new() };
        // Browsers take milliseconds at most.
        let fraction = if at.timestamp_subsec_millis() == 0 { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S%.3f" };
        let written = at.format(fraction).to_string();
        written.strip_suffix(":00").map(str::to_owned).unwrap_or(written)
    };
    let most = config.max_responses.map(|most| most.to_string()).unwrap_or_default();
    let origins = config.embed_origins.join("\n");
    static_html(view! {
        <h2>"Publication"</h2>
        <div class="form-row">
            <Select scope="edit" field=Field::new("publishConfig.gate", "Who may answer") options=gates value=config.gate.as_str() form=form/>
            <Select scope="edit" field=Field::new("publishConfig.audience", "Which members") options=groups value=config.audience.clone().unwrap_or_default() form=form/>
        </div>
        <div class="form-row">
            <Select scope="edit" field=Field::new("publishConfig.responses", "How often each may answer") options=often value=config.responses.as_str() form=form/>
            <Input scope="edit" field=Field::new("publishConfig.maxResponses", "Most responses in all") value=most form=form/>
        </div>
        <div class="form-row">
            <Input scope="edit" kind="datetime-local" field=Field::new("publishConfig.opensAt", "Opens (UTC)") value=time(config.opens_at) form=form/>
            <Input scope="edit" kind="datetime-local" field=Field::new("publishConfig.closesAt", "Closes (UTC)") value=time(config.closes_at) form=form/>
        </div>
        <TextArea scope="edit" field=Field::new("publishConfig.thanks", "Text after submitting") value=&config.thanks rows=2 form=form/>
        <Input scope="edit" field=Field::new("publishConfig.redirectUrl", "Page after submitting").hint("A path of this server, or an https address whose host the operator allows.") value=config.redirect_url.clone().unwrap_or_default() form=form/>
        <TextArea scope="edit" field=Field::new("publishConfig.embedOrigins", "Pages that may embed the form").hint("One origin per line, such as https://www.example.org.") value=origins rows=2 json=true form=form/>
        <Choice name="publishConfig.notify" checked=config.notify>"Notify me of each response"</Choice>
    })
}
