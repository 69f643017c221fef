-- API keys, management keys and budgets.

-- A deleted key keeps its row: its usage still has a name, and its hash can't be issued again.
-- The check of the hash uses decode instead of a pattern: each batch of charges updates the row, and the pattern was slower.
CREATE TABLE api_keys (
  id                    text PRIMARY KEY CHECK (id <> ''),
  account_id            text NOT NULL REFERENCES accounts (id),
  name                  text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  key_hash              text NOT NULL UNIQUE CHECK (octet_length(key_hash) = 64 AND encode(decode(key_hash, 'hex'), 'hex') = key_hash),
  prefix                text NOT NULL,
  last_four             text NOT NULL CHECK (char_length(last_four) = 4),
  status                text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated', 'deleted')),
  requests_per_minute   integer CHECK (requests_per_minute > 0),
  tokens_per_minute     bigint CHECK (tokens_per_minute BETWEEN 1 AND 9007199254740991),
  concurrency           integer CHECK (concurrency > 0),
  monthly_budget_nano   nano_usd CHECK (monthly_budget_nano >= 0),
  expires_at            timestamptz,
  allowed_models        text[],
  spent_month_nano      nano_usd NOT NULL DEFAULT 0,
  spent_month           integer NOT NULL DEFAULT 197001 CHECK (spent_month BETWEEN 197001 AND 999912),
  last_used_at          timestamptz,
  created_at            timestamptz NOT NULL DEFAULT now(),
  deleted_at            timestamptz,
  -- The key that the service makes for the playground. Nobody knows its secret, so only a signed-in person can spend through it.
  built_in              text CHECK (built_in IN ('playground')),
  -- The member who owns the key. Null: the account as a whole.
  created_by            text REFERENCES users (id) ON DELETE SET NULL,
  tags                  text[] CHECK (cardinality(tags) BETWEEN 1 AND 8),
  -- The number of the secret in key_hash, and the end of the former secret. Null: the key was never rotated.
  secret_ordinal        integer NOT NULL DEFAULT 1,
  former_secret_ends_at timestamptz,
  -- Networks (CIDR) from which the key may be used. Null: everywhere.
  allowed_addresses     text[],
  -- Since when a rotated key has its current secret. Null: since its creation.
  secret_since          timestamptz,
  allowed_providers     text[],
  -- Data rules, as in accounts.
  zero_retention        boolean NOT NULL DEFAULT false,
  no_training           boolean NOT NULL DEFAULT false,
  regions               text[],
  CHECK ((status = 'deleted') = (deleted_at IS NOT NULL)),
  CONSTRAINT api_keys_built_in_stays CHECK (built_in IS NULL OR status <> 'deleted')
) WITH (fillfactor = 70);
CREATE INDEX api_keys_account_index ON api_keys (account_id, created_at DESC);
CREATE UNIQUE INDEX api_keys_built_in_key ON api_keys (account_id, built_in) WHERE built_in IS NOT NULL;
CREATE INDEX api_keys_creator_index ON api_keys (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX api_keys_expiry_index ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND status = 'active';

-- Former secrets of rotated keys. A hash identifies its key, and the number of its secret.
CREATE TABLE key_secrets (
  key_hash      text PRIMARY KEY CHECK (octet_length(key_hash) = 64 AND encode(decode(key_hash, 'hex'), 'hex') = key_hash),
  key_id        text NOT NULL REFERENCES api_keys (id),
  ordinal       integer NOT NULL CHECK (ordinal >= 1),
  last_four     text NOT NULL,
  -- When the secret was replaced.
  created_at    timestamptz NOT NULL DEFAULT now(),
  ends_at       timestamptz NOT NULL,
  last_used_at  timestamptz,
  UNIQUE (key_id, ordinal)
);
CREATE INDEX key_secrets_ends_index ON key_secrets (ends_at);

-- Keys that manage an account by the API and can't call models. key_hash: SHA-256 of the key.
CREATE TABLE management_keys (
  id            text PRIMARY KEY,
  account_id    text NOT NULL REFERENCES accounts (id),
  name          text NOT NULL,
  key_hash      text NOT NULL UNIQUE CHECK (octet_length(key_hash) = 64 AND encode(decode(key_hash, 'hex'), 'hex') = key_hash),
  prefix        text NOT NULL,
  last_four     text NOT NULL,
  scopes        text[] NOT NULL,
  created_by    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at    timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz,
  revoked_at    timestamptz,
  last_used_at  timestamptz
);
CREATE INDEX management_keys_account_index ON management_keys (account_id, created_at DESC);
CREATE INDEX management_keys_creator_index ON management_keys (created_by);

-- Keys of the operator's own programs, such as a shop: they make accounts, credit and keys by the operator's API and can't call models.
CREATE TABLE operator_keys (
  id                 text PRIMARY KEY,
  name               text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  key_hash           text NOT NULL UNIQUE CHECK (octet_length(key_hash) = 64 AND encode(decode(key_hash, 'hex'), 'hex') = key_hash),
  prefix             text NOT NULL,
  last_four          text NOT NULL,
  scopes             text[] NOT NULL,
  -- Networks (CIDR) from which the key may be used. Null: everywhere.
  allowed_addresses  text[],
  created_at         timestamptz NOT NULL DEFAULT now(),
  expires_at         timestamptz,
  revoked_at         timestamptz,
  last_used_at       timestamptz
);

-- Keys that somebody reported as found in public. A mailed link deactivates the key, once.
CREATE TABLE leaked_keys (
  -- SHA-256, in hexadecimal, of the link's token.
  token_hash     text PRIMARY KEY,
  account_id     text NOT NULL REFERENCES accounts (id),
  key_id         text NOT NULL,
  is_management  boolean NOT NULL,
  -- At most one mail a day is sent about a key.
  reported_on    date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
  expires_at     timestamptz NOT NULL,
  used_at        timestamptz,
  UNIQUE (key_id, reported_on)
);

-- The most that an account, a member or a key may spend in a day, a week, a month, or ever (UTC; weeks begin on Monday). No row: no
-- limit. A key's monthly budget is a column of the key. 'new_member': the budgets of members who join; its scope_id is the account's.
CREATE TABLE budgets (
  account_id  text NOT NULL REFERENCES accounts (id),
  scope       text NOT NULL CHECK (scope IN ('account', 'member', 'key', 'new_member')),
  scope_id    text NOT NULL,
  "window"    text NOT NULL CHECK ("window" IN ('day', 'week', 'month', 'total')),
  limit_nano  nano_usd NOT NULL CHECK (limit_nano >= 0),
  -- grant_nano is added to the limit in the window grant_at: a number of days or weeks since 1970, a month as yyyymm, or 0 for the
  -- total.
  grant_nano  nano_usd NOT NULL DEFAULT 0 CHECK (grant_nano >= 0),
  grant_at    integer NOT NULL DEFAULT 0,
  -- Null: an operator.
  set_by      text REFERENCES users (id) ON DELETE SET NULL,
  set_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, scope, scope_id, "window"),
  CHECK (NOT (scope = 'key' AND "window" = 'month'))
);
CREATE INDEX budgets_set_by_index ON budgets (set_by) WHERE set_by IS NOT NULL;

-- A trigger, so that every way to become a member sets the budgets.
CREATE FUNCTION give_new_member_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO budgets (account_id, scope, scope_id, "window", limit_nano, set_by)
    SELECT account_id, 'member', NEW.user_id, "window", limit_nano, set_by FROM budgets
    WHERE account_id = NEW.account_id AND scope = 'new_member'
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER memberships_give_budgets AFTER INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION give_new_member_budgets();
