//! The responses to a view as CSV.

use crate::{
    extract::{Caller, Id, Params, Sequence},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    body::Body,
    extract::State,
    http::{HeaderName, Method, header},
    response::{IntoResponse, Response},
};
use domain::{
    Scope, Timestamp,
    id::ViewId,
    response::{RespondentKind, ResponseStatus},
    response_table::{BYTE_ORDER_MARK, Column, push_text, push_value},
};
use futures_util::{Stream, stream};
use ledger::{
    Ledger, ListPage, ResponseRecord, page,
    response::{self as use_case, Lead, Leads, ListResponses},
};
use serde::Deserialize;
use std::{collections::HashMap, sync::Arc};

/// Responses that are read and sent at once.
const ROWS: u32 = 200;
/// Columns before those of the answers. The names are those of the JSON.
const HEADS: [&str; 13] = [
    "id",
    "version",
    "status",
    "respondentKind",
    "respondentId",
    "respondentName",
    "respondentEmail",
    "late",
    "createdAt",
    "savedAt",
    "submittedAt",
    "promotedEntityId",
    "score",
];

/// The query of [`of_view`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CsvQuery {
    /// Responses with this status.
    #[param(value_type = Option<wire::schema::ResponseStatus>)]
    status: Option<ResponseStatus>,
    /// Responses to this version of the view.
    #[param(value_type = Option<u64>, minimum = 0, maximum = 9007199254740991_u64)]
    version: Option<Sequence>,
    /// Responses whose first save was at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    created_from: Option<Timestamp>,
    /// Responses whose first save was before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    created_before: Option<Timestamp>,
    /// Begin the file with a byte order mark, without which some spreadsheet programs read UTF-8 as another encoding.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    bom: bool,
}

impl CsvQuery {
    /// The responses to this view that the query selects.
    fn of_view(self, id: ViewId) -> ListResponses {
        ListResponses {
            view_id: Some(id),
            status: self.status,
            version: self.version.map(|version| version.0),
            created_from: self.created_from,
            created_before: self.created_before,
            ..ListResponses::default()
        }
    }
}

/// Download the responses to a view as CSV
///
/// All responses, newest first, with a column for each field of the versions that they are for (`answers.mood`), and
/// for each dimension of a rating (`answers.rate.tone`). Cells have stored values; several chosen options are separated
/// by `|`, and inside one of them `|` is `\|` and `\` is `\\`. A text that a spreadsheet would calculate begins with an
/// apostrophe. RFC 4180, UTF-8. Names and addresses of leads are empty for those who may not read them. The download is
/// an entry of the audit list.
#[utoipa::path(
    get, path = "/api/views/{id}/responses.csv", operation_id = "downloadViewResponses", tag = "responses",
    params(("id" = uuid::Uuid, Path, description = "The view"), CsvQuery),
    responses(
        (status = 200, description = "The table", body = String, content_type = "text/csv"),
        (
            status = 422, description = "`limit_reached`: the responses are for too many versions or questions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn of_view(
    method: Method,
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
    Params(query): Params<CsvQuery>,
) -> Result<Response, Problem> {
    let mark = query.bom.then_some(BYTE_ORDER_MARK);
    let (ledger, scope, wanted) = (state.ledger.clone(), *caller.scope(), query.of_view(id));
    let view = ledger::view::get(&ledger, &scope, id).await?;
    let table = Table::read(&ledger, &scope, id, &wanted).await?;
    let head = String::from_iter(mark) + &table.head();
    let start = Reading { ledger, scope, wanted, table: Arc::new(table), cursor: Some(None) };
    // The first rows are read before the answer begins, so that their failure is a problem and no truncated file.
    let (rows, rest) = start.next().await?.unwrap_or_default();
    record(&state.ledger, caller.scope(), id, &method).await?;
    Ok((headers(&view.slug), Body::from_stream(chunks(head + &rows, rest))).into_response())
}

/// The headers of the file of the view with this slug.
/// Adds the download to the audit list. HEAD sends no row.
async fn record(ledger: &Ledger, scope: &Scope, id: ViewId, method: &Method) -> Result<(), Problem> {
    if *method != Method::HEAD {
        use_case::record_download(ledger, scope, id).await?;
    }
    Ok(())
}

fn headers(slug: &str) -> [(HeaderName, String); 3] {
    [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{slug}-responses.csv\"")),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ]
}

