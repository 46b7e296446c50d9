//! The commands of Anthropic's memory tool over an agent's documents. A refusal is an answer for the model, not an
//! error of the request.

use super::{
    Change, Listing, Write, check_agent, delete, list, read_on, rename,
    write::{source_of, write_with_origin},
};
use crate::{Error, Ledger, ListPage, Result, guard::require};
use domain::{
    Scope,
    id::SessionId,
    limit::PAGE_MAX,
    memory::{
        Evidence, Folder, MemoryPath, Source, ToolCommand, ToolError, document_path, existing_path, insert, inside,
        size, snippet, str_replace, tool_path, view,
    },
    role::Permission,
};
use store::MemoryDocumentRecord;

/// The root of the tool's paths.
const ROOT: &str = "/memories";

/// What a client that knows other stores has to know: it would make files and folders of its own.
const ALLOWED: &str = "(Files are /memories/people/NAME.md, /memories/sessions/NAME.md and /memories/topics/NAME.md. \
     There are no other folders. Agents cannot change /memories/self.)";

/// What a replacement answers, above the lines around it.
const EDITED: &str = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The text for the model.
    pub text: String,
    /// Whether the command was refused.
    pub is_error: bool,
    /// The newest version of the document, if the command wrote one.
    pub version: Option<u64>,
}

/// A caller of the tool.
struct Call<'a> {
    ledger: &'a Ledger,
    scope: &'a Scope,
    agent: &'a str,
    session_id: Option<SessionId>,
    /// The event that a write comes from.
    sequence: Option<u64>,
}

/// What goes wrong: an answer for the model, or an error of the request.
enum Stop {
    Tool(ToolError),
    Request(Error),
}

