-- What administrators do: an audit log that can only grow, second opinions on large amounts, and bank statements.

-- Each entry holds the hash of the one before it, so that a changed, inserted or removed entry breaks the chain from there
-- on. The hash is that of the entry's canonical text; see src/accounts/audit.ts.
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

-- A second opinion on an amount above the limit. operation is exactly what will be done. That nobody approves what they
-- have asked for themselves is also the database's rule.
CREATE TABLE approvals (
  id                 text PRIMARY KEY CHECK (id <> ''),
  kind               text NOT NULL,
  account_id         text REFERENCES accounts (id),
  amount_nano        nano_usd NOT NULL,
  operation          jsonb NOT NULL,
  reason             text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  status             text NOT NULL DEFAULT 'pending'
                     CHECK (status IN ('pending', 'executed', 'failed', 'rejected', 'withdrawn', 'expired')),
  requested_by       text NOT NULL REFERENCES users (id),
  requested_by_email text NOT NULL,
  requested_at       timestamptz NOT NULL DEFAULT now(),
  expires_at         timestamptz NOT NULL,
  decided_by         text REFERENCES users (id),
  decided_by_email   text,
  decided_at         timestamptz,
  note               text CHECK (char_length(note) <= 1000),
  -- Of who asks and a key of their choice, so that asking twice asks once; the digest is that of the operation.
  request_id         text NOT NULL UNIQUE CHECK (request_id ~ '^[0-9a-f]{40}$'),
  request_digest     text NOT NULL CHECK (request_digest ~ '^[0-9a-f]{64}$'),
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK (status NOT IN ('executed', 'failed', 'rejected') OR (decided_by IS NOT NULL AND decided_by <> requested_by)),
  CHECK (status <> 'withdrawn' OR decided_by = requested_by)
);
CREATE INDEX approvals_list_index ON approvals (requested_at DESC, id DESC);

-- What one administrator moved for one account without a second opinion: the sum of a day counts against the limit, so
-- that a large amount can't be split into small ones. amount_nano is a magnitude.
CREATE TABLE unapproved_movements (
  request_id     text PRIMARY KEY CHECK (request_id ~ '^[0-9a-f]{40}$'),
  request_digest text NOT NULL CHECK (request_digest ~ '^[0-9a-f]{64}$'),
  user_id        text NOT NULL REFERENCES users (id),
  account_id     text NOT NULL REFERENCES accounts (id),
  kind           text NOT NULL,
  amount_nano    nano_usd NOT NULL CHECK (amount_nano > 0),
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX unapproved_movements_index ON unapproved_movements (user_id, account_id, created_at DESC);

-- A bank statement as it was previewed. A commit names the import and its digest, so that it does what was looked at.
CREATE TABLE statement_imports (
  id               text PRIMARY KEY CHECK (id <> ''),
  digest           text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
  status           text NOT NULL DEFAULT 'previewed' CHECK (status IN ('previewed', 'committed')),
  uploaded_by      text NOT NULL REFERENCES users (id),
  created_at       timestamptz NOT NULL DEFAULT now(),
  committed_at     timestamptz,
  CHECK ((status = 'committed') = (committed_at IS NOT NULL))
);

-- line_key is the hash of a line's content and of how often that content came before it in the statement: two equal
-- payments of a day are two lines, and the same line in the next statement is the same line.
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
  -- What became of it: credited, waiting, kept as an unmatched payment, refused as imported before, rejected by a second one.
  result       text CHECK (result IN ('credited', 'awaiting_approval', 'kept', 'refused', 'rejected')),
  approval_id  text REFERENCES approvals (id),
  PRIMARY KEY (import_id, line)
);
CREATE UNIQUE INDEX statement_lines_once ON statement_lines (line_key) 
  WHERE result IN ('credited', 'awaiting_approval', 'kept');
