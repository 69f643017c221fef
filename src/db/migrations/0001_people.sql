-- Accounts, and the people who sign in to them.
-- Amounts are integer nano-USD (1 USD = 1,000,000,000), at most 9,000,000 USD, so that JavaScript numbers hold them exactly.

CREATE DOMAIN nano_usd AS bigint
  CONSTRAINT nano_usd_in_range CHECK (VALUE BETWEEN -9000000000000000 AND 9000000000000000);

CREATE DOMAIN token_count AS bigint
  CONSTRAINT token_count_in_range CHECK (VALUE BETWEEN 0 AND 9007199254740991);

-- Refuses changes of append-only tables: a mistake is corrected by another row.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

-- balance_nano = sum of ledger_entries.amount_nano - sum of usage_records.cost_nano. It lags behind Redis by the records that are still
-- in the streams. It may be negative: a settlement is never refused. spent_nano may be negative for a moment, if a late correction
-- arrives before the charge that it corrects.
-- fillfactor: each batch of charges updates a row. Free space in the page keeps the new version beside the old one, without index
-- updates.
CREATE TABLE accounts (
  id                       text PRIMARY KEY CHECK (id <> ''),
  name                     text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  email                    text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
  status                   text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  balance_nano             nano_usd NOT NULL DEFAULT 0,
  spent_nano               nano_usd NOT NULL DEFAULT 0,
  spent_month_nano         nano_usd NOT NULL DEFAULT 0,
  spent_month              integer NOT NULL DEFAULT 197001 CHECK (spent_month BETWEEN 197001 AND 999912),
  ledger_seq               bigint NOT NULL DEFAULT 0 CHECK (ledger_seq >= 0),
  created_at               timestamptz NOT NULL DEFAULT now(),
  -- Limits of all keys together. Null: the catalogue's limits.
  requests_per_minute      integer CHECK (requests_per_minute > 0),
  tokens_per_minute        bigint CHECK (tokens_per_minute BETWEEN 1 AND 9007199254740991),
  concurrency              integer CHECK (concurrency > 0),
  -- How long stored responses are kept. 0: not at all. Null: as long as the operator's setting says.
  stored_response_hours    integer CHECK (stored_response_hours BETWEEN 0 AND 87600),
  kind                     text NOT NULL DEFAULT 'personal' CHECK (kind IN ('personal', 'organisation')),
  company                  jsonb,
  -- Networks (CIDR) from which keys may be used. Null: everywhere.
  allowed_addresses        text[],
  -- Models and providers that all keys may use. Null: all.
  allowed_models           text[],
  -- Days after which the secret of a key ends. Null: never.
  max_key_age_days         integer CHECK (max_key_age_days BETWEEN 1 AND 3650),
  -- Chosen settings of people/settings/fields.ts. An absent setting has its default.
  settings                 jsonb NOT NULL DEFAULT '{}',
  allowed_providers        text[],
  -- Data rules: only providers may answer that are stated to keep no content, to train no models on it, and to process it in these
  -- regions (null: all).
  zero_retention           boolean NOT NULL DEFAULT false,
  no_training              boolean NOT NULL DEFAULT false,
  regions                  text[],
  CONSTRAINT accounts_company_check CHECK ((kind = 'organisation') = (company IS NOT NULL))
) WITH (fillfactor = 70);
-- Only personal accounts own their address: a founder who leaves an organisation gets a new account.
CREATE UNIQUE INDEX accounts_email_key ON accounts (lower(email)) WHERE kind = 'personal';
CREATE INDEX accounts_email_index ON accounts (lower(email));
-- For the reminders before keys reach their maximum age.
CREATE INDEX accounts_key_age_index ON accounts (id) WHERE max_key_age_days IS NOT NULL;

-- Addresses are in lower case, so that one address is one person.
CREATE TABLE users (
  id                 text PRIMARY KEY CHECK (id <> ''),
  email              text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
  role               text NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'admin')),
  account_id         text REFERENCES accounts (id),
  created_at         timestamptz NOT NULL DEFAULT now(),
  name               text NOT NULL,
  email_verified     boolean NOT NULL DEFAULT false,
  image              text,
  two_factor_enabled boolean NOT NULL DEFAULT false,
  updated_at         timestamptz NOT NULL DEFAULT now(),
  -- When an operator disabled the person. Null: the person may sign in.
  disabled_at        timestamptz,
  CONSTRAINT users_name_length CHECK (char_length(name) BETWEEN 1 AND 100),
  CONSTRAINT users_email_lower CHECK (email = lower(email))
);
CREATE UNIQUE INDEX users_email_key ON users (email);
CREATE INDEX users_account_index ON users (account_id);

