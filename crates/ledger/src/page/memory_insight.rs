//! The page about which memories help, and what the model that orders them is worth.

use crate::{Ledger, Result, guard::require};
use domain::{
    Scope,
    limit::{MEMORY_FIGURES_MAX, MEMORY_RANKERS_MAX},
    relevance::WORTH_FROM,
    role::Permission,
};
use std::cmp::Reverse;
use store::memory_ranker::RankerRecord;

pub use store::memory_figure::MemoryFigure;

/// Documents in one list.
const LISTED: usize = 20;

/// Data of the page.
#[derive(Debug)]
pub struct Page {
    /// Memories that agents were given: the newest [`MEMORY_FIGURES_MAX`].
    pub given: u64,
    /// Those of them that were rated.
    pub rated: u64,
    /// Those of them that were used.
    pub used: u64,
    /// Documents with three or more ratings and the best mean, the best first.
    pub helpful: Vec<MemoryFigure>,
    /// Documents that were given three times or more and never used or rated above 0, the most often given first.
    pub unused: Vec<MemoryFigure>,
    /// Documents with three or more ratings and a mean below 0, the worst first.
    pub harmful: Vec<MemoryFigure>,
    /// Number of documents with fewer ratings: too few to tell.
    pub few: u64,
    /// Versions of the model that orders memories, newest first.
    pub rankers: Vec<RankerRecord>,
}

/// Reads the page.
pub async fn read(ledger: &Ledger, scope: &Scope) -> Result<Page> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        let figures = store::memory_figure::by_document(conn, tenant_id, MEMORY_FIGURES_MAX).await?;
        let rankers = store::memory_ranker::list(conn, tenant_id, MEMORY_RANKERS_MAX + 1).await?;
        Ok(page(&figures, rankers))
    });
    read.await
}

fn page(figures: &[MemoryFigure], rankers: Vec<RankerRecord>) -> Page {
    let sum = |of: fn(&MemoryFigure) -> u64| figures.iter().map(of).sum();
    let mean = |figure: &MemoryFigure| figure.mean.unwrap_or_default();
    let few = figures.iter().filter(|figure| (1..WORTH_FROM).contains(&figure.rated)).count() as u64;
    let rated_as = |is_listed: fn(f64) -> bool| -> Vec<MemoryFigure> {
        let enough = figures.iter().filter(|figure| figure.rated >= WORTH_FROM);
        enough.filter(|figure| is_listed(mean(figure))).cloned().collect()
    };
    let mut helpful = rated_as(|mean| mean > 0.0);
    helpful.sort_by(|one, other| mean(other).total_cmp(&mean(one)).then(other.rated.cmp(&one.rated)));
    let mut harmful = rated_as(|mean| mean < 0.0);
    harmful.sort_by(|one, other| mean(one).total_cmp(&mean(other)).then(other.rated.cmp(&one.rated)));
    let is_unused = |figure: &&MemoryFigure| figure.given >= WORTH_FROM && figure.used == 0 && mean(figure) <= 0.0;
    let mut unused: Vec<MemoryFigure> = figures.iter().filter(is_unused).cloned().collect();
    unused.sort_by_key(|figure| Reverse(figure.given));
    [&mut helpful, &mut unused, &mut harmful].into_iter().for_each(|list| list.truncate(LISTED));
    let (given, rated, used) = (sum(|f| f.given), sum(|f| f.rated), sum(|f| f.used));
    Page { given, rated, used, helpful, unused, harmful, few, rankers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_listed_by_what_their_memories_were_worth() {
        let figure = |path: &str, (given, used, rated): (u64, u64, u64), mean: Option<f64>| MemoryFigure {
            agent: "scout".into(),
            path: path.into(),
            given,
            used,
            rated,
            mean,
        };
        let figures = [
            figure("a", (5, 2, 3), Some(0.5)),
            figure("b", (5, 0, 3), Some(0.9)),
            figure("g", (2, 0, 2), Some(1.0)),
            figure("h", (2, 0, 1), Some(-1.0)),
            figure("c", (9, 0, 0), None),
            figure("d", (4, 0, 3), Some(-0.5)),
            figure("e", (2, 0, 0), None),
            figure("f", (3, 1, 0), None),
        ];
        let page = page(&figures, Vec::new());
        let paths = |list: &[MemoryFigure]| list.iter().map(|one| one.path.clone()).collect::<String>();
        assert_eq!((page.given, page.rated, page.used, page.few), (32, 12, 3, 2));
        assert_eq!(
            (paths(&page.helpful), paths(&page.unused), paths(&page.harmful)),
            ("ba".into(), "cd".into(), "d".into())
        );
    }
}
