-- Questions were alike whatever they asked. New ones are alike only if text and form are the same; those that wait
-- already are alike to none.
UPDATE gates SET similar_key = lower(hex(substr(id, 9, 8))) WHERE kind = 'question' AND state IN ('open', 'held');
