-- People who sign in: what they prove themselves with, and the sessions they hold.

-- Addresses are kept in lower case, so that one address is one person. Everybody so far was created by an operator, who
-- knows whose address it is.
ALTER TABLE users
  ADD COLUMN name               text,
  ADD COLUMN email_verified     boolean NOT NULL DEFAULT false,
  ADD COLUMN image              text,
  ADD COLUMN two_factor_enabled boolean NOT NULL DEFAULT false,
  ADD COLUMN updated_at         timestamptz NOT NULL DEFAULT now();
UPDATE users SET email = lower(email), name = left(split_part(email, '@', 1), 100), email_verified = true;
ALTER TABLE users
  ALTER COLUMN name SET NOT NULL,
  ADD CONSTRAINT users_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
  ADD CONSTRAINT users_email_lower CHECK (email = lower(email));
DROP INDEX users_email_key;
CREATE UNIQUE INDEX users_email_key ON users (email);
CREATE INDEX users_account_index ON users (account_id);

-- How a person signs in; the password is an argon2id hash with its parameters inside.
CREATE TABLE credentials (
  id                  text PRIMARY KEY CHECK (id <> ''),
  user_id             text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id         text NOT NULL,
  provider_account_id text NOT NULL,
  password_hash       text,
  created_at          timestamptz NOT NULL DEFAULT now(),
  updated_at          timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider_id, provider_account_id)
);
CREATE INDEX credentials_user_index ON credentials (user_id);
INSERT INTO credentials (id, user_id, provider_id, provider_account_id, password_hash, created_at)
  SELECT 'cred_' || id, id, 'credential', id, password_hash, created_at FROM users;
ALTER TABLE users DROP COLUMN password_hash;

-- Everybody has an account that pays: the one of their address, or a new one.
INSERT INTO accounts (id, name, email)
  SELECT 'acct_' || id, name, email FROM users
  WHERE account_id IS NULL AND NOT EXISTS (SELECT 1 FROM accounts WHERE lower(accounts.email) = users.email);
UPDATE users SET account_id = accounts.id FROM accounts
  WHERE users.account_id IS NULL AND lower(accounts.email) = users.email;

-- expires_at is the longest a session can last; updated_at is when it was last used, to end those that lie idle.
CREATE TABLE sessions (
  id         text PRIMARY KEY CHECK (id <> ''),
  token      text NOT NULL UNIQUE,
  user_id    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_user_index ON sessions (user_id);
CREATE INDEX sessions_expiry_index ON sessions (expires_at);

-- What proves something once and for a while: links to reset a password, second steps of a sign-in. Identifiers are hashed.
CREATE TABLE verifications (
  id         text PRIMARY KEY CHECK (id <> ''),
  identifier text NOT NULL,
  value      text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX verifications_identifier_index ON verifications (identifier);
CREATE INDEX verifications_expiry_index ON verifications (expires_at);

-- Secret and backup codes are encrypted with the secret of sign-in.
CREATE TABLE two_factors (
  id                        text PRIMARY KEY CHECK (id <> ''),
  user_id                   text NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  secret                    text NOT NULL,
  backup_codes              text NOT NULL,
  verified                  boolean NOT NULL DEFAULT false,
  failed_verification_count integer NOT NULL DEFAULT 0,
  locked_until              timestamptz
);

-- The secret that signs cookies, one for all gateways of this database, where the environment sets none.
CREATE TABLE sign_in_secret (
  id     integer PRIMARY KEY CHECK (id = 1),
  secret text NOT NULL CHECK (char_length(secret) >= 32)
);
