-- Mails that are to be sent, written in the transaction of what they tell of, and what became of them. What a mail says is made of its
-- kind and facts when it is sent. A token that opens something is encrypted, and gone when the mail has been sent or given up.
CREATE TABLE mails (
  id            text PRIMARY KEY,
  event_id      text NOT NULL,
  recipient     text NOT NULL CHECK (recipient = lower(recipient)),
  kind          text NOT NULL,
  facts         jsonb NOT NULL,
  sealed_token  text,
  -- Where the request was sent that it comes of: what links begin with where no address is configured.
  origin        text,
  state         text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'failed', 'expired')),
  tries         integer NOT NULL DEFAULT 0,
  failure       text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  next_try_at   timestamptz NOT NULL DEFAULT now(),
  expires_at    timestamptz NOT NULL,
  ended_at      timestamptz,
  UNIQUE (event_id, recipient),
  CHECK (state = 'waiting' OR sealed_token IS NULL)
);
CREATE INDEX mails_due_index ON mails (next_try_at) WHERE state = 'waiting';
CREATE INDEX mails_created_index ON mails (created_at DESC);

-- Addresses that a mail server has refused for good: they get no mail that they need not have, until one is taken again.
CREATE TABLE refused_mail_addresses (
  email       text PRIMARY KEY CHECK (email = lower(email)),
  reason      text NOT NULL,
  refused_at  timestamptz NOT NULL DEFAULT now()
);
