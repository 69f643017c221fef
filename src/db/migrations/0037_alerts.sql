-- What an account is alerted of by mail. No row: the thresholds that the service has for everybody, and no further addresses.
CREATE TABLE alert_settings (
  account_id   text PRIMARY KEY REFERENCES accounts (id),
  -- Of the balance; null = no alert.
  first_nano   nano_usd CHECK (first_nano > 0),
  second_nano  nano_usd CHECK (second_nano > 0),
  addresses    text[] NOT NULL DEFAULT '{}'
);
-- Who wants no mails of a kind, person or not.
CREATE TABLE alert_opt_outs (
  account_id  text NOT NULL REFERENCES accounts (id),
  email       text NOT NULL CHECK (email = lower(email)),
  kind        text NOT NULL,
  PRIMARY KEY (account_id, email, kind)
);
-- What each account had, and had spent, when it was looked at last; locked by whoever looks.
CREATE TABLE alert_looks (
  account_id    text PRIMARY KEY REFERENCES accounts (id),
  balance_nano  nano_usd NOT NULL DEFAULT 0,
  spent_nano    nano_usd NOT NULL DEFAULT 0
);
-- What was told last of each thing: the threshold, the window or the moment that it was of (`mark`), and how much of it (`level`).
CREATE TABLE alert_states (
  account_id  text NOT NULL REFERENCES accounts (id),
  name        text NOT NULL,
  mark        bigint NOT NULL,
  level       integer NOT NULL DEFAULT 0,
  -- A crossing that came too soon after the last mail: told when the pause is over.
  is_pending  boolean NOT NULL DEFAULT false,
  fired_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, name)
);
CREATE INDEX alert_states_pending_index ON alert_states (fired_at) WHERE is_pending;
CREATE INDEX api_keys_expiry_index ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND status = 'active';
