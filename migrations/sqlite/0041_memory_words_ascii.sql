-- Words with characters other than ASCII letters and digits are indexed as the hexadecimal digits of their UTF-8 bytes,
-- behind the number of their agent and `u` instead of `x`. FTS5 split such a word at characters that its tables do not
-- know as letters, and what follows could be the word of another agent.
UPDATE memory_search SET terms = (
    SELECT group_concat(CASE WHEN length(w.value) = length(CAST(w.value AS BLOB)) THEN w.value
            ELSE substr(w.value, 1, instr(w.value, 'x') - 1) || 'u'
                || lower(hex(substr(w.value, instr(w.value, 'x') + 1))) END, ' ')
    FROM json_each('["' || replace(memory_search.terms, ' ', '","') || '"]') w)
WHERE length(terms) <> length(CAST(terms AS BLOB));
