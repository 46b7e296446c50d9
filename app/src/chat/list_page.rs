//! The page /chat.

use crate::{
    FormState,
    document::render,
    render::{static_html, to_html},
    server_function::page_fields,
    session::one_line,
    sessions::LiveRows,
    shell::{RailEntry, Shell, frame},
    text::shorten,
    thread::StartConversation,
    ui::{
        badge::StatusBadge,
        button::{Button, Look},
        empty::{Connect, ConnectAgent, Empty},
        field::{Choice, Field, Select},
        notice::Refused,
        page_head::PageHead,
        pager::Pager,
        time::moment,
    },
};
use domain::limit::THREAD_MESSAGE_CHARS_MAX;
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::{event::Event, thread::Thread};

/// Longest title in the list, characters.
const TITLE_CHARS_MAX: usize = 160;
/// Longest last message in the list, characters.
const LINE_CHARS_MAX: usize = 140;

/// A conversation with the data of its row.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The conversation.
    pub thread: Thread,
    /// Its newest event with a text.
    pub last: Option<Event>,
}

/// Data of the page /chat.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// The viewer's own conversations on this page, newest first.
    pub entries: Vec<Entry>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Whether this is a page after the first.
    pub is_continued: bool,
    /// Agents, and tasks of agents, that a conversation can be started with: `(value, label)`.
    pub with: Vec<(String, String)>,
    /// `?agent=`: the preselected one.
    pub chosen: Option<String>,
    /// How to connect an agent, shown if there is none.
    pub connect: Connect,
    /// State of the refused form.
    pub form: FormState,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Chat", || {
        let ListProps { entries, next_cursor, is_continued, with, chosen, connect: connecting, form } = props;
        let rows = rows_fragment(&entries);
        let newest = is_continued.then(|| "/chat".to_owned());
        let older = next_cursor.map(|cursor| format!("/chat?cursor={}", crate::text::escape::query(&cursor)));
        let pager = view! { <Pager newest=newest older=older/> };
        let list = if entries.is_empty() {
            let words =
                if is_continued { "There are no older conversations." } else { "You have no conversations yet." };
            view! { <Empty sentence=words small=true/> }.into_any()
        } else {
            view! { <ul class="rows" data-rows="/chat/rows?ids=" inner_html=rows></ul> }.into_any()
        };
        let begin = if with.is_empty() {
            view! {
                <Empty sentence=NO_AGENT link=Some(("New task", "/actions#new".to_owned())) small=true>
                    <ConnectAgent connect=connecting/>
                </Empty>
            }
            .into_any()
        } else {
            begin_form(shell, with, chosen, &form).into_any()
        };
        let page = view! {
            <PageHead title="Chat"/>
            <Refused messages=form.general(&["agent", "message"])/>
            <div class="split chat-split">
                <section class="section" aria-labelledby="chat-own">
                    <div class="section-head"><h2 id="chat-own">"Your conversations"</h2></div>
                    <LiveRows>{static_html(list)}</LiveRows>
                    {static_html(pager)}
                </section>
                <section class="section" aria-labelledby="chat-new">
                    <div class="section-head"><h2 id="chat-new">"New conversation"</h2></div>
                    {static_html(begin)}
                </section>
            </div>
        };
        frame(shell, RailEntry::Chat, page)
    })
}

/// Why no conversation can be started, and what would change that.
const NO_AGENT: &str = "No agent in this workspace can chat yet. Name an agent in a task, or configure one in the \
    server's settings file. Then start a conversation here.";

/// What incognito means, shown next to the first message.
const INCOGNITO_MEANS: &str = "Only you can see this conversation. Other people in the workspace, admins included, cannot \
    find it in lists, by its address or in figures. It stays in the workspace's database until retention erases it, and the \
    operator of the server can read the database. The agent and its model receive what you write, and reviewers see what \
    the agent asks them to approve. A rating stays in the server's memory, without your name.";

fn begin_form(
    shell: &Shell,
    with: Vec<(String, String)>,
    chosen: Option<String>,
    form: &FormState,
) -> impl IntoView + use<> {
    let start = chosen.or_else(|| with.first().map(|(value, _)| value.clone())).unwrap_or_default();
    let typed = format!("\n{}", form.value("message").unwrap_or_default());
    let error = form.error("message").map(str::to_owned);
    let invalid = error.is_some().then_some("true");
    let described = if error.is_some() { "begin-message-error" } else { "begin-hint" };
    let incognito = form.value("incognito").is_some();
    view! {
        <form class="form" method="post" action=StartConversation::PATH>
            {page_fields("/chat/{id}", "/chat")}
            <input type="hidden" name="key" value=shell.form_key.clone()/>
            <Select scope="begin" field=Field::new("agent", "With").required() options=with value=&start form=form/>
            <div class="field">
                <label class="field-label" for="begin-message">"First message"</label>
                <textarea
                    class="input" id="begin-message" name="message" rows="4" required="" data-enter=""
                    maxlength=THREAD_MESSAGE_CHARS_MAX.to_string() aria-invalid=invalid aria-describedby=described
                >
                    {typed}
                </textarea>
                {error.map(|message| view! { <p class="field-error" id="begin-message-error">{message}</p> })}
                <p class="field-hint enter-hint js-only" id="begin-hint">"Press Enter to send, Shift Enter for a new line."</p>
            </div>
            <div class="field">
                <Choice name="incognito" value="true" checked=incognito described_by="incognito-hint">"Incognito"</Choice>
                <p class="field-hint" id="incognito-hint">
                    {INCOGNITO_MEANS}
                </p>
            </div>
            <div class="form-actions"><Button look=Look::Primary>"Start conversation"</Button></div>
        </form>
    }
}

/// Rows of conversations as HTML, for an update after a change.
pub fn rows_fragment(entries: &[Entry]) -> String {
    entries.iter().map(|entry| to_html(row(entry))).collect()
}

fn row(entry: &Entry) -> impl IntoView + use<> {
    let thread = &entry.thread;
    let href = format!("/chat/{}", thread.id);
    let last = entry.last.as_ref().map(|event| one_line(event, LINE_CHARS_MAX)).filter(|line| !line.is_empty());
    view! {
        <li class="row" data-session-id=thread.id.to_string()>
            <StatusBadge status=thread.status/>
            <div class="row-body">
                <a class="row-title" href=href dir="auto">{shorten::one_line(&thread.title, TITLE_CHARS_MAX)}</a>
                <div class="row-sub">
                    {thread.agent_slug.clone().map(|agent| view! { <span>{agent}</span> })}
                    {thread.incognito.then(|| view! { <span>"incognito"</span> })}
                    {last.map(|line| view! { <span class="row-last" dir="auto">{line}</span> })}
                </div>
            </div>
            <span class="row-when">{moment(thread.updated_at)}</span>
        </li>
    }
}
