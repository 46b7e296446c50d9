//! Extractors and functions that every page needs: the viewer, the shell, and rendering in its own
//! task.

use super::fragment::wants_fragment;
use crate::{cookie, extract::Caller, nonce::Nonce, problem::Problem, state::AppState, wire_map};
use app::{FormState, SavedEntry, Shell, Theme, working_on::Active};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, Uri, header, request::Parts},
    response::{Html, IntoResponse, Redirect, Response},
};
use domain::limit::BADGE_COUNT_MAX;
use ledger::{
    Ledger, Scope,
    auth::{self, Identity},
    human,
    page::{
        inbox,
        sessions::{self, CountedSearch},
    },
    work_queue,
};
use url::Url;
use wire::{Code, me::Tenant};

/// The signed-in person who requests a page, and the shell of the page. Other visitors are redirected to the sign-in.
pub struct Viewer {
    /// The viewer's workspace and permissions, for use cases.
    pub scope: Scope,
    /// The parts of the page around its content.
    pub shell: Shell,
    /// The secret of the viewer's sign-in; empty for programs.
    pub secret: String,
    /// Origin of this server for the browser, without a slash at the end.
    pub origin: String,
    /// Whether the viewer dismissed the rating question for the session at this address.
    pub is_rating_dismissed: bool,
    /// IANA time zone that the browser reported. UTC until it reports one.
    pub timezone: String,
    /// State of the form that a server function refused. Empty on a page that was asked for with GET.
    pub form: FormState,
}

/// Why a page is not shown.
pub enum PageRejection {
    /// A redirect to the sign-in page, which leads back afterwards.
    Redirect(Redirect),
    /// An error page.
    Problem(Problem),
}

