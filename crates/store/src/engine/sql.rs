//! What the queries of all tables share: pages of lists, patterns, and statements of several rows.

/// SQL texts with their names: the paths of their constants, such as `store::action::BY_ID`.
pub(crate) type Texts = &'static [(&'static str, &'static str)];

/// Declares the SQL texts of a module, and lists them as `SQL` for [`crate::statements()`].
///
/// A text is for both engines, unless its name ends with `_SQLITE` or `_POSTGRES`.
macro_rules! statements {
    ($($(#[$attribute:meta])* $visibility:vis const $name:ident: &str = $text:expr;)+) => {
        $($(#[$attribute])* $visibility const $name: &str = $text;)+

        pub(crate) const SQL: $crate::engine::Texts =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name)),+];
    };
}
pub(crate) use statements;

/// One page of a list that is read by keyset.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The items of the page, in the order of the list.
    pub items: Vec<T>,
    /// Whether more items follow this page.
    pub has_more: bool,
}

impl<T> Page<T> {
    /// A page of at most `limit` of these items, which are one more if the list goes on.
    pub(crate) fn of(mut items: Vec<T>, limit: u32) -> Self {
        let has_more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Self { items, has_more }
    }
}

/// The LIKE pattern for "contains", with its own wildcards taken literally. The statement lowers it, so that the engine
/// lowers both sides by the same rules.
pub(crate) fn contains(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

/// The text of a query for the last row of a table that a search looks at: the id of the row after `$4` newer ones,
/// counted from before the id `$3`. The query has the leading filter alone, with the bind `$2`, so that it reads only
/// that filter's index.
macro_rules! last_select {
    ($table:literal, $lead:literal) => {
        concat!(
            "SELECT id FROM ",
            $table,
            " WHERE tenant_id = $1 AND ",
            $lead,
            " AND id < $3 ORDER BY id DESC LIMIT 1 OFFSET $4"
        )
    };
}
pub(crate) use last_select;

/// Numbers of rows of the multi-row SQLite statements, largest first. There are few sizes, so that each
/// statement is prepared once.
pub(crate) const CHUNKS: [usize; 4] = [64, 16, 4, 1];

/// Divides `total` rows into the sizes of [`CHUNKS`], as `(index into CHUNKS, from, to)`.
pub(crate) fn chunks(total: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let left = total - from;
        let index = CHUNKS.iter().position(|size| *size <= left)?;
        let to = from + CHUNKS[index];
        let chunk = (index, from, to);
        from = to;
        Some(chunk)
    })
}

/// `prefix (?, ?), (?, ?)` for each size of [`CHUNKS`].
pub(crate) fn values_statements(prefix: &str, columns: usize) -> [String; CHUNKS.len()] {
    let row = format!("({})", vec!["?"; columns].join(", "));
    CHUNKS.map(|rows| format!("{prefix} {}", vec![row.as_str(); rows].join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_row_once_in_order() {
        for total in [0, 1, 3, 4, 5, 63, 64, 65, 500] {
            let mut next = 0;
            for (index, from, to) in chunks(total) {
                assert_eq!(from, next);
                assert_eq!(to - from, CHUNKS[index]);
                next = to;
            }
            assert_eq!(next, total);
        }
    }
}
