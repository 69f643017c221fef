-- Orders of credit, their payments, and the work of administrators.
-- Amounts are integer hundredths of their currency (US cents for orders).

CREATE DOMAIN cents AS bigint
  CONSTRAINT cents_in_range CHECK (VALUE BETWEEN 0 AND 900000000);

-- paid_cents = sum of payments.credited_cents of the order; refunded_cents = sum of its events of kind 'refunded';
-- charged_back_cents = chargebacks minus reinstatements.
CREATE TABLE orders (
  id                  text PRIMARY KEY CHECK (id <> ''),
  account_id          text NOT NULL REFERENCES accounts (id),
  method              text NOT NULL CHECK (method IN ('bank_transfer', 'deposit')),
  provider            text CHECK (char_length(provider) BETWEEN 1 AND 40),
  -- The account to pay to: an IBAN, or the provider's id of the payment.
  payee               text CHECK (char_length(payee) BETWEEN 1 AND 200),
  payment_url         text CHECK (char_length(payment_url) BETWEEN 1 AND 2000),
  payment_account     text CHECK (char_length(payment_account) BETWEEN 1 AND 200),
  -- The bank details that the order showed, also after the setting changed.
  bank_details        jsonb,
  reference           text NOT NULL CHECK (char_length(reference) BETWEEN 6 AND 40),
  amount_cents        cents NOT NULL CHECK (amount_cents > 0),
  currency            text NOT NULL CHECK (currency = 'USD'),
  state               text NOT NULL,
  paid_cents          cents NOT NULL DEFAULT 0,
  refunded_cents      cents NOT NULL DEFAULT 0,
  claimed_at          timestamptz,
  claim_note          text CHECK (char_length(claim_note) <= 500),
  created_at          timestamptz NOT NULL,
  expires_at          timestamptz NOT NULL CHECK (expires_at > created_at),
  paid_at             timestamptz,
  updated_at          timestamptz NOT NULL,
  charged_back_cents  cents NOT NULL DEFAULT 0,
  -- When to ask the provider whether an event was lost. Null: there is nothing to ask.
  look_at             timestamptz,
  -- auto_top_up: the gateway made it when the balance was low. card: the saved card that pays it, with the provider's ids.
  origin              text NOT NULL DEFAULT 'customer' CHECK (origin IN ('customer', 'auto_top_up')),
  card                jsonb CHECK ((card IS NULL) = (origin = 'customer')),
  -- Seller and customer at the first payment, for the receipt. Null until then.
  parties             jsonb CHECK ((parties IS NULL) = (paid_at IS NULL)),
  CONSTRAINT orders_reference_key UNIQUE (reference),
  CONSTRAINT orders_payee_key UNIQUE (provider, payee),
  CHECK ((method = 'deposit') = (provider IS NOT NULL)),
  CHECK ((claimed_at IS NULL) = (claim_note IS NULL)),
  CHECK ((paid_cents = 0) = (state IN ('pending', 'expired', 'cancelled'))),
  CHECK ((paid_cents = 0) = (paid_at IS NULL)),
  CONSTRAINT orders_state_check CHECK
    (state IN ('pending', 'paid', 'expired', 'cancelled', 'partly_refunded', 'refunded', 'charged_back')),
  CONSTRAINT orders_taken_back_check CHECK (refunded_cents <= paid_cents AND charged_back_cents <= paid_cents),
  CONSTRAINT orders_charged_back_check CHECK ((state = 'charged_back') = (charged_back_cents > 0)),
  CONSTRAINT orders_refunded_check CHECK
    (charged_back_cents > 0 OR (state = 'refunded') = (paid_cents > 0 AND refunded_cents = paid_cents)),
  CONSTRAINT orders_partly_refunded_check CHECK
    (charged_back_cents > 0 OR (state = 'partly_refunded') = (refunded_cents > 0 AND refunded_cents < paid_cents))
);
CREATE INDEX orders_account_index ON orders (account_id, created_at DESC, id DESC);
CREATE INDEX orders_created_index ON orders (created_at DESC, id DESC);
CREATE INDEX orders_pending_index ON orders (expires_at) WHERE state = 'pending';
-- An account has at most one pending auto top-up.
CREATE UNIQUE INDEX orders_auto_top_up_key ON orders (account_id) WHERE origin = 'auto_top_up' AND state = 'pending';
CREATE INDEX orders_auto_top_up_index ON orders (account_id, created_at DESC) WHERE origin = 'auto_top_up';
CREATE INDEX orders_look_index ON orders (look_at) WHERE look_at IS NOT NULL;