impl IntoResponse for PageRejection {
    fn into_response(self) -> Response {
        match self {
            Self::Redirect(redirect) => redirect.into_response(),
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// The viewer of a page that also answers a person who is signed out; `None` for that person.
///
/// # Errors
/// An error page, if it is not known who asks.
pub fn signed_in(viewer: Result<Viewer, PageRejection>) -> Result<Option<Viewer>, PageRejection> {
    match viewer {
        Ok(viewer) => Ok(Some(viewer)),
        Err(PageRejection::Redirect(_)) => Ok(None),
        Err(problem) => Err(problem),
    }
}

impl From<ledger::Error> for PageRejection {
    fn from(error: ledger::Error) -> Self {
        Self::Problem(error.into())
    }
}

impl From<Problem> for PageRejection {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl FromRequestParts<AppState> for Viewer {
    type Rejection = PageRejection;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, PageRejection> {
        let identity = match Caller::from_request_parts(parts, state).await {
            Ok(Caller(identity)) => identity,
            Err(problem) => return Err(PageRejection::Redirect(to_sign_in(problem, state, parts).await?)),
        };
        let shell = anonymous_shell(state, &parts.headers, parts.extensions.get(), parts.uri.query());
        let framed = (!is_part(&parts.headers)).then(|| timezone(&parts.headers));
        let shell = signed_in_shell(state, shell, &identity, framed).await?;
        let form = parts.extensions.remove().unwrap_or_default();
        Ok(Self { form, ..Self::of(state, &parts.headers, identity.scope, shell) })
    }
}

impl Viewer {
    /// The viewer with what the headers of the request say, and without a refused form.
    fn of(state: &AppState, headers: &HeaderMap, scope: Scope, shell: Shell) -> Self {
        Self {
            scope,
            shell,
            secret: state.cookies.session(headers).unwrap_or_default().to_owned(),
            origin: state.origin(headers),
            is_rating_dismissed: scope.user_id().is_some_and(|user| cookie::is_rating_dismissed(headers, user)),
            timezone: timezone(headers).to_owned(),
            form: FormState::default(),
        }
    }
}

/// Redirects a visitor who is not signed in: to the sign-in page, or to the set-up of a new server.
///
/// # Errors
/// The problem, if the credentials could not be read. A redirect would say that they are invalid.
async fn to_sign_in(problem: Problem, state: &AppState, parts: &Parts) -> Result<Redirect, PageRejection> {
    if problem.code() != Code::Unauthenticated {
        return Err(problem.into());
    }
    let needs_setup = auth::needs_setup(&state.ledger).await?;
    let target = if needs_setup { "/setup".into() } else { sign_in_href(parts) };
    Ok(Redirect::to(&target))
}

/// IANA name of the time zone that the browser reported; `UTC` until it reports one.
pub fn timezone(headers: &HeaderMap) -> &str {
    cookie::timezone(headers).filter(|zone| work_queue::is_timezone(zone)).unwrap_or("UTC")
}

/// Adds the viewer to a shell. What surrounds a page is read only if the page is `framed` by it: for a reader in this
/// time zone.
pub async fn signed_in_shell(
    state: &AppState,
    shell: Shell,
    identity: &Identity,
    framed: Option<&str>,
) -> Result<Shell, ledger::Error> {
    let scope = &identity.scope;
    // The mark is read before the page's data, so that no later change is missed.
    let live_mark = state.live_mark(scope);
    let Frame { workspaces, needs_me, saved } = in_frame(&state.ledger, scope, framed).await?;
    let active = match scope.user_id() {
        Some(_) => human::active(&state.ledger, scope).await?,
        None => None,
    };
    let (viewer, working_on) = (Some(wire_map::me(identity.clone())), active.map(active_of));
    Ok(Shell { live_mark, workspaces, needs_me, saved, viewer, working_on, ..shell })
}

/// What the navigation around a page shows. Nothing for a page without a frame.
#[derive(Default)]
struct Frame {
    /// Workspaces of the viewer.
    workspaces: Vec<Tenant>,
    /// Number of their items in the inbox.
    needs_me: u64,
    /// Their saved searches.
    saved: Vec<SavedEntry>,
}

async fn in_frame(ledger: &Ledger, scope: &Scope, framed: Option<&str>) -> Result<Frame, ledger::Error> {
    let Some(timezone) = framed else { return Ok(Frame::default()) };
    let workspaces = auth::list_workspaces(ledger, scope).await?;
    let workspaces = workspaces.into_iter().map(|t| Tenant { id: t.id, slug: t.slug, name: t.name });
    let needs_me = inbox::count(ledger, scope, BADGE_COUNT_MAX + 1).await?.all();
    let saved = saved_entries(ledger, scope, timezone).await?;
    Ok(Frame { workspaces: workspaces.collect(), needs_me, saved })
}

/// The saved searches of the navigation.
///
/// # Errors
/// As [`sessions::in_rail`].
pub async fn saved_entries(ledger: &Ledger, scope: &Scope, timezone: &str) -> Result<Vec<SavedEntry>, ledger::Error> {
    let saved = sessions::in_rail(ledger, scope, timezone).await?;
    Ok(saved.into_iter().map(saved_entry).collect())
}

fn saved_entry(found: CountedSearch) -> SavedEntry {
    let line: String = form_urlencoded::byte_serialize(found.search.line.as_bytes()).collect();
    let count = found.count.map(|counted| (counted.number, counted.has_more));
    SavedEntry { name: found.search.name, href: format!("/sessions?q={line}"), count }
}

/// The session that a person works in, as pages and server functions show it.
pub fn active_of(active: human::Active) -> Active {
    let started_at = active.session.started_at.unwrap_or(active.session.created_at);
    Active {
        session_id: active.session.id.to_string(),
        task_id: active.task.id.to_string(),
        title: active.task.name,
        started_at: started_at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        started_words: format!("since {} UTC", started_at.format("%H:%M")),
    }
}

/// Whether a script requests a part of a page, which has no frame.
fn is_part(headers: &HeaderMap) -> bool {
    wants_fragment(headers) || headers.get("sec-fetch-dest").is_some_and(|dest| dest == "empty")
}

/// The path of the sign-in page, with the path to return to.
fn sign_in_href(parts: &Parts) -> String {
    match return_path(parts) {
        Some(path) => {
            let next: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
            format!("/sign-in?next={next}")
        }
        None => "/sign-in".into(),
    }
}

/// Returns the path of the requested page. For a form, it is the path of the page with the form.
pub fn return_path(parts: &Parts) -> Option<String> {
    let uri = if parts.method.is_safe() { parts.uri.clone() } else { referring_page(&parts.headers)? };
    let path = uri.path_and_query()?.as_str();
    (path != "/" && !path.contains("/rows")).then(|| path.to_owned())
}

/// The address of the page that made a request, from its `Referer` header.
pub fn referring_page(headers: &HeaderMap) -> Option<Uri> {
    headers.get(header::REFERER)?.to_str().ok()?.parse().ok()
}

/// The shell of a page without a viewer.
pub struct Visitor(pub Shell);

impl FromRequestParts<AppState> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Self::Rejection> {
        Ok(Self(anonymous_shell(state, &parts.headers, parts.extensions.get(), parts.uri.query())))
    }
}

/// Creates a shell without a viewer from the headers of the request.
pub fn anonymous_shell(state: &AppState, headers: &HeaderMap, nonce: Option<&Nonce>, query: Option<&str>) -> Shell {
    let href = |name| state.assets.path(name).unwrap_or_default();
    let theme = match cookie::theme(headers) {
        Some(cookie::Theme::Light) => Theme::Light,
        Some(cookie::Theme::Dark) => Theme::Dark,
        None => Theme::System,
    };
    let notice = query.and_then(|query| {
        form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "notice").map(|(_, value)| value.into_owned())
    });
    Shell {
        css_href: href("css"),
        pages_css_href: href("pages-css"),
        js_href: href("js"),
        wasm_href: href("wasm"),
        tree_js_href: href("tree-js"),
        scrub_js_href: href("scrub-js"),
        nonce: nonce.map(|nonce| nonce.as_str().to_owned()).unwrap_or_default(),
        theme,
        viewer: None,
        workspaces: Vec::new(),
        working_on: None,
        needs_me: 0,
        saved: Vec::new(),
        live_mark: String::new(),
        notice,
        now: state.ledger.now(),
        form_key: state.ledger.request_id().to_string(),
    }
}

/// Renders a page in its own task, so that a browser that disconnects does not interrupt it.
pub async fn render(status: StatusCode, page: impl FnOnce() -> String + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(page).await {
        Ok(html) => (status, [(header::CACHE_CONTROL, "no-store")], Html(html)).into_response(),
        Err(panic) => Problem::internal(format!("rendering failed: {panic}")).into_response(),
    }
}

/// `303 See Other` to a page of this server, with a notice for its status line.
pub fn redirect_with_notice(path: &str, notice: &str) -> Redirect {
    Redirect::to(&format!("{path}?notice={notice}"))
}

/// `303 See Other` to a page of this server whose address can have a query, with a notice for its status line.
pub fn redirect_to(address: &str, notice: &str) -> Redirect {
    let separator = if address.contains('?') { '&' } else { '?' };
    Redirect::to(&format!("{address}{separator}notice={notice}"))
}

/// A page that shows a refusal. It has the status and headers of the problem, and the problem is logged.
pub async fn refuse(problem: &Problem, page: impl FnOnce() -> String + Send + 'static) -> Response {
    let mut response = render(problem.status(), page).await;
    problem.mark(&mut response);
    response
}

/// The page of a form: with what was refused, if something was.
pub async fn render_or_refuse(problem: Option<&Problem>, page: impl FnOnce() -> String + Send + 'static) -> Response {
    match problem {
        Some(problem) => refuse(problem, page).await,
        None => render(StatusCode::OK, page).await,
    }
}

/// Returns the local path to continue with, from a form or query. Anything else becomes /today.
pub fn local_path(next: Option<&str>) -> &str {
    next.filter(|path| is_own_path(path)).unwrap_or("/today")
}

/// Placeholder origin for resolving paths. No one can own a name below `.invalid`.
const OURSELVES: &str = "http://shiftbook.invalid";

/// Whether a browser that resolves this path on a page of this server stays on this server.
///
/// Browsers remove tabs and line breaks from an address and read `\` as `/`, so `/<tab>/evil.example` names another
/// host. Only visible ASCII is accepted. A parser that follows the same standard as browsers checks the rest.
fn is_own_path(path: &str) -> bool {
    let visible = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let absolute = path.starts_with('/') && !path.starts_with("//");
    let stays = |ours: Url| {
        let there = ours.join(path).ok()?;
        Some(there.origin() == ours.origin() && !there.path().starts_with("//"))
    };
    visible && absolute && Url::parse(OURSELVES).ok().and_then(stays).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_server_are_continued_to() {
        for own in ["/", "/sessions?status=failed", "/t/acme/note/1?q=%2F%2Fevil.test#x", "/%09/evil.test"] {
            assert_eq!(local_path(Some(own)), own);
        }
        let mut bad =
            ["https://evil.test", "//evil.test", "/\\evil.test", "today", "", "/..//evil.test", "/./\t/evil.test"]
                .map(str::to_owned)
                .to_vec();
        // Paths such as `next=/%09/evil.test`, for every character that is not visible.
        for control in ('\0'..=' ').chain('\u{7f}'..='\u{a0}').chain(['\u{2028}', '\u{ff0f}', 'ä']) {
            bad.push(format!("/{control}/evil.test"));
            bad.push(format!("{control}//evil.test"));
            bad.push(format!("/today{control}"));
        }
        for bad in bad {
            assert_eq!(local_path(Some(&bad)), "/today", "{bad:?}");
        }
        assert_eq!(local_path(None), "/today");
    }
}
