-- Credit that an owner of two accounts moved from one to the other: an entry in each, by the same reference. The constraints of entries
-- are wider than before, so that the rows there are need no second look.
ALTER TABLE ledger_entries
  DROP CONSTRAINT ledger_entries_kind_check,
  ADD CONSTRAINT ledger_entries_kind_check CHECK (kind IN ('credit', 'correction', 'transfer')) NOT VALID;
ALTER TABLE ledger_entries
  DROP CONSTRAINT ledger_entries_check,
  ADD CONSTRAINT ledger_entries_check CHECK (kind <> 'credit' OR amount_nano > 0) NOT VALID;

-- request_key: what the form was sent with, so that the same form moves credit once.
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

-- The entry of which the ledger has to hear before it hears of this one.
ALTER TABLE credit_outbox ADD COLUMN after_entry_id text;
