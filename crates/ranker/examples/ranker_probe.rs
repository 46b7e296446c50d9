//! Times how long the candidates of one prompt take: their features, a model's scores and the share of the formula.
//! `ranker_probe MODEL CANDIDATES ROUNDS` reads a model as `memory_rankers` has it, and prints the median of the rounds
//! in microseconds and the size of the model. `cargo xtask bench` runs it.

use ranker::{ALPHA_LEAST, Facts, Folder, Model, features, mixed};
use std::{env, error::Error, fs, hint::black_box, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [model, candidates, rounds] = words.as_slice() else {
        return Err("ranker_probe MODEL CANDIDATES ROUNDS".into());
    };
    let model = Model::from_bytes(&fs::read(model)?)?;
    let (candidates, rounds): (u32, u32) = (candidates.parse()?, rounds.parse()?);
    let candidates: Vec<Facts> = (0..candidates).map(facts).collect();
    let formula = vec![0.5; candidates.len()];
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let begun = Instant::now();
        let most = candidates.iter().map(|facts| facts.bm25).fold(0.0, f64::max);
        let predicted: Vec<f64> = candidates.iter().map(|facts| model.score(&features(facts, most, 0))).collect();
        black_box(mixed(ALPHA_LEAST, &formula, &predicted));
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    println!("microseconds: {:.1}", times[times.len() / 2]);
    println!("trees: {}", model.trees());
    println!("nodes: {}", model.nodes());
    Ok(())
}

/// Values that lead through different parts of the trees.
fn facts(at: u32) -> Facts {
    Facts {
        bm25: f64::from(at * 37 % 90) / 10.0,
        similarity: None,
        recency_d: f64::from(at * 53 % 90),
        importance: 0.5,
        uses_30d: at % 5,
        same_person: false,
        same_channel: at.is_multiple_of(2),
        folder: Folder::Topics,
        tokens: 5 + at * 31 % 155,
    }
}
