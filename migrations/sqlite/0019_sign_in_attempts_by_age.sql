-- Old sign-in attempts are found and deleted.
CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (blocked_until);
