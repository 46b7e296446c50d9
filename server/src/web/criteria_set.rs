//! /criteria-sets: list, make, one of them at any of its versions, edit, try out.

use super::{
    form::{Form, or_stale},
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    criteria_set::{self as ui, ListProps, Preview, Props, try_name},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    criteria_set::{Dimension, DimensionKind, evaluate_safety_gate},
    id::CriteriaSetId,
    issue::Issue,
    limit::CRITERIA_DIMENSIONS_MAX,
    slug::slugify,
    typed_number::{two_meanings, typed_number},
};
use ledger::{
    CriteriaSetRecord,
    criteria_set::{self, CriteriaSetChange, NewCriteriaSet},
    page::criteria_set as page,
};
use serde::Deserialize;
use serde_json::{Map, Value};

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/criteria-sets", get(list).post(create))
        .route("/criteria-sets/new", get(new))
        .route("/criteria-sets/{id}", get(show).post(post))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let listed = page::list(&state.ledger, &viewer.scope, query.cursor).await?;
    let sets = listed.items.into_iter().map(wire_map::criteria_set).collect();
    let props = ListProps { sets, next_cursor: listed.next_cursor };
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn new(viewer: Viewer) -> Result<Response, PageRejection> {
    Ok(new_page(viewer, None, FormState::default(), None).await)
}

/// The page of a new set: with an evaluation, or with what was refused.
async fn new_page(viewer: Viewer, preview: Option<Preview>, form: FormState, problem: Option<&Problem>) -> Response {
    render_or_refuse(problem, move || ui::new_page(&viewer.shell, preview, &form)).await
}

async fn create(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let read = read_dimensions(&form);
    if let Some(preview) = previewed(&form, &read) {
        return Ok(new_page(viewer, Some(preview), form.state_without_errors("edit"), None).await);
    }
    match make(&state, &viewer, &form, &read).await {
        Ok(id) => Ok(redirect_with_notice(&format!("/criteria-sets/{id}"), "criteria_set_created").into_response()),
        Err(problem) => Ok(new_page(viewer, None, read.refused(&form, &problem), Some(&problem)).await),
    }
}

async fn make(state: &AppState, viewer: &Viewer, form: &Form, read: &Rows) -> Result<CriteriaSetId, Problem> {
    let new = NewCriteriaSet {
        name: form.text("name").trim().to_owned(),
        slug: form.optional("slug"),
        description: form.text("description"),
        dimensions: read.dimensions()?,
    };
    Ok(criteria_set::create(&state.ledger, &viewer.scope, new).await?.id)
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    version: Option<u64>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<CriteriaSetId>,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let page = page::read(&state.ledger, &viewer.scope, id, query.version).await?;
    Ok(answer(viewer, page, None, FormState::default(), StatusCode::OK).await)
}

async fn answer(
    viewer: Viewer,
    page: page::Page,
    preview: Option<Preview>,
    form: FormState,
    status: StatusCode,
) -> Response {
    let props = Props {
        set: wire_map::criteria_set(page.set),
        has_more_versions: page.has_more_versions,
        versions: page.versions.into_iter().map(wire_map::criteria_set).collect(),
        people: people_of(page.people),
        preview,
        form,
    };
    render(status, move || ui::page(&viewer.shell, props)).await
}

/// Saves a new version, or evaluates: what the form holds (`preview`), or the version that is shown (`try`).
async fn post(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<CriteriaSetId>,
    Params(query): Params<ShowQuery>,
    form: Form,
) -> Result<Response, PageRejection> {
    let (page, read) = (page::read(&state.ledger, &viewer.scope, id, query.version).await?, read_dimensions(&form));
    Ok(match Step::of(&form, &page.set, &read) {
        Step::Evaluate(preview, form) => answer(viewer, page, Some(preview), form, StatusCode::OK).await,
        Step::Save => match save(&state, &viewer, id, &form, &read).await {
            Ok(()) => redirect_with_notice(&format!("/criteria-sets/{id}"), "criteria_set_saved").into_response(),
            Err(problem) => refusal(viewer, page, or_stale(read.refused(&form, &problem), &problem), &problem).await,
        },
    })
}

/// What a posted form of a set asks for.
enum Step {
    /// The evaluation of chosen values, and the form as it was posted.
    Evaluate(Preview, FormState),
    /// A new version.
    Save,
}

impl Step {
    /// `try` evaluates the version that is shown, `preview` what the form holds, if it can be read.
    fn of(form: &Form, shown: &CriteriaSetRecord, read: &Rows) -> Self {
        if form.text("do") == "try" {
            return Self::Evaluate(preview(shown.dimensions.clone(), form), form.state_without_errors("try"));
        }
        previewed(form, read).map_or(Self::Save, |preview| Self::Evaluate(preview, form.state_without_errors("edit")))
    }
}

/// The page with the form that was refused.
async fn refusal(viewer: Viewer, page: page::Page, form: FormState, problem: &Problem) -> Response {
    let mut response = answer(viewer, page, None, form, problem.status()).await;
    problem.mark(&mut response);
    response
}

