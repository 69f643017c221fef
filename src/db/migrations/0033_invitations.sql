-- Invitations to organisations. The token is in a mail alone: here is its SHA-256. One that is pending may have expired.
CREATE TABLE invitations (
  id           text PRIMARY KEY,
  account_id   text NOT NULL REFERENCES accounts (id),
  email        text NOT NULL CHECK (email = lower(email)),
  role         text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'viewer')),
  token_hash   text NOT NULL UNIQUE,
  invited_by   text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  state        text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'accepted', 'declined', 'revoked')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL
);
CREATE UNIQUE INDEX invitations_pending_key ON invitations (account_id, email) WHERE state = 'pending';
CREATE INDEX invitations_account_index ON invitations (account_id, created_at DESC);
CREATE INDEX invitations_inviter_index ON invitations (invited_by);
