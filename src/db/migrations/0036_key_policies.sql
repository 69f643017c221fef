-- What holds for all keys of an account: models (null = every one), and days after which the text of a key ends (null = never).
ALTER TABLE accounts ADD COLUMN allowed_models text[],
  ADD COLUMN max_key_age_days integer CHECK (max_key_age_days BETWEEN 1 AND 3650);
-- Since when a rotated key has its text; null for one that was not rotated since, whose age counts from when it was made.
ALTER TABLE api_keys ADD COLUMN secret_since timestamptz;