-- The history of an order.
CREATE TABLE order_events (
  id           text PRIMARY KEY CHECK (id <> ''),
  order_id     text NOT NULL REFERENCES orders (id),
  position     integer NOT NULL CHECK (position > 0),
  kind         text NOT NULL CHECK (kind IN
                 ('created', 'claimed', 'paid', 'expired', 'cancelled', 'payment_unmatched', 'refunded', 'charged_back', 'reinstated',
                  'reversal_kept', 'processing', 'failed', 'confirmation_needed')),
  state        text NOT NULL,
  amount_cents cents,
  entry_id     text REFERENCES ledger_entries (id),
  actor        text NOT NULL CHECK (char_length(actor) BETWEEN 1 AND 254),
  note         text CHECK (char_length(note) <= 1000),
  created_at   timestamptz NOT NULL,
  UNIQUE (order_id, position)
);
CREATE TRIGGER order_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON order_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The auto top-up of an account and its saved card. Card data is never here: card has the provider's ids, brand, last four digits and expiry.
CREATE TABLE auto_top_ups (
  account_id     text PRIMARY KEY REFERENCES accounts (id),
  provider       text NOT NULL CHECK (char_length(provider) BETWEEN 1 AND 40),
  card           jsonb,
  -- When the provider saved the card. A report of an older card changes nothing.
  card_saved_at  timestamptz,
  -- The provider's id of the latest page to save a card on.
  card_page      text CHECK (char_length(card_page) BETWEEN 1 AND 200),
  below_cents    cents CHECK (below_cents > 0),
  amount_cents   cents CHECK (amount_cents >= below_cents),
  daily_cents    cents CHECK (daily_cents >= amount_cents),
  is_on          boolean NOT NULL DEFAULT false,
  -- When a person last turned it on: failures and refunds before that do not count.
  on_since       timestamptz,
  -- Why it is off. Null: it is on, or never was.
  stopped        text CHECK (stopped IN ('person', 'card_removed', 'card_gone', 'card_refused', 'declined', 'returned')),
  CHECK (NOT is_on OR (card IS NOT NULL AND daily_cents IS NOT NULL AND on_since IS NOT NULL AND stopped IS NULL))
);
CREATE INDEX auto_top_ups_on_index ON auto_top_ups (account_id) WHERE is_on;
CREATE INDEX auto_top_ups_card_index ON auto_top_ups (provider, (card ->> 'id'));

-- Payments that a bank statement or a provider reported, once per source and id. entry_id: the credit of the payment.
CREATE TABLE payments (
  id             text PRIMARY KEY CHECK (id <> ''),
  provider       text NOT NULL CHECK (char_length(provider) BETWEEN 1 AND 60),
  external_id    text NOT NULL CHECK (char_length(external_id) BETWEEN 1 AND 200),
  order_id       text REFERENCES orders (id),
  account_id     text REFERENCES accounts (id),
  amount_cents   cents NOT NULL CHECK (amount_cents > 0),
  -- The part of the amount that is tax, which is not credited.
  tax_cents      cents NOT NULL DEFAULT 0 CHECK (tax_cents < amount_cents),
  currency       text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  payee          text CHECK (char_length(payee) <= 200),
  payer          text CHECK (char_length(payer) <= 200),
  notice_text    text CHECK (char_length(notice_text) <= 1000),
  state          text NOT NULL CHECK (state IN ('credited', 'unmatched', 'dismissed')),
  mismatch       text CHECK (mismatch IN ('unknown_reference', 'underpaid', 'overpaid', 'wrong_currency', 'wrong_payee',
    'wrong_source', 'wrong_reference', 'order_expired', 'order_cancelled', 'order_already_paid', 'balance_limit')),
  credited_cents cents NOT NULL DEFAULT 0,
  entry_id       text UNIQUE REFERENCES ledger_entries (id),
  received_at    timestamptz NOT NULL,
  -- Until this time the payer can take the money back, and its credit can't be moved to another account.
  reversible_until timestamptz,
  resolved_at    timestamptz,
  resolved_by    text CHECK (char_length(resolved_by) <= 254),
  resolution     text CHECK (char_length(resolution) <= 500),
  CONSTRAINT payments_provider_external_id_key UNIQUE (provider, external_id),
  CHECK ((state = 'credited') = (credited_cents > 0)),
  CHECK ((state = 'credited') = (entry_id IS NOT NULL)),
  CHECK ((state = 'credited') = (reversible_until IS NOT NULL)),
  CHECK (state <> 'credited' OR order_id IS NOT NULL),
  CHECK (state = 'credited' OR mismatch IS NOT NULL)
);
CREATE INDEX payments_order_index ON payments (order_id);
CREATE INDEX payments_state_index ON payments (state, received_at DESC, id DESC);

