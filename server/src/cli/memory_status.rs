//! `shiftbook memory status`: how many memory documents have vectors.

use super::{
    common::{Failure, open, print_line},
    instance_key::KeyFlags,
};
use domain::count::counted;
use ledger::{
    Mode,
    memory_vector::{AgentVectorStatus, status_by_operator},
};

/// Options of `memory status`.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// Slug of the workspace
    #[arg(long, alias = "workspace", value_name = "SLUG")]
    tenant: String,
    #[command(flatten)]
    flags: KeyFlags,
}

/// Prints a line for each agent of a workspace.
pub async fn status(args: StatusArgs) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let ledger = open(&settings, Mode::Tool).await?;
    let found = status_by_operator(&ledger, &args.tenant).await;
    ledger.close().await;
    let found = found?;
    if found.is_empty() {
        return print_line("no agent has a memory");
    }
    for agent in &found {
        print_line(&line(agent))?;
    }
    Ok(())
}

/// What is known of one agent.
fn line(status: &AgentVectorStatus) -> String {
    let documents = counted(status.documents, "document");
    let agent = &status.agent;
    let mut line = if status.made.is_empty() {
        format!("{agent}: {documents}, none with vectors")
    } else {
        let made = status.made.iter().map(|(model, made)| format!("{made} by {model}")).collect::<Vec<_>>().join(", ");
        format!("{agent}: {documents}; with vectors: {made}; pending: {}", status.pending())
    };
    if status.empty > 0 {
        line.push_str(&format!("; without text or refused: {}", status.empty));
    }
    if let Some(failure) = &status.failure {
        line.push_str(&format!("; the last attempt failed: {failure}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_without_vectors_are_pending() {
        let status = |documents, made: &[(&str, u64)]| {
            let made = made.iter().map(|(model, made)| ((*model).to_owned(), *made)).collect();
            line(&AgentVectorStatus { agent: "scout".into(), documents, made, empty: 0, failure: None })
        };
        assert_eq!(status(1, &[]), "scout: 1 document, none with vectors");
        assert_eq!(status(40, &[("static-1", 7)]), "scout: 40 documents; with vectors: 7 by static-1; pending: 33");
        let both = "scout: 3 documents; with vectors: 2 by a, 1 by b; pending: 0";
        assert_eq!(status(3, &[("a", 2), ("b", 1)]), both);
    }

    #[test]
    fn failures_and_documents_without_vectors_are_named() {
        let failure = Some("the service answered 503".to_owned());
        let made = vec![("m 8".to_owned(), 4)];
        let status = AgentVectorStatus { agent: "scout".into(), documents: 7, made, empty: 1, failure };
        let wanted = "scout: 7 documents; with vectors: 4 by m 8; pending: 3; without text or refused: 1; the last attempt \
                      failed: the service answered 503";
        assert_eq!(line(&status), wanted);
    }
}
