//! The user interface: pages as pure functions of their props, and the islands that run in the browser.
//!
//! The crate is built twice: with `ssr` into the server, with `hydrate` for the browser. It has no router and nothing
//! asynchronous. The server authenticates, reads, and calls one function that returns a whole document (`page`) or an
//! HTML fragment (`*_fragment`).
//!
//! | function | route |
//! |---|---|
//! | `setup::page(&Shell, bool, &FormState)` | `GET /setup` |
//! | `sign_in::page(&Shell, &sign_in::Props)` | `GET /sign-in` |
//! | `today::page(&Shell, today::Props)` | `GET /today?bucket=` |
//! | `today::section_fragment(&Shell, &today::Section)` | `GET /today/section/{bucket}` |
//! | `connection_fragment(&str, Option<Connection>)` | `GET /today/connection` |
//! | `today::questions_fragment(&[Question])` | `GET /today/questions` |
//! | `inbox::page(&Shell, inbox::Props)` | `GET /inbox?state=&assignedTo=&cursor=&open=&select=` and `GET /inbox/{id}` |
//! | `inbox::list_fragment(&inbox::List)` | `GET /inbox/list` |
//! | `inbox::detail_fragment(&inbox::Detail)` | `GET /inbox/{id}/detail` |
//! | `inbox::hand_over_page(&Shell, &inbox::HandOverProps)` | `GET /inbox/{id}/hand-over` |
//! | `sessions::bulk_choice_page(&Shell, sessions::ChoiceProps)` | `POST /sessions/bulk` without a tag or a member |
//! | `sessions::bulk_progress_page(&Shell, &sessions::BulkProgressProps)` | `POST /sessions/bulk` of many sessions |
//! | `sessions::bulk_page(&Shell, sessions::BulkProps)` | `POST /sessions/bulk` and `GET /sessions/bulk?verb=&of=` |
//! | `sessions::page(&Shell, sessions::Props)` | `GET /sessions?q=&actionId=&sort=&cursor=` |
//! | `sessions::rows_fragment(&Shell, &[SessionEntry], RowLook)` | `GET /sessions/rows?columns=&select=&ids=a,b,c` |
//! | `inbox::review::page(&Shell, &inbox::review::Props)` | `GET /inbox/review?group=&assignedTo=&sort=&order=&select=` |
//! | `inbox::patches_page(&Shell, &inbox::PatchesProps)` | `GET /inbox/patches` |
//! | `inbox::review::result_page(&Shell, &inbox::review::ResultProps)` | `GET /inbox/review/result?group=&items=` |
//! | `search::page(&Shell, search::Props)` | `GET /search?q=&kind=&agent=&status=&cursor=` |
//! | `session::page(&Shell, session::Props)` | `GET /sessions/{id}?before=&kinds=&find=&match=` |
//! | `session::rateable_rows(SessionId, &[Event], &Titles)`, or `rows_fragment` of a private session | `GET /sessions/{id}/rows?afterSequence=` or `?beforeSequence=`, `&kinds=` |
//! | `session::moving_fragment(&Shell, &session::Props)` | `GET /sessions/{id}/summary` |
//! | `chat::list_page(&Shell, chat::ListProps)` | `GET /chat?cursor=` |
//! | `chat::rows_fragment(&[chat::Entry])` | `GET /chat/rows?ids=a,b,c` |
//! | `chat::page(&Shell, chat::Props)` | `GET /chat/{id}?before=` |
//! | `chat::fragment(&chat::Conversation)` | `GET /chat/{id}/live` |
//! | `action::list_page(&Shell, action::ListProps)` | `GET /actions` |
//! | `action::page(&Shell, action::Props)` | `GET /actions/{id}` |
//! | `day::page(&Shell, day::Props)` | `GET /working-on` |
//! | `day::day_fragment(&Day)` | `GET /working-on/day?timezone=` |
//! | `entity::list_page(&Shell, entity::ListProps)` | `GET /entities?type=&q=&cursor=` |
//! | `entity::page(&Shell, entity::Props)` | `GET /entities/{id}` and `/t/{tenantSlug}/{typeSlug}/{id}` |
//! | `entity::erase_page(&Shell, entity::EraseProps)` | `POST /entities/erase` without a confirmation |
//! | `entity::type_page(&Shell, entity::TypeProps)` | `GET /entity-types/{id}` |
//! | `entity::import_page(&Shell, entity::ImportProps)` | `GET /entity-types/{id}/import` |
//! | `entity::progress_page(&Shell, entity::ProgressProps)` | `GET /imports/{id}` |
//! | `entity::progress_fragment(&Import)` | `GET /imports/{id}/progress` |
//! | `criteria_set::list_page(&Shell, criteria_set::ListProps)` | `GET /criteria-sets?cursor=` |
//! | `criteria_set::new_page(&Shell, Option<Preview>, &FormState)` | `GET /criteria-sets/new` |
//! | `criteria_set::page(&Shell, criteria_set::Props)` | `GET /criteria-sets/{id}?version=` |
//! | `criteria_set::bundle_page(&Shell, criteria_set::BundleProps)` | `GET /bundles` |
//! | `session::label_page(&Shell, session::LabelProps)` | `GET` and `POST /sessions/{id}/labels` |
//! | `session::forget_page(&Shell, session::ForgetProps)` | `GET /sessions/{id}/forget` |
//! | `memory::home_page(&Shell, memory::HomeProps)` | `GET /memory?q=` |
//! | `memory::forget_page(&Shell, memory::ForgetProps)` | `GET /memory/forget?person=` |
//! | `memory::page(&Shell, memory::Props)` | `GET /agents/{slug}/memory?path=&view=&version=&q=` |
//! | `memory::runs_page(&Shell, memory::RunsProps)` | `GET /agents/{slug}/memory/runs?added=` |
//! | `memory::session_page(&Shell, memory::SessionProps)` | `GET /agents/{slug}/memory/session?id=` |
//! | `agent::list_page(&Shell, agent::ListProps)` | `GET /agents` |
//! | `agent::page(&Shell, agent::Props)` | `GET /agents/{slug}` |
//! | `view::list_page(&Shell, view::ListProps)` | `GET /views?cursor=` |
//! | `view::page(&Shell, view::Props)` | `GET /views/{slug}?made=` |
//! | `view::editor_page(&Shell, view::EditorProps)` | `GET /views/new` and `GET /views/{slug}/edit` |
//! | `view::preview_fragment(&str, &str, &[Field])` | `POST /views` and `POST /views/{slug}/edit` of a script |
//! | `rule::list_page(&Shell, rule::ListProps)` | `GET /rules?cursor=` |
//! | `rule::page(&Shell, rule::Props)` | `GET /rules/{id}?cursor=` |
//! | `rule::new_page(&Shell, &[rule::Suggested])` | `GET /rules/new` |
//! | `rule::editor_page(&Shell, rule::EditorProps)` | `GET /rules/new?from=` and `GET /rules/{id}/edit` |
//! | `canvas::list_page(&Shell, canvas::ListProps)` | `GET /canvases?cursor=&fromSession=` |
//! | `canvas::page(&Shell, canvas::Props)` | `GET /canvases/{id}` |
//! | `canvas::result_fragment(&Block)` | `GET /canvases/{id}?block=` |
//! | `canvas::versions_page(&Shell, &canvas::VersionsProps)` | `GET /canvases/{id}/versions?at=&from=` |
//! | `canvas::participants_page(&Shell, &canvas::ParticipantsProps)` | `GET /canvases/{id}/participants` |
//! | `tool::list_page(&Shell, tool::ListProps)` | `GET /tools?cursor=` |
//! | `tool::page(&Shell, tool::Props)` | `GET /tools/{slug}?version=` |
//! | `tool::editor_page(&Shell, &tool::Draft, &FormState, &FormState)` | `GET /tools/new` and `GET /tools/{slug}/edit` |
//! | `tool::promote_page(&Shell, &tool::PromoteProps)` | `GET /sessions/{id}/promote?task=&entity=` |
//! | `mcp_server::list_page(&Shell, mcp_server::ListProps)` | `GET /mcp-servers?cursor=` |
//! | `mcp_server::page(&Shell, mcp_server::Props)` | `GET /mcp-servers/{slug}` |
//! | `failure::list_page(&Shell, failure::ListProps)` | `GET /failures?window=&state=&cursor=` |
//! | `failure::cause_page(&Shell, failure::CauseProps)` | `GET /failures/{id}?window=&cursor=` |
//! | `failure::again_page(&Shell, failure::AgainProps)` | `POST /failures/{id}/run-again` and `GET /failures/{id}/run-again?of=` |
//! | `paced_run::list_page(&Shell, paced_run::ListProps)` | `GET /sessions/paced?cursor=` |
//! | `paced_run::page(&Shell, &PacedRunDetail)` | `GET /sessions/paced/{id}` |
//! | `paced_run::progress_fragment(&PacedRun)` | `GET /sessions/paced/{id}/progress` |
//! | `insight::page(&Shell, insight::Props)` | `GET /insights?days=` |
//! | `insight::memory_page(&Shell, insight::MemoryProps)` | `GET /insights/memories` |
//! | `export::page(&Shell, export::Props)` | `GET /export` |
//! | `export::job_page(&Shell, export::JobProps)` | `GET /exports/{id}` |
//! | `export::progress_fragment(&export::Job)` | `GET /exports/{id}/progress` |
//! | `settings::page(&Shell, settings::Props)` | `GET /settings?made=` |
//! | `audit::page(&Shell, audit::Props)` | `GET /settings/audit?kind=&actor=&cursor=` |
//! | `session_memory::page(&Shell, session_memory::Props)` | `GET /sessions/{id}/memories?cursor=` |
//! | `share::page(&Shell, share::Props)` | `GET /sessions/{id}/share?made=` |
//! | `share::list_page(&Shell, share::ListProps)` | `GET /settings/share-links?cursor=` |
//! | `settings::member_page(&Shell, settings::MemberProps)` | `GET /settings/members/{id}?made=` |
//! | `form_page::page(&form_page::Props)` and the pages around it | `GET /views/{slug}/answer`, `/forms/{id}`, `/embed/{token}` |
//! | `shared_page::page(&shared_page::Props)` and the pages around it | `GET /s/{secret}` and `/shared/{id}` |
//! | `link::page(&Shell, &link::Props)`, `link::gone_page(&Shell)` | `GET /link` |
//! | `api_docs::page(&Shell, &serde_json::Value)` | `GET /api/docs` |
//! | `error_page::page(&Shell, &error_page::Failure)` | every error of a page |
//!
//! Every page calls [`render`]. `session::types_of_groups` turns `?kinds=` into the event types to read.

