//! `shiftbook agent card FILE`: gives an agent a character card.

use super::{
    common::{Failure, print_line},
    memory::Server,
    memory_card::{overwrites, overwritten},
};
use domain::{limit::MEMORY_CARD_BYTES_MAX, memory::CardFormat};
use std::{io::Read, path::PathBuf};

/// What can be done with an agent.
#[derive(Debug, clap::Subcommand)]
pub enum AgentCommand {
    /// Give an agent a character card of version 2 or 3, as PNG or JSON
    Card(CardArgs),
}

/// Options of `agent card`.
#[derive(Debug, clap::Args)]
pub struct CardArgs {
    /// The card
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write over documents below self/ that were changed since the last card
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    server: Server,
}

/// Runs the command.
pub async fn run(command: AgentCommand) -> Result<(), Failure> {
    let AgentCommand::Card(args) = command;
    let mut bytes = Vec::new();
    let most = MEMORY_CARD_BYTES_MAX as u64 + 1;
    let read = std::fs::File::open(&args.file).and_then(|open| open.take(most).read_to_end(&mut bytes));
    read.map_err(Failure::io(format!("cannot read {}", args.file.display())))?;
    if bytes.len() > MEMORY_CARD_BYTES_MAX {
        return Err(Failure::Misused(format!("a card has at most {MEMORY_CARD_BYTES_MAX} bytes")));
    }
    let media_type = CardFormat::of(&bytes).as_str();
    let client = args.server.client()?;
    let put = client.put_card(&args.server.agent, media_type, bytes, args.overwrite).await;
    let uploaded = put.map_err(|error| match overwritten(&error) {
        Some(paths) => Failure::Failed(format!("{}. Repeat it with --overwrite", overwrites(&paths))),
        None => Failure::Failed(error.to_string()),
    })?;
    if !uploaded.is_new {
        return print_line(&format!("{} has this card already", args.server.agent));
    }
    for path in &uploaded.changed {
        print_line(path)?;
    }
    print_line(&format!("{} is {} now", args.server.agent, uploaded.card.name))
}
