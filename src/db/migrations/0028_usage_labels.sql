-- By what an account sorts its usage, where its callers or keys say it: the member whose key it was, tags (name=value), the app, and a keyed
-- hash of the end user. NULL where nothing is said, and in older records: without a default no row is rewritten.
ALTER TABLE usage_records ADD COLUMN member_id text, ADD COLUMN tags text[], ADD COLUMN app text, ADD COLUMN end_user text;
ALTER TABLE archived_usage_records ADD COLUMN member_id text, ADD COLUMN tags text[], ADD COLUMN app text, ADD COLUMN end_user text;
ALTER TABLE api_keys ADD COLUMN tags text[] CHECK (cardinality(tags) BETWEEN 1 AND 8);
