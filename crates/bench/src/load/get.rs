//! Reads: the same page again and again.

use super::{Script, expect};
use crate::http::{Answer, Request};
use anyhow::Result;

/// A reader of one page.
pub struct GetScript(pub Request);

impl Script for GetScript {
    fn request(&mut self) -> Option<&[u8]> {
        Some(self.0.bytes())
    }

    fn settle(&mut self, answer: &Answer<'_>) -> Result<u64> {
        expect(answer, 200)?;
        Ok(1)
    }
}
