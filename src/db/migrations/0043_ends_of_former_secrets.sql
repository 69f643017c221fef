-- Finds the few former texts of keys that are about to end, when their people are to be warned.
CREATE INDEX key_secrets_ends_index ON key_secrets (ends_at);
