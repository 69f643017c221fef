-- Credit: entries that change a balance, and their way to the ledger in Redis, which is rebuilt from this database.

CREATE TABLE ledger_entries (
  id          text PRIMARY KEY CHECK (id <> ''),
  account_id  text NOT NULL REFERENCES accounts (id),
  kind        text NOT NULL CHECK (kind IN ('credit', 'correction', 'transfer')),
  amount_nano nano_usd NOT NULL CHECK (amount_nano <> 0),
  reference   text NOT NULL CHECK (char_length(reference) BETWEEN 1 AND 200),
  created_at  timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, reference),
  CHECK (kind <> 'credit' OR amount_nano > 0)
);
CREATE INDEX ledger_entries_account_index ON ledger_entries (account_id, created_at DESC);
CREATE INDEX ledger_entries_reference_index ON ledger_entries (reference);
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Entries that Redis has to apply. Each is sent until Redis answers "credited" or "exists", and once more later: Redis may lose its
-- last seconds at a failover or a power loss.
CREATE TABLE credit_outbox (
  entry_id       text PRIMARY KEY REFERENCES ledger_entries (id),
  account_id     text NOT NULL,
  amount_nano    nano_usd NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  applied_at     timestamptz,
  confirmed_at   timestamptz,
  -- The entry that has to be applied before this one.
  after_entry_id text,
  CHECK (confirmed_at IS NULL OR applied_at IS NOT NULL)
);
CREATE INDEX credit_outbox_pending_index ON credit_outbox (created_at) WHERE confirmed_at IS NULL;

-- Credit that an owner of two accounts moved: an entry in each account, with the same reference.
-- request_key: sent with the form, so that one form moves credit once.
CREATE TABLE credit_transfers (
  id              text PRIMARY KEY CHECK (id <> ''),
  from_account_id text NOT NULL REFERENCES accounts (id),
  to_account_id   text NOT NULL REFERENCES accounts (id),
  amount_nano     nano_usd NOT NULL CHECK (amount_nano > 0),
  debit_entry_id  text NOT NULL UNIQUE REFERENCES ledger_entries (id),
  credit_entry_id text NOT NULL UNIQUE REFERENCES ledger_entries (id),
  moved_by        text NOT NULL,
  request_key     text NOT NULL CHECK (char_length(request_key) BETWEEN 1 AND 64),
  created_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (from_account_id, request_key),
  CHECK (from_account_id <> to_account_id)
);
CREATE INDEX credit_transfers_day_index ON credit_transfers (from_account_id, created_at);
CREATE TRIGGER credit_transfers_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_transfers
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Stream entries that could not become a usage record. is_booked: the charge could be read and is in usage_records, with
-- placeholders for the parts that could not.
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

-- Idempotency keys that were charged, for at least a day, in case Redis forgets them. key_digest: SHA-256 of the key.
CREATE TABLE charged_idempotency_keys (
  account_id  text NOT NULL,
  key_digest  text NOT NULL CHECK (octet_length(key_digest) = 64 AND encode(decode(key_digest, 'hex'), 'hex') = key_digest),
  -- The request that was charged, and the API key that sent it.
  request_id  text NOT NULL,
  key_id      text NOT NULL,
  charged_at  timestamptz NOT NULL,
  PRIMARY KEY (account_id, key_digest)
);
CREATE INDEX charged_idempotency_keys_time_index ON charged_idempotency_keys (charged_at);
