//! What the programs print that link a crate of the product, because nothing here does.

use anyhow::{Context as _, Result, ensure};
use std::{collections::HashMap, process::Command};

/// What a program prints: `name: figure`, some with a unit.
pub struct Figures(HashMap<String, f64>);

impl Figures {
    /// Runs a program to its end.
    pub fn of(program: &mut Command) -> Result<Self> {
        let output = program.output().with_context(|| format!("cannot run {program:?}"))?;
        ensure!(output.status.success(), "{program:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(Self::read(&String::from_utf8_lossy(&output.stdout)))
    }

    fn read(text: &str) -> Self {
        let figure = |line: &str| {
            let (name, figure) = line.split_once(": ")?;
            Some((name.to_owned(), figure.split(' ').next()?.parse().ok()?))
        };
        Self(text.lines().filter_map(figure).collect())
    }

    /// The figure of this name.
    pub fn get(&self, name: &str) -> Result<f64> {
        self.0.get(name).copied().with_context(|| format!("the program says nothing of {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_with_and_without_a_unit() {
        let figures = Figures::read("lines: 300\nseconds: 0.16\npeak memory: 69500 kB\nnonsense\n");
        assert_eq!(["lines", "seconds", "peak memory"].map(|name| figures.get(name).unwrap()), [300.0, 0.16, 69_500.0]);
        assert!(figures.get("wrong").is_err());
    }
}
