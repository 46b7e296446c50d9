//! `sessions/.pending/` of an exported memory: a file for each proposal that waits for a decision.

use super::{common::Failure, memory_folder::save};
use client::Client;
use domain::gate::{MemoryProposal, Task};
use similar::TextDiff;
use std::{fs, io, path::Path};
use uuid::Uuid;
use wire::approval::Approval;

/// The folder inside of the exported one. An import leaves it out.
const FOLDER: &str = "sessions/.pending";
/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Writes the proposals of an agent that wait, in place of those of an earlier export. Returns their number.
pub async fn export(client: &Client, agent: &str, root: &Path) -> Result<usize, Failure> {
    remove_old(&root.join(FOLDER))?;
    let mut count = 0;
    let mut cursor: Option<String> = None;
    loop {
        let page = client.list_open_approvals("memory", cursor.as_deref()).await.map_err(Failure::from)?;
        for approval in page.items.iter().filter(|one| one.agent_slug.as_deref() == Some(agent)) {
            let Some(text) = diff_of(approval) else { continue };
            save(root, &format!("{FOLDER}/{}.diff", approval.id), text.as_bytes())?;
            count += 1;
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(count);
        }
    }
}

/// Removes files that an earlier export wrote, and nothing else.
fn remove_old(folder: &Path) -> Result<(), Failure> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::io(format!("cannot read {}", folder.display()))(error)),
    };
    for entry in entries {
        let path = entry.map_err(Failure::io(format!("cannot read {}", folder.display())))?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<Uuid>().ok());
        if stem.is_some() && path.extension().is_some_and(|ending| ending == "diff") {
            fs::remove_file(&path).map_err(Failure::io(format!("cannot remove {}", path.display())))?;
        }
    }
    Ok(())
}

/// The proposal as a unified diff of the body, below lines that say why and from which turns. `patch` reads it.
fn diff_of(approval: &Approval) -> Option<String> {
    let Ok(Task::Memory(proposal)) = Task::parse(approval.task.get()) else { return None };
    let values = approval.proposed.as_ref().and_then(|json| serde_json::from_str(json.get()).ok());
    let body = values.map_or_else(|| proposal.body(), |values| MemoryProposal::body_of(&values));
    let line = |text: &str| text.replace(|c: char| c.is_control(), " ");
    let mut head = vec![
        format!("proposal {}", approval.id),
        format!("document {} at version {}", proposal.path, proposal.base_version),
        format!("why      {}", line(&proposal.reason)),
    ];
    head.extend(approval.flags.iter().map(|flag| format!("flag     {}", line(flag))));
    head.extend(proposal.turns.iter().map(|turn| format!("turn     {} {}", turn.session, turn.sequence)));
    let diff = TextDiff::from_lines(proposal.base.as_str(), body.as_str());
    let mut diff = diff.unified_diff();
    diff.context_radius(CONTEXT).header(&proposal.path, &proposal.path);
    Some(format!("{}\n\n{diff}", head.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_an_earlier_export_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("0193b0a0-0000-7000-8000-000000000001.diff");
        let note = folder.path().join("note.diff");
        fs::write(&old, "x").unwrap();
        fs::write(&note, "x").unwrap();
        remove_old(folder.path()).unwrap();
        assert!(!old.exists() && note.exists());
        remove_old(&folder.path().join("absent")).unwrap();
    }
}
