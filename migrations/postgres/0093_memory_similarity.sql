-- Cosine of the vectors of the prompt and the memory, from -1 to 1; NULL if they were not near or not compared.
ALTER TABLE session_memories ADD COLUMN similarity double precision;