impl From<ToolError> for Stop {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

type Answer<T> = std::result::Result<T, Stop>;

/// Runs a command of the memory tool. `session_id` and `sequence` name the turn in which the agent uses the tool; what
/// it writes then records that turn as its origin. An agent that names only its session comes from the session's newest
/// event.
///
/// # Errors
/// [`Error::NotFound`] if `agent` is not a slug; [`Error::Forbidden`] as for [`super::write()`]. What a model can
/// correct is an answer with `is_error`.
pub async fn tool(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    session_id: Option<SessionId>,
    sequence: Option<u64>,
    command: ToolCommand,
) -> Result<ToolAnswer> {
    require(scope, Permission::WriteMemory)?;
    check_agent(agent)?;
    let (reader, name) = (*scope, agent.to_owned());
    let newest = ledger.snapshot(scope, async move |conn| {
        // A worker reads no other agent's memory through the tool either.
        let source = source_of(conn, &reader, &name, session_id).await?;
        let Some(id) = session_id.filter(|_| source == Source::Agent) else { return Ok(None) };
        let session = store::session::find(conn, reader.tenant_id, id).await?;
        Ok(session.map(|session| session.head_sequence).filter(|head| *head > 0))
    });
    let newest = newest.await?;
    let call = Call { ledger, scope, agent, session_id, sequence: sequence.or(newest) };
    match call.run(command).await {
        Ok((text, version)) => Ok(ToolAnswer { text, is_error: false, version }),
        Err(Stop::Tool(refused)) => Ok(ToolAnswer { text: refused.to_string(), is_error: true, version: None }),
        Err(Stop::Request(error)) => match for_the_model(&error) {
            Some(text) => Ok(ToolAnswer { text, is_error: true, version: None }),
            None => Err(error),
        },
    }
}

/// The text of an error that a model can do something about.
fn for_the_model(error: &Error) -> Option<String> {
    match error {
        Error::Invalid(issues) => {
            let parts: Vec<_> = issues.iter().map(|issue| format!("{}: {}", issue.field, issue.message)).collect();
            Some(format!("Error: {}", parts.join("; ")))
        }
        Error::LimitReached(why) => Some(format!("Error: {why}")),
        Error::Forbidden(why) if why.contains("self/") => Some(format!("Error: {why}")),
        Error::MemoryConflict(_) => {
            Some("Error: the file changed in the meantime. View it again and repeat the command.".to_owned())
        }
        _ => None,
    }
}

/// A document that a command is about, as it is now.
struct CurrentDocument {
    path: MemoryPath,
    record: MemoryDocumentRecord,
    text: String,
}

impl Call<'_> {
    async fn run(&self, command: ToolCommand) -> Answer<(String, Option<u64>)> {
        match command {
            ToolCommand::View { path, view_range } => Ok((self.view(&path, view_range).await?, None)),
            ToolCommand::Create { path, file_text } => {
                let at = document_path(&path)?;
                if self.find(&at).await?.is_some() {
                    return Err(ToolError::Exists(path).into());
                }
                let lines = file_text.lines().count();
                let version = match self.write(at, 0, file_text, 1..=lines).await {
                    Err(Stop::Request(Error::MemoryConflict(_))) => return Err(ToolError::Exists(path).into()),
                    written => written?,
                };
                Ok((format!("File created successfully at: {path}"), Some(version)))
            }
            ToolCommand::StrReplace { path, old_str, new_str } => {
                let CurrentDocument { path: at, record, text } = self.existing(&path).await?;
                let edited = str_replace(&path, &text, &old_str, &new_str)?;
                let lines = edited.from..=edited.from + edited.lines - 1;
                let shown = snippet(&edited.text, edited.from);
                let version = self.write(at, record.version, edited.text, lines).await?;
                Ok((format!("{EDITED}\n{shown}"), Some(version)))
            }
            ToolCommand::Insert { path, insert_line, insert_text } => {
                let CurrentDocument { path: at, record, text } = self.existing(&path).await?;
                let edited = insert(&text, insert_line, &insert_text)?;
                let lines = edited.from..=edited.from + edited.lines - 1;
                let version = self.write(at, record.version, edited.text, lines).await?;
                Ok((format!("The file {path} has been edited."), Some(version)))
            }
            ToolCommand::Delete { path } => {
                if inside(&path)?.is_empty() {
                    return Err(ToolError::DeletesRoot.into());
                }
                let (at, document) = self.named(&path).await?;
                let deleted = delete(self.ledger, self.scope, self.agent, at, self.change(document.version)).await?;
                Ok((format!("Successfully deleted {path}"), Some(deleted.version)))
            }
            ToolCommand::Rename { old_path, new_path } => {
                if inside(&old_path)?.is_empty() {
                    return Err(ToolError::RenamesRoot.into());
                }
                let (at, document) = self.named(&old_path).await?;
                let to = document_path(&new_path)?;
                let change = self.change(document.version);
                match rename(self.ledger, self.scope, self.agent, at, to, change).await {
                    Ok(renamed) => {
                        Ok((format!("Successfully renamed {old_path} to {new_path}"), Some(renamed.version)))
                    }
                    Err(Error::NameTaken(_)) => Err(ToolError::Destination(new_path).into()),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    fn change(&self, base_version: u64) -> Change {
        Change { base_version, reason: "With the memory tool.".to_owned(), session_id: self.session_id }
    }

    async fn find(&self, path: &MemoryPath) -> Answer<Option<(MemoryDocumentRecord, String)>> {
        let (tenant_id, agent, path) = (self.scope.tenant_id, self.agent.to_owned(), path.clone());
        let read = self.ledger.snapshot(self.scope, async move |conn| read_on(conn, tenant_id, &agent, &path).await);
        let found = read.await?.filter(|found| !found.document.is_deleted);
        Ok(found.map(|found| (found.document, found.text)))
    }

    async fn existing(&self, path: &str) -> Answer<CurrentDocument> {
        let at = existing_path(path)?;
        match self.find(&at).await? {
            Some((record, text)) => Ok(CurrentDocument { path: at, record, text }),
            None => Err(ToolError::Missing(path.to_owned()).into()),
        }
    }

    /// The document that is to be deleted or renamed.
    async fn named(&self, path: &str) -> Answer<(MemoryPath, MemoryDocumentRecord)> {
        match self.existing(path).await {
            Ok(current) => Ok((current.path, current.record)),
            Err(Stop::Tool(ToolError::Missing(path))) => Err(ToolError::Absent(path).into()),
            Err(Stop::Tool(ToolError::NotAFile(path))) => {
                Err(ToolError::Refused(format!("the folder {path} stays as it is")).into())
            }
            Err(other) => Err(other),
        }
    }

    async fn write(
        &self,
        path: MemoryPath,
        base_version: u64,
        text: String,
        lines: std::ops::RangeInclusive<usize>,
    ) -> Answer<u64> {
        let last = text.lines().count();
        let evidence = match (self.session_id, self.sequence) {
            (Some(session), Some(sequence)) => lines
                .filter(|line| *line <= last)
                .filter_map(|line| Some(Evidence { line: u32::try_from(line).ok()?, session, sequence }))
                .collect(),
            _ => Vec::new(),
        };
        let reason = "With the memory tool.".to_owned();
        let write_it = Write { base_version, text, reason, evidence, session_id: self.session_id, is_import: false };
        let written = write_with_origin(self.ledger, self.scope, self.agent, path, write_it).await?;
        Ok(written.document.version)
    }

    async fn view(&self, path: &str, range: Option<[i64; 2]>) -> Answer<String> {
        let inner = inside(path)?;
        let folder = Folder::parse(inner);
        if inner.is_empty() || folder.is_some() {
            return self.view_folder(path, folder).await;
        }
        let numbered = view(&self.existing(path).await?.text, range);
        Ok(format!("Here's the content of {path} with line numbers:\n{numbered}"))
    }

    async fn view_folder(&self, path: &str, folder: Option<Folder>) -> Answer<String> {
        let page = ListPage { limit: PAGE_MAX, cursor: None };
        let listed = list(self.ledger, self.scope, self.agent, Listing { folder, page, ..Listing::default() }).await?;
        let bytes = |inside: &str| -> u64 {
            let documents = listed.items.iter().filter(|document| document.path.starts_with(inside));
            documents.map(|document| document.bytes).sum()
        };
        let row = |bytes: u64, path: &str| format!("{}\t{path}", size(bytes));
        let mut lines =
            vec![format!("Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:")];
        // A folder is shown when it is empty, too: a document can be in these folders only.
        let mut folders = Folder::ALL.map(Folder::as_str).to_vec();
        folders.retain(|name| folder.is_none_or(|one| one.as_str() == *name));
        folders.sort_unstable();
        lines.push(row(bytes(""), path));
        for name in folders {
            let inside = format!("{name}/");
            if folder.is_none() {
                lines.push(row(bytes(&inside), &format!("{ROOT}/{name}/")));
            }
            let documents = listed.items.iter().filter(|document| document.path.starts_with(&inside));
            lines.extend(documents.map(|document| row(document.bytes, &tool_path(&document.path))));
        }
        if listed.next_cursor.is_some() {
            lines.push(format!("(the first {PAGE_MAX} files; view one folder to see fewer)"));
        }
        if folder.is_none() {
            lines.push(ALLOWED.to_owned());
        }
        Ok(lines.join("\n"))
    }
}