-- Payments that were taken back: by the payer's bank (chargeback), at the provider (refund), or a chargeback or refund that was undone
-- (reinstatement). Once per source and id.
-- undoes: the external id of the payment, or of the reversal that a reinstatement undoes. moved_cents: the credit taken or given back.
-- matched_cents: the part that an administrator's refund had taken before. waiting: the payment it undoes has not arrived yet.
-- kept: an administrator has to decide.
CREATE TABLE reversals (
  id            text PRIMARY KEY CHECK (id <> ''),
  provider      text NOT NULL CHECK (char_length(provider) BETWEEN 1 AND 60),
  external_id   text NOT NULL CHECK (char_length(external_id) BETWEEN 1 AND 200),
  kind          text NOT NULL CHECK (kind IN ('chargeback', 'refund', 'reinstatement')),
  undoes        text NOT NULL CHECK (char_length(undoes) BETWEEN 1 AND 200),
  payment_id    text REFERENCES payments (id),
  order_id      text REFERENCES orders (id),
  account_id    text REFERENCES accounts (id),
  amount_cents  cents NOT NULL CHECK (amount_cents > 0),
  currency      text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  note          text CHECK (char_length(note) <= 500),
  state         text NOT NULL CHECK (state IN ('waiting', 'applied', 'kept')),
  fault         text CHECK (fault IN ('wrong_currency', 'balance_limit', 'nothing_taken', 'wrong_kind')),
  moved_cents   cents NOT NULL DEFAULT 0,
  matched_cents cents NOT NULL DEFAULT 0,
  entry_id      text UNIQUE REFERENCES ledger_entries (id),
  received_at   timestamptz NOT NULL,
  applied_at    timestamptz,
  CONSTRAINT reversals_provider_external_id_key UNIQUE (provider, external_id),
  CHECK ((moved_cents > 0) = (entry_id IS NOT NULL)),
  CHECK ((state = 'kept') = (fault IS NOT NULL)),
  CHECK ((state = 'applied') = (applied_at IS NOT NULL)),
  CHECK (state <> 'applied' OR order_id IS NOT NULL)
);
CREATE INDEX reversals_undoes_index ON reversals (provider, undoes);
CREATE INDEX reversals_order_index ON reversals (order_id);

-- Signs the webhooks of the sandbox provider if the environment sets no secret. All gateways of this database share it.
CREATE TABLE sandbox_deposit_secret (
  id     integer PRIMARY KEY CHECK (id = 1),
  secret text NOT NULL CHECK (char_length(secret) >= 38)
);

