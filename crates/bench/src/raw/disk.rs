//! What one durable write costs just now: it differs by a factor of 40 between a quiet and a busy machine.

use crate::histogram::Histogram;
use anyhow::Result;
use std::{fs::File, io::Write as _, path::Path, time::Instant};

const WRITES: usize = 100;
const WRITE_BYTES: usize = 4096;

/// The median time of a small append and its fdatasync, in microseconds.
pub fn sync_us(work: &Path) -> Result<f64> {
    let mut file = File::create(work.join("sync"))?;
    let mut times = Histogram::new()?;
    for _ in 0..WRITES {
        let began = Instant::now();
        file.write_all(&[7; WRITE_BYTES])?;
        file.sync_data()?;
        times.record(began.elapsed());
    }
    Ok(times.quantile_us(0.5))
}
