-- Orders of credit and the payments that answer them. Amounts are integer hundredths of their currency (US cents for orders).
CREATE DOMAIN cents AS bigint
  CONSTRAINT cents_in_range CHECK (VALUE BETWEEN 0 AND 900000000);

-- paid_cents = sum of payments.credited_cents of the order; refunded_cents = sum of its events of kind 'refunded'.
CREATE TABLE orders (
  id                  text PRIMARY KEY CHECK (id <> ''),
  account_id          text NOT NULL REFERENCES accounts (id),
  method              text NOT NULL CHECK (method IN ('bank_transfer', 'deposit')),
  provider            text CHECK (char_length(provider) BETWEEN 1 AND 40),
  -- The account it has to be paid to: an IBAN, or the provider's id of the payment.
  payee               text CHECK (char_length(payee) BETWEEN 1 AND 200),
  payment_url         text CHECK (char_length(payment_url) BETWEEN 1 AND 2000),
  payment_account     text CHECK (char_length(payment_account) BETWEEN 1 AND 200),
  -- The account's details as they were shown with the order, also after others were configured.
  bank_details        jsonb,
  reference           text NOT NULL CHECK (char_length(reference) BETWEEN 6 AND 40),
  amount_cents        cents NOT NULL CHECK (amount_cents > 0),
  currency            text NOT NULL CHECK (currency = 'USD'),
  state               text NOT NULL CHECK (state IN ('pending', 'paid', 'expired', 'cancelled', 'partly_refunded', 'refunded')),
  paid_cents          cents NOT NULL DEFAULT 0,
  refunded_cents      cents NOT NULL DEFAULT 0,
  claimed_at          timestamptz,
  claim_note          text CHECK (char_length(claim_note) <= 500),
  created_at          timestamptz NOT NULL,
  expires_at          timestamptz NOT NULL CHECK (expires_at > created_at),
  paid_at             timestamptz,
  updated_at          timestamptz NOT NULL,
  CONSTRAINT orders_reference_key UNIQUE (reference),
  CONSTRAINT orders_payee_key UNIQUE (provider, payee),
  CHECK ((method = 'deposit') = (provider IS NOT NULL)),
  CHECK ((claimed_at IS NULL) = (claim_note IS NULL)),
  CHECK ((paid_cents = 0) = (state IN ('pending', 'expired', 'cancelled'))),
  CHECK ((paid_cents = 0) = (paid_at IS NULL)),
  CHECK (refunded_cents <= paid_cents),
  CHECK ((state = 'refunded') = (paid_cents > 0 AND refunded_cents = paid_cents)),
  CHECK ((state = 'partly_refunded') = (refunded_cents > 0 AND refunded_cents < paid_cents))
);
CREATE INDEX orders_account_index ON orders (account_id, created_at DESC, id DESC);
CREATE INDEX orders_created_index ON orders (created_at DESC, id DESC);
CREATE INDEX orders_pending_index ON orders (expires_at) WHERE state = 'pending';

-- What happened to an order, for ever.
CREATE TABLE order_events (
  id           text PRIMARY KEY CHECK (id <> ''),
  order_id     text NOT NULL REFERENCES orders (id),
  position     integer NOT NULL CHECK (position > 0),
  kind         text NOT NULL CHECK (kind IN ('created', 'claimed', 'paid', 'expired', 'cancelled', 'payment_unmatched', 'refunded')),
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

-- Every movement of money that somebody told us of, once per source and id. entry_id is the credit that it became.
CREATE TABLE payments (
  id             text PRIMARY KEY CHECK (id <> ''),
  provider       text NOT NULL CHECK (char_length(provider) BETWEEN 1 AND 60),
  external_id    text NOT NULL CHECK (char_length(external_id) BETWEEN 1 AND 200),
  order_id       text REFERENCES orders (id),
  account_id     text REFERENCES accounts (id),
  amount_cents   cents NOT NULL CHECK (amount_cents > 0),
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
  resolved_at    timestamptz,
  resolved_by    text CHECK (char_length(resolved_by) <= 254),
  resolution     text CHECK (char_length(resolution) <= 500),
  CONSTRAINT payments_provider_external_id_key UNIQUE (provider, external_id),
  CHECK ((state = 'credited') = (credited_cents > 0)),
  CHECK ((state = 'credited') = (entry_id IS NOT NULL)),
  CHECK (state <> 'credited' OR order_id IS NOT NULL),
  CHECK (state = 'credited' OR mismatch IS NOT NULL)
);
CREATE INDEX payments_order_index ON payments (order_id);
CREATE INDEX payments_state_index ON payments (state, received_at DESC, id DESC);

-- Signs the webhooks of the sandbox provider, one for all gateways of this database, where the environment sets none.
CREATE TABLE sandbox_deposit_secret (
  id     integer PRIMARY KEY CHECK (id = 1),
  secret text NOT NULL CHECK (char_length(secret) >= 38)
);
