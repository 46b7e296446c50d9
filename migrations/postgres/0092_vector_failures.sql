-- Why the vectors of an agent's memories could not be made when it was last tried; NULL if they could.
ALTER TABLE memory_agents ADD COLUMN vectors_failure text;