-- The audit log. Each entry has the hash of the one before it, so a changed, inserted or removed entry breaks the chain. The hash is
-- of the entry's canonical text; see src/accounts/audit.ts.
CREATE TABLE audit_entries (
  seq           bigint PRIMARY KEY CHECK (seq > 0),
  at            timestamptz NOT NULL,
  actor_id      text,
  actor_email   text NOT NULL,
  action        text NOT NULL CHECK (char_length(action) BETWEEN 1 AND 100),
  subject       text NOT NULL CHECK (char_length(subject) BETWEEN 1 AND 300),
  account_id    text,
  details       jsonb NOT NULL,
  ip            text,
  request_id    text,
  previous_hash text NOT NULL CHECK (previous_hash ~ '^[0-9a-f]{64}$'),
  hash          text NOT NULL UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$')
);
CREATE INDEX audit_entries_account_index ON audit_entries (account_id, seq DESC);
CREATE INDEX audit_entries_actor_index ON audit_entries (lower(actor_email), seq DESC);
CREATE INDEX audit_entries_subject_index ON audit_entries (subject, seq DESC);
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Approvals of amounts above the limit, by a second administrator. operation: exactly what will be done.
CREATE TABLE approvals (
  id                 text PRIMARY KEY CHECK (id <> ''),
  kind               text NOT NULL,
  account_id         text REFERENCES accounts (id),
  amount_nano        nano_usd NOT NULL,
  operation          jsonb NOT NULL,
  reason             text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  status             text NOT NULL DEFAULT 'pending'
                     CHECK (status IN ('pending', 'executed', 'failed', 'rejected', 'withdrawn', 'expired')),
  -- A person, or an operator key.
  requested_by       text NOT NULL,
  requested_by_email text NOT NULL,
  requested_at       timestamptz NOT NULL DEFAULT now(),
  expires_at         timestamptz NOT NULL,
  decided_by         text REFERENCES users (id),
  decided_by_email   text,
  decided_at         timestamptz,
  note               text CHECK (char_length(note) <= 1000),
  -- A hash of the administrator and their request key, so that a repeated request makes one approval. The digest is of the operation.
  request_id         text NOT NULL UNIQUE CHECK (request_id ~ '^[0-9a-f]{40}$'),
  request_digest     text NOT NULL CHECK (request_digest ~ '^[0-9a-f]{64}$'),
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK (status NOT IN ('executed', 'failed', 'rejected') OR (decided_by IS NOT NULL AND decided_by <> requested_by)),
  CHECK (status <> 'withdrawn' OR decided_by = requested_by)
);
CREATE INDEX approvals_list_index ON approvals (requested_at DESC, id DESC);

-- Amounts that an administrator or an operator key moved without approval. The sum of a day counts against the limit, so that a large
-- amount can't be split into small ones. amount_nano has no sign.
CREATE TABLE unapproved_movements (
  request_id     text PRIMARY KEY CHECK (request_id ~ '^[0-9a-f]{40}$'),
  request_digest text NOT NULL CHECK (request_digest ~ '^[0-9a-f]{64}$'),
  -- A person, or an operator key.
  user_id        text NOT NULL,
  account_id     text NOT NULL REFERENCES accounts (id),
  kind           text NOT NULL,
  amount_nano    nano_usd NOT NULL CHECK (amount_nano > 0),
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX unapproved_movements_index ON unapproved_movements (user_id, account_id, created_at DESC);

-- Bank statements as previewed. A commit names the import and its digest, so that it does exactly what the preview showed.
CREATE TABLE statement_imports (
  id               text PRIMARY KEY CHECK (id <> ''),
  digest           text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
  format           text NOT NULL CHECK (format IN ('csv', 'camt.053')),
  status           text NOT NULL DEFAULT 'previewed' CHECK (status IN ('previewed', 'committed')),
  uploaded_by      text NOT NULL REFERENCES users (id),
  created_at       timestamptz NOT NULL DEFAULT now(),
  committed_at     timestamptz,
  CHECK ((status = 'committed') = (committed_at IS NOT NULL))
);

-- line_key: hash of the bank's reference (CAMT.053), else of a line's content and of the number of equal lines before it. Two equal
-- payments of a day are two lines, and a line that the next statement repeats is the same line.
CREATE TABLE statement_lines (
  import_id    text NOT NULL REFERENCES statement_imports (id),
  line         integer NOT NULL CHECK (line > 0),
  line_key     text NOT NULL CHECK (line_key ~ '^[0-9a-f]{64}$'),
  booked_on    date NOT NULL,
  amount_cents bigint NOT NULL,
  currency     text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  reference    text NOT NULL,
  counterparty text NOT NULL,
  verdict      text NOT NULL,
  order_id     text,
  -- kept: as an unmatched payment. refused: imported before. rejected: by the second administrator.
  result       text CHECK (result IN ('credited', 'awaiting_approval', 'kept', 'refused', 'rejected')),
  approval_id  text REFERENCES approvals (id),
  PRIMARY KEY (import_id, line)
);
CREATE UNIQUE INDEX statement_lines_once ON statement_lines (line_key)
  WHERE result IN ('credited', 'awaiting_approval', 'kept');
CREATE INDEX statement_lines_order_index ON statement_lines (order_id) WHERE result IS NOT NULL;
