-- The history of money: what the ledger in Redis is rebuilt from, and what people look things up in.
-- Amounts are integer nano-USD (1 USD = 1,000,000,000), at most 9,000,000 USD, so that every one of them is exact in JavaScript.

CREATE DOMAIN nano_usd AS bigint
  CONSTRAINT nano_usd_in_range CHECK (VALUE BETWEEN -9000000000000000 AND 9000000000000000);

CREATE DOMAIN token_count AS bigint
  CONSTRAINT token_count_in_range CHECK (VALUE BETWEEN 0 AND 9007199254740991);

-- balance_nano = sum of ledger_entries.amount_nano - sum of usage_records.cost_nano; it lags behind Redis by what is still in the streams.
-- The balance may go below zero: a settlement is never refused. spent_nano may dip below zero for a moment, while a late
-- correction arrives before the charge that it corrects.
CREATE TABLE accounts (
  id               text PRIMARY KEY CHECK (id <> ''),
  name             text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  email            text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
  status           text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  balance_nano     nano_usd NOT NULL DEFAULT 0,
  spent_nano       nano_usd NOT NULL DEFAULT 0,
  spent_month_nano nano_usd NOT NULL DEFAULT 0,
  spent_month      integer NOT NULL DEFAULT 197001 CHECK (spent_month BETWEEN 197001 AND 999912),
  ledger_seq       bigint NOT NULL DEFAULT 0 CHECK (ledger_seq >= 0),
  created_at       timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX accounts_email_key ON accounts (lower(email));

-- A deleted key stays as a tombstone: its usage keeps its name, and its hash can never be issued again.
CREATE TABLE api_keys (
  id                  text PRIMARY KEY CHECK (id <> ''),
  account_id          text NOT NULL REFERENCES accounts (id),
  name                text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  key_hash            text NOT NULL UNIQUE CHECK (key_hash ~ '^[0-9a-f]{64}$'),
  prefix              text NOT NULL,
  last_four           text NOT NULL CHECK (char_length(last_four) = 4),
  status              text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated', 'deleted')),
  requests_per_minute integer CHECK (requests_per_minute > 0),
  tokens_per_minute   bigint CHECK (tokens_per_minute BETWEEN 1 AND 9007199254740991),
  concurrency         integer CHECK (concurrency > 0),
  monthly_budget_nano nano_usd CHECK (monthly_budget_nano >= 0),
  expires_at          timestamptz,
  allowed_models      text[],
  spent_month_nano    nano_usd NOT NULL DEFAULT 0,
  spent_month         integer NOT NULL DEFAULT 197001 CHECK (spent_month BETWEEN 197001 AND 999912),
  last_used_at        timestamptz,
  created_at          timestamptz NOT NULL DEFAULT now(),
  deleted_at          timestamptz,
  CHECK ((status = 'deleted') = (deleted_at IS NOT NULL))
);
CREATE INDEX api_keys_account_index ON api_keys (account_id, created_at DESC);

CREATE TABLE ledger_entries (
  id          text PRIMARY KEY CHECK (id <> ''),
  account_id  text NOT NULL REFERENCES accounts (id),
  kind        text NOT NULL CHECK (kind IN ('credit', 'correction')),
  amount_nano nano_usd NOT NULL CHECK (amount_nano <> 0),
  reference   text NOT NULL CHECK (char_length(reference) BETWEEN 1 AND 200),
  created_at  timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, reference),
  CHECK (kind = 'correction' OR amount_nano > 0)
);
CREATE INDEX ledger_entries_account_index ON ledger_entries (account_id, created_at DESC);

-- Entries are facts: a mistake is mended by another entry.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What still has to be told to the ledger in Redis; applied again and again until it answers credited or exists, and once
-- more a while later, since a Redis that fails over or loses power may forget its last seconds.
CREATE TABLE credit_outbox (
  entry_id     text PRIMARY KEY REFERENCES ledger_entries (id),
  account_id   text NOT NULL,
  amount_nano  nano_usd NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  applied_at   timestamptz,
  confirmed_at timestamptz,
  CHECK (confirmed_at IS NULL OR applied_at IS NOT NULL)
);
CREATE INDEX credit_outbox_pending_index ON credit_outbox (created_at) WHERE confirmed_at IS NULL;