async fn save(state: &AppState, viewer: &Viewer, id: CriteriaSetId, form: &Form, read: &Rows) -> Result<(), Problem> {
    let change = CriteriaSetChange {
        version: form.text("version").parse().unwrap_or_default(),
        name: Some(form.text("name").trim().to_owned()),
        description: Some(form.text("description")),
        dimensions: Some(read.dimensions()?),
    };
    criteria_set::update(&state.ledger, &viewer.scope, id, change).await?;
    Ok(())
}

/// The evaluation of the dimensions in the form, if the form asks for it and they can be read.
fn previewed(form: &Form, read: &Rows) -> Option<Preview> {
    let dimensions = read.dimensions().ok().filter(|_| form.text("do") == "preview")?;
    Some(preview(dimensions, form))
}

/// What the gate says of the chosen values. A field that is left at "nothing" is no value.
fn preview(dimensions: Vec<Dimension>, form: &Form) -> Preview {
    let value = |d: &Dimension| Some((d.slug.clone(), Value::from(form.optional(&try_name(&d.slug))?)));
    let staged: Map<String, Value> = dimensions.iter().filter_map(value).collect();
    Preview { verdict: evaluate_safety_gate(&staged, &dimensions), dimensions }
}

/// The rows of the form that have a name, each with its number there, and what could not be read.
struct Rows {
    rows: Vec<usize>,
    dimensions: Vec<Dimension>,
    wrong: Vec<Issue>,
}

impl Rows {
    fn dimensions(&self) -> Result<Vec<Dimension>, Problem> {
        if self.wrong.is_empty() {
            return Ok(self.dimensions.clone());
        }
        Err(ledger::Error::Invalid(self.wrong.clone()).into())
    }

    /// The form again, each message at its row. What could not be read is at its row already.
    fn refused(&self, form: &Form, problem: &Problem) -> FormState {
        match self.wrong.is_empty() {
            true => form.refused_in_rows("edit", problem, ("dimensions", &self.rows)),
            false => form.refused("edit", problem),
        }
    }
}

fn read_dimensions(form: &Form) -> Rows {
    let mut read = Rows { rows: Vec::new(), dimensions: Vec::new(), wrong: Vec::new() };
    for row in 0..=CRITERIA_DIMENSIONS_MAX {
        let field = |part: &str| format!("dimensions[{row}].{part}");
        let Some(name) = form.optional(&field("name")) else { continue };
        let kind = form.optional(&field("type")).as_deref().and_then(DimensionKind::parse);
        let kind = kind.unwrap_or(DimensionKind::Select);
        let options = match ui::read_options(&form.text(&field("options"))) {
            Ok(options) => options,
            Err(message) => {
                read.wrong.push(Issue::new(field("options"), message));
                Vec::new()
            }
        };
        let mut end = |part: &str| {
            let text = form.optional(&field(part))?;
            let number = typed_number(&text).and_then(|number| number.as_f64());
            if number.is_none() {
                let wanted = two_meanings(&text).unwrap_or_else(|| "a number".to_owned());
                read.wrong.push(Issue::new(field(part), wanted));
            }
            number
        };
        let (min, max) = (end("min"), end("max"));
        read.rows.push(row);
        read.dimensions.push(Dimension {
            slug: form.optional(&field("slug")).or_else(|| slugify(&name)).unwrap_or_default(),
            name,
            kind,
            description: form.text(&field("description")),
            options,
            min,
            max,
        });
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::criteria_set::SafetyGate;

    fn form(pairs: &[(&str, &str)]) -> Form {
        Form::of(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn rows_become_dimensions_and_messages_find_their_row() {
        let form = form(&[
            ("dimensions[0].name", " "),
            ("dimensions[1].name", "PHI safety"),
            ("dimensions[1].type", "select"),
            ("dimensions[1].options", "pass\nfail |  | negative | 0 | hard block"),
            ("dimensions[4].name", "Tone"),
            ("dimensions[4].type", "scale"),
            ("dimensions[4].min", "1"),
            ("dimensions[4].max", "5"),
            ("try.phi-safety", "fail"),
        ]);
        let read = read_dimensions(&form);
        let dimensions = read.dimensions().unwrap();
        assert_eq!(read.rows, [1, 4]);
        assert_eq!((dimensions[0].slug.as_str(), dimensions[1].max), ("phi-safety", Some(5.0)));
        assert!(matches!(preview(dimensions, &form).verdict, SafetyGate::Blocked { .. }));
        let problem = ledger::Error::invalid("dimensions[1].options[0].value", "no").into();
        assert_eq!(read.refused(&form, &problem).error("dimensions[4].options"), Some("no"));
    }

    #[test]
    fn what_cannot_be_read_is_refused_at_its_row() {
        let form = form(&[
            ("dimensions[2].name", "Tone"),
            ("dimensions[2].options", "a | b | red"),
            ("dimensions[2].min", "few"),
        ]);
        let read = read_dimensions(&form);
        let problem = read.dimensions().unwrap_err();
        let refused = read.refused(&form, &problem);
        assert_eq!(refused.error("dimensions[2].min"), Some("a number"));
        assert!(refused.error("dimensions[2].options").unwrap().starts_with("line 1: the style must be"));
    }
}