/// What the rows need besides the responses.
struct Table {
    columns: Vec<Column>,
    /// Names of members and tokens by id.
    names: HashMap<uuid::Uuid, String>,
}

/// How far the table was read. One page is in memory at a time.
struct Reading {
    ledger: Ledger,
    scope: Scope,
    wanted: ListResponses,
    table: Arc<Table>,
    /// Where the next page begins; `None` after the last one.
    cursor: Option<Option<String>>,
}

type Rows = (String, Option<Reading>);

impl Reading {
    /// Reads one page. `None` after the last one.
    async fn next(self) -> Result<Option<Rows>, ledger::Error> {
        let Some(cursor) = self.cursor.clone() else { return Ok(None) };
        let wanted = ListResponses { page: ListPage { limit: ROWS, cursor }, ..self.wanted.clone() };
        let listed = use_case::list(&self.ledger, &self.scope, wanted).await?;
        let leads = use_case::leads(&self.ledger, &self.scope, &listed.items).await?;
        let rows = listed.items.into_iter().map(|response| self.table.row(response, &leads)).collect();
        let rest = listed.next_cursor.map(|cursor| Self { cursor: Some(Some(cursor)), ..self });
        Ok(Some((rows, rest)))
    }
}

/// The parts of the file: the first, and then one for each page that is left.
fn chunks(first: String, rest: Option<Reading>) -> impl Stream<Item = std::io::Result<String>> {
    stream::try_unfold((Some(first), rest), |(first, rest)| async move {
        match (first, rest) {
            (Some(first), rest) => Ok(Some((first, (None, rest)))),
            (None, None) => Ok(None),
            (None, Some(reading)) => match reading.next().await {
                Ok(next) => Ok(next.map(|(rows, rest)| (rows, (None, rest)))),
                Err(error) => Err(std::io::Error::other(error.to_string())),
            },
        }
    })
}

impl Table {
    /// Reads the columns of the wanted responses, and everyone who may have answered.
    async fn read(ledger: &Ledger, scope: &Scope, id: ViewId, wanted: &ListResponses) -> Result<Self, ledger::Error> {
        let columns = use_case::columns(ledger, scope, id, wanted).await?;
        let people = page::people(ledger, scope).await?;
        let members = people.members.into_iter().map(|member| (member.user_id.0, member.display_name().to_owned()));
        let tokens = people.tokens.into_iter().map(|(id, name)| (id.0, name));
        Ok(Self { columns, names: members.chain(tokens).collect() })
    }

    fn head(&self) -> String {
        let mut line = String::new();
        HEADS.into_iter().for_each(|name| push_text(&mut line, name));
        self.columns.iter().for_each(|column| push_text(&mut line, &format!("answers.{}", column.path())));
        line + "\r\n"
    }

    fn row(&self, response: ResponseRecord, leads: &Leads) -> String {
        let status = wire_map::response_status(&response);
        let lead = response.lead_entity_id.and_then(|id| leads.get(&id));
        let name = match response.respondent_kind {
            RespondentKind::User | RespondentKind::Token => self.names.get(&response.respondent).map(String::as_str),
            _ => lead.map(|lead| lead.name.as_str()),
        };
        let time = |at: Option<Timestamp>| at.map(wire_time).unwrap_or_default();
        let promoted = response.promotion.as_ref().map(|promotion| promotion.entity_id.to_string());
        let texts = [
            response.session_id.to_string(),
            response.version.to_string(),
            status.as_str().to_owned(),
            response.respondent_kind.as_str().to_owned(),
            response.respondent.hyphenated().to_string(),
            name.unwrap_or_default().to_owned(),
            lead.and_then(|Lead { email, .. }| email.clone()).unwrap_or_default(),
            response.late.to_string(),
            time(Some(response.created_at)),
            time(Some(response.saved_at)),
            time(response.submitted_at),
            promoted.unwrap_or_default(),
        ];
        let mut line = String::new();
        texts.iter().for_each(|text| push_text(&mut line, text));
        push_value(&mut line, domain::response::mean_score(&response.scores).map(Into::into).as_ref());
        self.columns.iter().for_each(|column| push_value(&mut line, column.value(&response.answers)));
        line + "\r\n"
    }
}

/// The time as in JSON.
fn wire_time(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
}
