-- What an account, a member or a key may spend in a day, a week, a month, or ever (UTC; weeks begin on Monday). No row: no limit. A key's
-- budget of the month is a column of the key. 'new_member' is what members who join are given; its scope_id is the account's.
CREATE TABLE budgets (
  account_id  text NOT NULL REFERENCES accounts (id),
  scope       text NOT NULL CHECK (scope IN ('account', 'member', 'key', 'new_member')),
  scope_id    text NOT NULL,
  "window"    text NOT NULL CHECK ("window" IN ('day', 'week', 'month', 'total')),
  limit_nano  nano_usd NOT NULL CHECK (limit_nano >= 0),
  -- Added to the limit in the one window with this number: days and weeks since 1970, months as yyyymm, 0 for ever.
  grant_nano  nano_usd NOT NULL DEFAULT 0 CHECK (grant_nano >= 0),
  grant_at    integer NOT NULL DEFAULT 0,
  -- Null: an operator.
  set_by      text REFERENCES users (id) ON DELETE SET NULL,
  set_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, scope, scope_id, "window"),
  CHECK (NOT (scope = 'key' AND "window" = 'month'))
);
CREATE INDEX budgets_set_by_index ON budgets (set_by) WHERE set_by IS NOT NULL;

-- Said here, so that it holds whoever makes somebody a member. Their first key has the ledger look.
CREATE FUNCTION give_new_member_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO budgets (account_id, scope, scope_id, "window", limit_nano, set_by)
    SELECT account_id, 'member', NEW.user_id, "window", limit_nano, set_by FROM budgets
    WHERE account_id = NEW.account_id AND scope = 'new_member'
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER memberships_give_budgets AFTER INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION give_new_member_budgets();

-- What each member's keys were charged, from which the ledger is restored. Days before are as the keys belong now. As with all sums,
-- an account that is not there refuses no record.
CREATE TABLE usage_daily_members (
  account_id  text NOT NULL,
  day         date NOT NULL,
  member_id   text NOT NULL,
  requests    bigint NOT NULL,
  cost_nano   nano_usd NOT NULL,
  PRIMARY KEY (account_id, member_id, day)
);
INSERT INTO usage_daily_members (account_id, day, member_id, requests, cost_nano)
  SELECT d.account_id, d.day, k.created_by, sum(d.requests), sum(d.cost_nano)
  FROM usage_daily d JOIN api_keys k ON k.id = d.key_id WHERE k.created_by IS NOT NULL GROUP BY d.account_id, d.day, k.created_by;
