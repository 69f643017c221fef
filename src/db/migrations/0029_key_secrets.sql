-- Secrets that a key had before the one in api_keys. A hash says for ever which key and which of its secrets it is.
CREATE TABLE key_secrets (
  key_hash      text PRIMARY KEY CHECK (octet_length(key_hash) = 64 AND encode(decode(key_hash, 'hex'), 'hex') = key_hash),
  key_id        text NOT NULL REFERENCES api_keys (id),
  ordinal       integer NOT NULL CHECK (ordinal >= 1),
  last_four     text NOT NULL,
  -- When it was replaced.
  created_at    timestamptz NOT NULL DEFAULT now(),
  ends_at       timestamptz NOT NULL,
  last_used_at  timestamptz,
  UNIQUE (key_id, ordinal)
);
-- The number of the secret in api_keys, and until when the one before works; null for a key that was never rotated.
ALTER TABLE api_keys ADD COLUMN secret_ordinal integer NOT NULL DEFAULT 1,
  ADD COLUMN former_secret_ends_at timestamptz;
