-- The words of the names of tasks, entities and questions, so that a search finds a name whatever its age.
-- domain::search makes them. The rows have no text and no place of a word: the record says whether it is really found.
CREATE TABLE search_names (
    tenant_id BLOB NOT NULL,
    -- 'task', 'entity' or 'question'.
    kind TEXT NOT NULL,
    word TEXT NOT NULL,
    record_id BLOB NOT NULL,
    CONSTRAINT search_names_pk PRIMARY KEY (tenant_id, kind, word, record_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_names_by_record ON search_names (tenant_id, record_id);

-- Records whose words are to be made: new ones, and those whose name changed. The job that follows the log does it.
CREATE TABLE search_names_due (
    change INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    record_id BLOB NOT NULL
) STRICT;

-- What is renamed or erased leaves the index in the same transaction.
CREATE TRIGGER actions_are_named AFTER INSERT ON actions
BEGIN INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'task', NEW.id); END;
CREATE TRIGGER actions_are_renamed AFTER UPDATE OF name ON actions WHEN NEW.name <> OLD.name
BEGIN
    DELETE FROM search_names WHERE tenant_id = NEW.tenant_id AND record_id = NEW.id;
    INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'task', NEW.id);
END;
CREATE TRIGGER entities_are_named AFTER INSERT ON entities
BEGIN INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'entity', NEW.id); END;
CREATE TRIGGER entities_are_renamed AFTER UPDATE OF title ON entities WHEN NEW.title <> OLD.title
BEGIN
    DELETE FROM search_names WHERE tenant_id = NEW.tenant_id AND record_id = NEW.id;
    INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'entity', NEW.id);
END;
CREATE TRIGGER gates_are_named AFTER INSERT ON gates WHEN NEW.kind = 'question'
BEGIN INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'question', NEW.id); END;
CREATE TRIGGER gates_are_renamed AFTER UPDATE OF title ON gates WHEN NEW.kind = 'question' AND NEW.title <> OLD.title
BEGIN
    DELETE FROM search_names WHERE tenant_id = NEW.tenant_id AND record_id = NEW.id;
    INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'question', NEW.id);
END;
CREATE TRIGGER feedback_requests_are_named AFTER INSERT ON feedback_requests WHEN NEW.gate_id IS NULL
BEGIN INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'question', NEW.id); END;
CREATE TRIGGER feedback_requests_are_renamed AFTER UPDATE OF message ON feedback_requests
WHEN NEW.gate_id IS NULL AND NEW.message <> OLD.message
BEGIN
    DELETE FROM search_names WHERE tenant_id = NEW.tenant_id AND record_id = NEW.id;
    INSERT INTO search_names_due (tenant_id, kind, record_id) VALUES (NEW.tenant_id, 'question', NEW.id);
END;

-- What was there before.
INSERT INTO search_names_due (tenant_id, kind, record_id) SELECT tenant_id, 'task', id FROM actions;
INSERT INTO search_names_due (tenant_id, kind, record_id)
    SELECT tenant_id, 'entity', id FROM entities WHERE erased_at IS NULL;
INSERT INTO search_names_due (tenant_id, kind, record_id)
    SELECT tenant_id, 'question', id FROM gates WHERE kind = 'question';
INSERT INTO search_names_due (tenant_id, kind, record_id)
    SELECT tenant_id, 'question', id FROM feedback_requests WHERE gate_id IS NULL;