-- One row per usage event, for ever. The partition key is part of every unique key, so that event_id alone is unique
-- by the flusher's look-up of the days around it; settled_at is the store's clock and is the same at every redelivery.
CREATE TABLE usage_records (
  event_id              text NOT NULL,
  hold_id               text NOT NULL,
  account_id            text NOT NULL,
  key_id                text NOT NULL,
  kind                  text NOT NULL CHECK (kind IN ('settle', 'expire', 'late')),
  cost_nano             nano_usd NOT NULL CHECK (cost_nano >= 0 OR kind = 'late'),
  held_nano             nano_usd NOT NULL CHECK (held_nano >= 0),
  seq                   bigint NOT NULL CHECK (seq >= 0),
  settled_at            timestamptz NOT NULL,
  request_id            text NOT NULL,
  model                 text NOT NULL,
  requested_model       text NOT NULL,
  provider              text NOT NULL,
  upstream_model        text NOT NULL,
  client_format         text NOT NULL,
  provider_format       text NOT NULL,
  uncached_tokens       token_count NOT NULL,
  cache_read_tokens     token_count NOT NULL,
  cache_write_5m_tokens token_count NOT NULL,
  cache_write_1h_tokens token_count NOT NULL,
  output_tokens         token_count NOT NULL,
  reasoning_tokens      token_count NOT NULL,
  rule                  text NOT NULL,
  flags                 text[] NOT NULL,
  stream                boolean NOT NULL,
  status                integer NOT NULL,
  attempts              integer NOT NULL,
  started_at            timestamptz NOT NULL,
  first_token_ms        integer,
  duration_ms           integer NOT NULL,
  PRIMARY KEY (event_id, settled_at)
) PARTITION BY RANGE (settled_at);
CREATE INDEX usage_records_account_index ON usage_records (account_id, settled_at DESC);
CREATE TABLE usage_records_default PARTITION OF usage_records DEFAULT;

-- Makes the monthly partitions (UTC) from from_day's month on. Rows that had to wait in the default partition move over.
CREATE FUNCTION ensure_usage_partitions(from_day date, months integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  first_day date := date_trunc('month', from_day)::date;
  lower_bound timestamptz;
  upper_bound timestamptz;
  partition_name text;
  made integer := 0;
BEGIN
  FOR offset_months IN 0 .. months - 1 LOOP
    partition_name := 'usage_records_' || to_char(first_day + make_interval(months => offset_months), 'YYYYMM');
    CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
    -- Also brings this session's view of the catalogue up to date, which an advisory lock would not.
    LOCK TABLE usage_records IN SHARE UPDATE EXCLUSIVE MODE;
    CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
    lower_bound := (first_day + make_interval(months => offset_months)) AT TIME ZONE 'UTC';
    upper_bound := (first_day + make_interval(months => offset_months + 1)) AT TIME ZONE 'UTC';
    EXECUTE format('CREATE TABLE %I (LIKE usage_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition_name);
    EXECUTE format(
      'WITH moved AS (DELETE FROM usage_records_default WHERE settled_at >= %L AND settled_at < %L RETURNING *)
       INSERT INTO %I SELECT * FROM moved', lower_bound, upper_bound, partition_name);
    EXECUTE format('ALTER TABLE usage_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition_name, lower_bound, upper_bound);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;

-- Sums per day (UTC), so that a report over months doesn't read millions of records. A late correction moves the cost
-- only: its request was counted when the hold expired.
CREATE TABLE usage_daily (
  account_id            text NOT NULL,
  day                   date NOT NULL,
  key_id                text NOT NULL,
  model                 text NOT NULL,
  requests              bigint NOT NULL CHECK (requests >= 0),
  errors                bigint NOT NULL CHECK (errors >= 0),
  uncached_tokens       token_count NOT NULL,
  cache_read_tokens     token_count NOT NULL,
  cache_write_5m_tokens token_count NOT NULL,
  cache_write_1h_tokens token_count NOT NULL,
  output_tokens         token_count NOT NULL,
  reasoning_tokens      token_count NOT NULL,
  cost_nano             nano_usd NOT NULL,
  duration_ms           bigint NOT NULL,
  first_token_ms        bigint NOT NULL,
  first_token_count     bigint NOT NULL,
  PRIMARY KEY (account_id, day, key_id, model)
);

-- Stream entries that could not become a record; nothing is acknowledged silently. is_booked: the charge itself could be
-- read and is in usage_records, with placeholders for what could not.
CREATE TABLE dead_letters (
  stream     text NOT NULL,
  entry_id   text NOT NULL,
  event_id   text,
  account_id text,
  payload    text NOT NULL,
  error      text NOT NULL,
  is_booked  boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (stream, entry_id)
);

-- People who log in; the password is an argon2id hash with its parameters inside.
CREATE TABLE users (
  id            text PRIMARY KEY CHECK (id <> ''),
  email         text NOT NULL CHECK (char_length(email) BETWEEN 3 AND 254),
  password_hash text NOT NULL,
  role          text NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'admin')),
  account_id    text REFERENCES accounts (id),
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_email_key ON users (lower(email));
