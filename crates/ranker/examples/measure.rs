//! Times for `docs/memory-ranker.md`: `cargo run --release -p ranker --example measure -- 1000000`.

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/simulator/mod.rs"]
mod simulator;

use ranker::{FEATURES, learn};
use simulator::{Rater, World, samples};
use std::time::Instant;

fn main() {
    let rows: u64 = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let start = Instant::now();
    // A session has three prompts with eight rated memories each.
    let all = samples(World::Habits, &[Rater::Honest, Rater::Biased, Rater::PositionBound], rows / 24, 1);
    println!("{} samples made in {:?}", all.len(), start.elapsed());
    let start = Instant::now();
    let learned = learn(all, 7, |progress| {
        if progress.done.is_multiple_of(100) {
            println!("{:?} {:?}", start.elapsed(), progress.step);
        }
    });
    println!("{:?}: {:?}", start.elapsed(), learned.refusal);
    let Some((model, report)) = learned.fitted else { return };
    println!("{} trees, {} nodes, {} bytes, {report:#?}", model.trees(), model.nodes(), model.to_bytes().len());
    let candidates: Vec<[f32; FEATURES]> = (0..200).map(|at| [at as f32 / 200.0; FEATURES]).collect();
    let start = Instant::now();
    let sum: f64 = (0..1_000).flat_map(|_| &candidates).map(|features| model.score(features)).sum();
    println!("200 candidates: {:?} ({sum:.0})", start.elapsed() / 1_000);
}
