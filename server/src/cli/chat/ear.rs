//! What is typed: line by line, from a terminal with editing and history, or from a pipe.
//!
//! The history is in memory and ends with the command: what people say is nobody's file.

use super::super::run::Failure;
use rustyline::{Config, DefaultEditor, error::ReadlineError};
use std::io::{IsTerminal as _, Write as _};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines, Stdin},
    select,
    signal::ctrl_c,
};

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// A line.
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of a pipe.
    End,
}

/// What is shown before a line.
#[derive(Debug, Clone, Copy)]
pub enum Prompt<'a> {
    /// The person's turn: shown on terminals alone.
    Turn(&'a str),
    /// A question: always shown, and its answer is not part of the history.
    Question(&'a str),
}

/// Where lines come from.
pub enum Ear {
    /// Given away while somebody types.
    Terminal(Option<Box<DefaultEditor>>),
    /// Not a terminal.
    Pipe(Lines<BufReader<Stdin>>),
}

impl Ear {
    /// Standard input.
    pub fn open() -> Result<Self, Failure> {
        if !std::io::stdin().is_terminal() {
            return Ok(Self::Pipe(BufReader::new(tokio::io::stdin()).lines()));
        }
        let config = Config::builder().auto_add_history(false).build();
        let editor = DefaultEditor::with_config(config);
        let editor = editor.map_err(|error| Failure::BadNews(format!("the terminal cannot be used: {error}")))?;
        Ok(Self::Terminal(Some(Box::new(editor))))
    }

    /// Waits for a line.
    pub async fn hear(&mut self, prompt: Prompt<'_>) -> Result<Heard, Failure> {
        match self {
            Self::Terminal(editor) => {
                let gone = || Failure::BadNews("the terminal is gone".into());
                let mut typing = editor.take().ok_or_else(gone)?;
                let (shown, remembers) = match prompt {
                    Prompt::Turn(text) => (text.to_owned(), true),
                    Prompt::Question(text) => (format!("{text} "), false),
                };
                // Typing takes as long as it takes: it has a thread of its own.
                let typed = tokio::task::spawn_blocking(move || {
                    let typed = typing.readline(&shown);
                    (typing, typed)
                });
                let (mut typing, typed) = typed.await.map_err(|_| gone())?;
                if let (Ok(line), true) = (&typed, remembers) {
                    // A line that is not remembered is a line all the same.
                    let _ = typing.add_history_entry(line.trim());
                }
                *editor = Some(typing);
                heard(typed)
            }
            Self::Pipe(lines) => {
                if let Prompt::Question(text) = prompt {
                    super::run::print(&format!("{text}\n"))?;
                }
                select! {
                    line = lines.next_line() => match line {
                        Ok(Some(line)) => Ok(Heard::Line(line)),
                        Ok(None) => Ok(Heard::End),
                        Err(error) => Err(Failure::io("cannot read standard input")(error)),
                    },
                    _ = ctrl_c() => Ok(Heard::Interrupted),
                }
            }
        }
    }
}

fn heard(typed: Result<String, ReadlineError>) -> Result<Heard, Failure> {
    match typed {
        Ok(line) => Ok(Heard::Line(line)),
        Err(ReadlineError::Interrupted) => Ok(Heard::Interrupted),
        Err(ReadlineError::Eof) => {
            // The cursor stands behind the prompt.
            let _ = writeln!(std::io::stdout());
            Ok(Heard::End)
        }
        Err(ReadlineError::Io(error)) => Err(Failure::io("cannot read the terminal")(error)),
        Err(error) => Err(Failure::BadNews(format!("cannot read the terminal: {error}"))),
    }
}
