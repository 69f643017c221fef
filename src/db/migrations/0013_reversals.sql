-- Money that had arrived and is gone again: taken back by the payer's bank (chargeback) or sent back at the provider (refund), and
-- chargebacks or refunds that were undone (reinstatement). Once per source and id.
-- undoes: the external id of the payment, or of the reversal that a reinstatement undoes. moved_cents: the credit that it took, or
-- gave back. matched_cents: the part that a refund of an administrator had taken before. waiting: what it undoes is not here yet.
-- kept: an administrator has to look.
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

-- charged_back_cents: what chargebacks took, less what was reinstated.
ALTER TABLE orders ADD COLUMN charged_back_cents cents NOT NULL DEFAULT 0;
DO $$
DECLARE
  rule name;
BEGIN
  FOR rule IN SELECT conname FROM pg_constraint
    WHERE contype = 'c' AND pg_get_constraintdef(oid) LIKE '%refunded%'
      AND conrelid IN ('orders'::regclass, 'order_events'::regclass) LOOP
    EXECUTE format('ALTER TABLE orders DROP CONSTRAINT IF EXISTS %I', rule);
    EXECUTE format('ALTER TABLE order_events DROP CONSTRAINT IF EXISTS %I', rule);
  END LOOP;
END $$;
ALTER TABLE orders
  ADD CONSTRAINT orders_state_check CHECK
    (state IN ('pending', 'paid', 'expired', 'cancelled', 'partly_refunded', 'refunded', 'charged_back')),
  ADD CONSTRAINT orders_taken_back_check CHECK (refunded_cents <= paid_cents AND charged_back_cents <= paid_cents),
  ADD CONSTRAINT orders_charged_back_check CHECK ((state = 'charged_back') = (charged_back_cents > 0)),
  ADD CONSTRAINT orders_refunded_check CHECK
    (charged_back_cents > 0 OR (state = 'refunded') = (paid_cents > 0 AND refunded_cents = paid_cents)),
  ADD CONSTRAINT orders_partly_refunded_check CHECK
    (charged_back_cents > 0 OR (state = 'partly_refunded') = (refunded_cents > 0 AND refunded_cents < paid_cents));
ALTER TABLE order_events ADD CONSTRAINT order_events_kind_check CHECK (kind IN
  ('created', 'claimed', 'paid', 'expired', 'cancelled', 'payment_unmatched', 'refunded', 'charged_back', 'reinstated', 'reversal_kept'));
