-- Mails, alerts, and the turns of background workers.

-- Mails to send, written in the transaction of their cause. The text is made from kind and facts when the mail is sent. sealed_token:
-- the encrypted token of the mail's link, removed once the mail was sent or given up.
CREATE TABLE mails (
  id            text PRIMARY KEY,
  event_id      text NOT NULL,
  recipient     text NOT NULL CHECK (recipient = lower(recipient)),
  kind          text NOT NULL,
  facts         jsonb NOT NULL,
  sealed_token  text,
  -- The address of the request that caused the mail: the start of its links if no address is configured.
  origin        text,
  -- The account or address whose hourly limit the mail counts in.
  owner         text NOT NULL,
  -- Mails with a lower rank are sent sooner: mails that a person waits for have 0.
  rank          integer NOT NULL,
  state         text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'failed', 'expired')),
  tries         integer NOT NULL DEFAULT 0,
  failure       text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- The first moment at which it may be sent: later than created_at if the owner's hourly limit is used up.
  due_at        timestamptz NOT NULL DEFAULT now(),
  next_try_at   timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  ended_at      timestamptz,
  UNIQUE (event_id, recipient),
  CHECK (state = 'waiting' OR sealed_token IS NULL)
);
CREATE INDEX mails_due_index ON mails (rank, next_try_at) WHERE state = 'waiting';
CREATE INDEX mails_owner_index ON mails (owner, ended_at);
CREATE INDEX mails_created_index ON mails (created_at DESC);

-- Addresses that a mail server refused for good. They get only mails that cannot be turned off, until one is
-- accepted again.
CREATE TABLE refused_mail_addresses (
  email       text PRIMARY KEY CHECK (email = lower(email)),
  reason      text NOT NULL,
  refused_at  timestamptz NOT NULL DEFAULT now()
);

-- Mail alerts of an account. No row: the service's thresholds.
CREATE TABLE alert_settings (
  account_id   text PRIMARY KEY REFERENCES accounts (id),
  -- Thresholds of the balance. Null: no alert.
  first_nano   nano_usd CHECK (first_nano > 0),
  second_nano  nano_usd CHECK (second_nano > 0)
);

-- Further addresses for an account's alerts. They get no alerts before their link was opened and confirmed.
CREATE TABLE alert_addresses (
  account_id     text NOT NULL REFERENCES accounts (id),
  email          text NOT NULL CHECK (email = lower(email)),
  -- Who asked last. Null: an operator.
  asked_by       text REFERENCES users (id),
  -- The latest link. Null once confirmed.
  token_hash     text UNIQUE,
  confirm_until  timestamptz,
  confirmed_at   timestamptz,
  created_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, email),
  CHECK ((token_hash IS NULL) = (confirmed_at IS NOT NULL) AND (token_hash IS NULL) = (confirm_until IS NULL))
);

-- Addresses that want no mails of a kind.
CREATE TABLE alert_opt_outs (
  account_id  text NOT NULL REFERENCES accounts (id),
  email       text NOT NULL CHECK (email = lower(email)),
  kind        text NOT NULL,
  PRIMARY KEY (account_id, email, kind)
);

-- Balance and spending of each account at the latest check for alerts. The row is locked during a check.
CREATE TABLE alert_looks (
  account_id    text PRIMARY KEY REFERENCES accounts (id),
  balance_nano  nano_usd NOT NULL DEFAULT 0,
  spent_nano    nano_usd NOT NULL DEFAULT 0
);

-- The latest alert of each name. mark: its threshold, budget window or time. level: percent of the budget, or days until a key ends.
CREATE TABLE alert_states (
  account_id  text NOT NULL REFERENCES accounts (id),
  name        text NOT NULL,
  mark        bigint NOT NULL,
  level       integer NOT NULL DEFAULT 0,
  -- A crossing too soon after the latest mail: mailed after the pause.
  is_pending  boolean NOT NULL DEFAULT false,
  fired_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, name)
);
CREATE INDEX alert_states_pending_index ON alert_states (fired_at) WHERE is_pending;

-- Mails that a member asked to get at the end of each period. They end with the membership.
CREATE TABLE scheduled_mails (
  account_id  text NOT NULL,
  user_id     text NOT NULL,
  kind        text NOT NULL,
  -- The first day of the latest period that was mailed or skipped.
  told_from   date NOT NULL,
  PRIMARY KEY (account_id, user_id, kind),
  FOREIGN KEY (account_id, user_id) REFERENCES memberships (account_id, user_id) ON DELETE CASCADE
);
CREATE INDEX scheduled_mails_due_index ON scheduled_mails (kind, told_from);

-- The gateway that runs a background job for all gateways. After ends_at another gateway may take over.
CREATE TABLE worker_turns (
  worker   text PRIMARY KEY,
  holder   text NOT NULL,
  ends_at  timestamptz NOT NULL
);
