-- Keys that manage an account by the API and call no model. Of the text there is its SHA-256 alone.
CREATE TABLE management_keys (
  id            text PRIMARY KEY,
  account_id    text NOT NULL REFERENCES accounts (id),
  name          text NOT NULL,
  key_hash      text NOT NULL UNIQUE CHECK (octet_length(key_hash) = 64 AND encode(decode(key_hash, 'hex'), 'hex') = key_hash),
  prefix        text NOT NULL,
  last_four     text NOT NULL,
  scopes        text[] NOT NULL,
  -- Who is named for it; the key is the account's, whatever becomes of them.
  created_by    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz
);
CREATE INDEX management_keys_account_index ON management_keys (account_id, created_at DESC);
CREATE INDEX management_keys_creator_index ON management_keys (created_by);