#![cfg_attr(not(any(feature = "ssr", feature = "hydrate")), allow(dead_code, unused))]

#[cfg(all(feature = "ssr", feature = "hydrate"))]
compile_error!("`ssr` and `hydrate` are two builds of this crate, never one");

#[cfg(feature = "ssr")]
pub mod action;
#[cfg(feature = "ssr")]
pub mod agent;
#[cfg(feature = "ssr")]
mod agent_href;
#[cfg(feature = "ssr")]
pub mod api_docs;
#[cfg(feature = "ssr")]
pub mod audit;
#[cfg(feature = "ssr")]
mod bare_document;
#[cfg(feature = "hydrate")]
mod browser;
pub mod canvas;
pub mod chat;
mod count;
#[cfg(feature = "ssr")]
pub mod criteria_set;
pub mod day;
#[cfg(feature = "ssr")]
mod document;
#[cfg(feature = "ssr")]
pub mod entity;
#[cfg(feature = "ssr")]
pub mod error_page;
#[cfg(feature = "ssr")]
pub mod export;
#[cfg(feature = "ssr")]
pub mod failure;
#[cfg(feature = "ssr")]
mod form;
#[cfg(feature = "ssr")]
pub mod form_page;
mod fragment;
pub mod inbox;
#[cfg(feature = "ssr")]
pub mod insight;
#[cfg(feature = "ssr")]
pub mod label;
#[cfg(feature = "ssr")]
pub mod link;
mod lowercase;
#[cfg(feature = "ssr")]
pub mod mcp_server;
#[cfg(feature = "ssr")]
pub mod memory;
#[cfg(feature = "ssr")]
pub mod paced_run;
pub mod palette;
pub mod progress;
#[cfg(feature = "ssr")]
mod render;
#[cfg(feature = "ssr")]
mod result;
#[cfg(feature = "ssr")]
pub mod rule;
#[cfg(feature = "ssr")]
pub mod schema_form;
#[cfg(feature = "ssr")]
pub mod search;
#[cfg(feature = "ssr")]
mod secret_link;
pub mod server_function;
pub mod session;
#[cfg(feature = "ssr")]
pub mod session_memory;
pub mod sessions;
#[cfg(feature = "ssr")]
pub mod settings;
#[cfg(feature = "ssr")]
pub mod setup;
#[cfg(feature = "ssr")]
pub mod share;
#[cfg(feature = "ssr")]
pub mod shared_page;
pub mod shell;
#[cfg(feature = "ssr")]
pub mod sign_in;
#[cfg(feature = "ssr")]
mod text;
pub mod thread;
pub mod today;
#[cfg(feature = "ssr")]
pub mod tool;
#[cfg(feature = "ssr")]
pub mod tool_by_link;
#[cfg(feature = "ssr")]
pub mod trigger;
pub mod ui;
pub mod view;
pub mod working_on;

/// Header with which a script asks the server for a part of a page.
pub const FRAGMENT_HEADER: &str = "x-fragment";

/// Names the workspace and the person for whom a page was rendered, as its attribute `data-owner` does. Scripts send it
/// as a header, forms as a parameter of the address. The server refuses a change if the sign-in is another now.
pub const OWNER_HEADER: &str = "x-shiftbook-owner";

#[cfg(feature = "ssr")]
pub use document::{FAVICON_SVG, render};
#[cfg(feature = "ssr")]
pub use form::{FieldError, FormState};
#[cfg(feature = "ssr")]
pub use sessions::SessionEntry;
#[cfg(feature = "ssr")]
pub use shell::{SavedEntry, Shell, Theme};
#[cfg(feature = "ssr")]
pub use ui::empty::{Connect, Connection, connection_fragment, worker_token_name};
