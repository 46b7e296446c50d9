-- Questions of agents that wait for an answer while their sessions go on, for the inbox and for the sweep.
CREATE INDEX feedback_requests_open ON feedback_requests (tenant_id, id) WHERE state = 'waiting' AND NOT blocking;
