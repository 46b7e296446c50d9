-- A decision keeps the version of its gate's record at that instant: what was decided is shown against what the record
-- was then. Null for decisions that were recorded before, and where there is no record.
ALTER TABLE gate_decisions ADD COLUMN entity_version bigint;
