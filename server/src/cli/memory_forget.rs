//! `shiftbook memory forget` and `remember`: a person in the memories of all agents.

use super::common::{Failure, print_line};
use clap::builder::NonEmptyStringValueParser;
use client::Client;
use domain::{count::counted, id::SessionId};
use wire::memory_forget::{ForgetPerson, ForgottenPerson, RememberPerson};

/// The server and the token.
#[derive(Debug, clap::Args)]
struct Server {
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    url: String,
    /// API token of an admin; set it in the environment
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    token: String,
}

impl Server {
    fn client(&self) -> Result<Client, Failure> {
        Client::new(&self.url, &self.token).map_err(|error| Failure::Misused(error.to_string()))
    }
}

/// Options of `memory forget`.
#[derive(Debug, clap::Args)]
pub struct ForgetArgs {
    /// Platform and id, such as discord-1234, or the path of the person's document
    #[arg(long, value_name = "PLATFORM-ID", value_parser = NonEmptyStringValueParser::new(), required_unless_present = "session")]
    person: Option<String>,
    /// Delete the training data of this session instead; also for its person, with their token
    #[arg(long, value_name = "ID", conflicts_with_all = ["person", "names"])]
    session: Option<SessionId>,
    /// Look for this name, instead of the names in the person's documents; may be repeated
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// Erase, instead of printing what would be erased
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    server: Server,
}

/// Options of `memory remember`.
#[derive(Debug, clap::Args)]
pub struct RememberArgs {
    /// Platform and id, such as discord-1234
    #[arg(long, value_name = "PLATFORM-ID", value_parser = NonEmptyStringValueParser::new())]
    person: String,
    #[command(flatten)]
    server: Server,
}

fn failed(error: client::Error) -> Failure {
    Failure::Failed(error.to_string())
}

/// Prints what is known about a person, or erases it.
pub async fn forget(args: ForgetArgs) -> Result<(), Failure> {
    let client = args.server.client()?;
    if let Some(id) = args.session {
        return forget_session(&client, id, args.apply).await;
    }
    let names = (!args.names.is_empty()).then_some(args.names);
    let body = ForgetPerson { person: args.person.unwrap_or_default(), names, apply: args.apply };
    let found = client.forget_person(&body).await.map_err(failed)?;
    for line in report(&found) {
        print_line(&line)?;
    }
    Ok(())
}

/// Deletes the training data of a session. Prints how much it was, and the exports that can have it.
async fn forget_session(client: &Client, id: SessionId, apply: bool) -> Result<(), Failure> {
    if !apply {
        return print_line("the training data of this session would be deleted; repeat it with --apply");
    }
    let found = client.forget_interactions(id).await.map_err(failed)?;
    print_line(&format!("{} deleted; nothing more of it is captured", counted(found.interactions, "captured answer")))?;
    for export in &found.kept {
        print_line(&format!("kept: files that can have them: {}", visible(export)))?;
    }
    if !found.files_rewritten {
        print_line("kept: files of training data could not be rewritten; the next run of retention removes the lines")?;
    }
    Ok(())
}

/// Lets a person be remembered again.
pub async fn remember(args: RememberArgs) -> Result<(), Failure> {
    let client = args.server.client()?;
    let person = client.remember_person(&RememberPerson { person: args.person }).await.map_err(failed)?;
    print_line(&format!("{}: what they say from now on may be remembered", person.path))?;
    if person.is_shared {
        print_line("others whom earlier versions gave the same path may be remembered again too")?;
    }
    Ok(())
}

/// A text with its control characters as `·`.
fn visible(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\t', "·")
}

/// The answer as lines.
fn report(found: &ForgottenPerson) -> Vec<String> {
    let mut lines = vec![format!("names: {}", visible(&found.names.join(", ")))];
    for document in &found.documents {
        let what = if document.is_whole { "whole document" } else { "lines" };
        let versions = counted(document.versions, "version");
        lines.push(format!("{}/{}: {what}, {versions}", document.agent, visible(&document.path)));
        lines.extend(document.lines.iter().map(|one| format!("  -{} {} ({})", one.line, visible(&one.text), one.why)));
    }
    for proposal in &found.proposals {
        let state = if proposal.waits { "waits" } else { "decided" };
        lines.push(format!("proposal ({state}): {}/{}", proposal.agent, visible(&proposal.path)));
    }
    for lead in &found.leads {
        let email = lead.email.as_ref().map(|email| format!(" <{email}>")).unwrap_or_default();
        lines.push(format!(
            "lead: {}{}, {}",
            visible(&lead.name),
            visible(&email),
            counted(lead.responses, "response")
        ));
    }
    if found.denials > 0 {
        lines.push(format!("denied lines: {}", found.denials));
    }
    lines.extend(found.kept.iter().map(|sentence| format!("kept: {}", visible(sentence))));
    let word = if found.applied { "erased" } else { "would be erased; repeat it with --apply" };
    let documents = counted(found.documents.len() as u64, "document");
    let proposals = counted(found.proposals.len() as u64, "proposal");
    let answers = counted(found.interactions, "captured answer");
    lines.push(format!("{documents}, {proposals} and {answers} {word}"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::memory_forget::RemovalReason;
    use wire::memory_forget::{ForgottenDocument, ForgottenLead, ForgottenLine};

    #[test]
    fn the_answer_says_what_goes_and_what_is_kept() {
        let line = ForgottenLine { line: 3, text: "- Ines\u{1b}".into(), why: RemovalReason::Named };
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
            short_names: Vec::new(),
            documents: vec![document],
            proposals: Vec::new(),
            denials: 1,
            leads: vec![ForgottenLead {
                entity_id: "0193b0a0-0000-7000-8000-0000000000e1".parse().unwrap(),
                name: "Ines".into(),
                email: Some("ines@example.org".into()),
                responses: 1,
            }],
            promoted: Vec::new(),
            interactions: 2,
            kept: vec!["Logs.".into()],
        };
        let expected = [
            "names: Ines",
            "scout/topics/a.md: lines, 2 versions",
            "  -3 - Ines· (named)",
            "lead: Ines <ines@example.org>, 1 response",
            "denied lines: 1",
            "kept: Logs.",
            "1 document, 0 proposals and 2 captured answers would be erased; repeat it with --apply",
        ];
        assert_eq!(report(&found), expected);
    }
}