-- The role of a person in an account. A person has any number of memberships.
CREATE TABLE memberships (
  account_id        text NOT NULL REFERENCES accounts (id),
  user_id           text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role              text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'viewer')),
  created_at        timestamptz NOT NULL DEFAULT now(),
  -- Models and providers that the member's keys may use, if the account allows them too. Null: all.
  allowed_models    text[],
  allowed_providers text[],
  -- Data rules, as in accounts.
  zero_retention    boolean NOT NULL DEFAULT false,
  no_training       boolean NOT NULL DEFAULT false,
  regions           text[],
  PRIMARY KEY (account_id, user_id)
);
CREATE INDEX memberships_user_index ON memberships (user_id);

-- A person owns the account that they were given at sign-up.
CREATE FUNCTION own_given_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO memberships (account_id, user_id, role) VALUES (NEW.account_id, NEW.id, 'owner') ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER users_own_given_account AFTER INSERT OR UPDATE OF account_id ON users
  FOR EACH ROW WHEN (NEW.account_id IS NOT NULL) EXECUTE FUNCTION own_given_account();

-- An account with members has an owner among them. Checked at the end of the transaction, with the account's row locked: if two
-- owners take each other's role away, the second transaction sees the result of the first.
CREATE FUNCTION keep_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM accounts WHERE id = OLD.account_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM memberships WHERE account_id = OLD.account_id)
    AND NOT EXISTS (SELECT FROM memberships WHERE account_id = OLD.account_id AND role = 'owner') THEN
    RAISE EXCEPTION 'account % would be left without an owner', OLD.account_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'memberships_owner';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER memberships_keep_an_owner AFTER UPDATE OR DELETE ON memberships
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_an_owner();

-- Invitations to organisations. token_hash: SHA-256 of the token, which only the mail has. A pending invitation may have expired.
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

-- How a person signs in. The password is an argon2id hash that contains its parameters.
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

-- token: SHA-256 of the session's token, so that a reader of this table can't sign in. expires_at: the latest end of the session.
-- updated_at: the last use, from which idle sessions end. proved_at: when the person last entered their password or code.
CREATE TABLE sessions (
  id         text PRIMARY KEY CHECK (id <> ''),
  token      text NOT NULL UNIQUE,
  user_id    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  proved_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sessions_user_index ON sessions (user_id);
CREATE INDEX sessions_expiry_index ON sessions (expires_at);

-- Tokens that work once and for a limited time: links to reset a password, second steps of a sign-in. Identifiers are hashed.
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

-- A person's second factor. Secret and backup codes are encrypted with the sign-in secret.
CREATE TABLE two_factors (
  id                        text PRIMARY KEY CHECK (id <> ''),
  user_id                   text NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  secret                    text NOT NULL,
  backup_codes              text NOT NULL,
  verified                  boolean NOT NULL DEFAULT false,
  failed_verification_count integer NOT NULL DEFAULT 0,
  locked_until              timestamptz
);

-- Signs cookies if the environment sets no secret. All gateways of this database share it.
CREATE TABLE sign_in_secret (
  id     integer PRIMARY KEY CHECK (id = 1),
  secret text NOT NULL CHECK (char_length(secret) >= 32)
);

-- Changes of the address by which a person signs in. Only the mails have the tokens; the hashes are their SHA-256.
CREATE TABLE address_changes (
  id             text PRIMARY KEY,
  user_id        text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  new_email      text NOT NULL CHECK (new_email = lower(new_email)),
  confirm_hash   text NOT NULL UNIQUE,
  confirm_until  timestamptz NOT NULL,
  -- Null: nothing has changed yet.
  confirmed_at   timestamptz,
  old_email      text CHECK (old_email = lower(old_email)),
  -- While the change can be undone, nobody else can take the old address.
  undo_hash      text UNIQUE,
  undo_until     timestamptz,
  CHECK ((confirmed_at IS NULL) = (old_email IS NULL)),
  CHECK ((undo_hash IS NULL) = (undo_until IS NULL))
);
CREATE UNIQUE INDEX address_changes_pending_key ON address_changes (user_id) WHERE confirmed_at IS NULL;
CREATE INDEX address_changes_user_index ON address_changes (user_id);
CREATE INDEX address_changes_kept_index ON address_changes (old_email) WHERE undo_hash IS NOT NULL;

-- Runs after the row is written: a person who takes an address while its owner changes it waits for that change, and then sees it.
CREATE FUNCTION refuse_kept_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM address_changes WHERE old_email = NEW.email AND undo_until > now() AND user_id <> NEW.id) THEN
    RAISE EXCEPTION 'the address is kept for the person who had it'
      USING ERRCODE = 'unique_violation', CONSTRAINT = 'users_email_key';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER users_refuse_kept_address AFTER INSERT OR UPDATE OF email ON users
  FOR EACH ROW EXECUTE FUNCTION refuse_kept_address();
