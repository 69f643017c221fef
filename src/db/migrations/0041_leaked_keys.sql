-- Keys whose text somebody has found in public. Whoever looks after the key was mailed a link that switches it off, once; the text of the key
-- is nowhere.
CREATE TABLE leaked_keys (
  -- SHA-256, in hexadecimal, of the token in the link.
  token_hash     text PRIMARY KEY,
  account_id     text NOT NULL REFERENCES accounts (id),
  key_id         text NOT NULL,
  is_management  boolean NOT NULL,
  -- A key that is reported again on the same day is not mailed again.
  reported_on    date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
  expires_at     timestamptz NOT NULL,
  used_at        timestamptz,
  UNIQUE (key_id, reported_on)
);
