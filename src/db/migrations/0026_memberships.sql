-- Who may do what in which account. A person has any number of memberships; the account that a person was given is theirs to own.
CREATE TABLE memberships (
  account_id  text NOT NULL REFERENCES accounts (id),
  user_id     text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role        text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'viewer')),
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, user_id)
);
CREATE INDEX memberships_user_index ON memberships (user_id);
INSERT INTO memberships (account_id, user_id, role, created_at)
  SELECT account_id, id, 'owner', created_at FROM users WHERE account_id IS NOT NULL;

-- Said here, so that it holds too for people whom an older version signs up.
CREATE FUNCTION own_given_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO memberships (account_id, user_id, role) VALUES (NEW.account_id, NEW.id, 'owner') ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER users_own_given_account AFTER INSERT OR UPDATE OF account_id ON users
  FOR EACH ROW WHEN (NEW.account_id IS NOT NULL) EXECUTE FUNCTION own_given_account();

-- An account that has members has an owner among them. Asked when a transaction ends, with the account's row locked: of two that take
-- each other's role away, the second sees what the first has left.
CREATE FUNCTION keep_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM accounts WHERE id = OLD.account_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM memberships WHERE account_id = OLD.account_id)
    AND NOT EXISTS (SELECT FROM memberships WHERE account_id = OLD.account_id AND role = 'owner') THEN
    RAISE EXCEPTION 'account % would be left without an owner', OLD.account_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'memberships_owner';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER memberships_keep_an_owner AFTER UPDATE OR DELETE ON memberships
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_an_owner();

ALTER TABLE accounts ADD COLUMN kind text NOT NULL DEFAULT 'personal' CHECK (kind IN ('personal', 'organisation'));
-- Whose key it is; null for those of the account as a whole, and for keys made before.
ALTER TABLE api_keys ADD COLUMN created_by text REFERENCES users (id) ON DELETE SET NULL;
CREATE INDEX api_keys_creator_index ON api_keys (created_by) WHERE created_by IS NOT NULL;
