-- The tokens of a run are NULL if the model's service did not report those of every answer. They were counted as none.
ALTER TABLE memory_runs ALTER COLUMN input_tokens DROP NOT NULL, ALTER COLUMN output_tokens DROP NOT NULL,
    ADD CONSTRAINT memory_runs_tokens_both CHECK ((input_tokens IS NULL) = (output_tokens IS NULL));
-- The owner of the table sees its rows of all workspaces only like this.
SELECT set_config('app.system', 'on', true);
-- A run that succeeded with a model had an answer, and no answer is without tokens.
UPDATE memory_runs SET input_tokens = NULL, output_tokens = NULL, cost_usd = NULL
    WHERE state = 'succeeded' AND model <> '' AND input_tokens = 0 AND output_tokens = 0;
SELECT set_config('app.system', 'off', true);
