-- The key of the request that started an import, after its caller, and the digest of the request. A repeat, whose first
-- response was lost, gets the import that was started. NULL if the request had no key.
ALTER TABLE entity_imports ADD COLUMN creation_key TEXT;
ALTER TABLE entity_imports ADD COLUMN creation_digest BLOB;
CREATE UNIQUE INDEX entity_imports_creation_key ON entity_imports (tenant_id, creation_key)
    WHERE creation_key IS NOT NULL;
