-- Keys that the service makes for an account by itself: the playground's. Nobody knows its text, so that only a signed-in
-- person can spend through it. It can be deactivated; it is never deleted, and an account has one of each kind.
ALTER TABLE api_keys
  ADD COLUMN built_in text CHECK (built_in IN ('playground')),
  ADD CONSTRAINT api_keys_built_in_stays CHECK (built_in IS NULL OR status <> 'deleted');
CREATE UNIQUE INDEX api_keys_built_in_key ON api_keys (account_id, built_in) WHERE built_in IS NOT NULL;
