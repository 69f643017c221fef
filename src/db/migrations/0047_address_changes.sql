-- People who change the e-mail address by which they sign in. The tokens are in mails alone: here are their SHA-256.
CREATE TABLE address_changes (
  id             text PRIMARY KEY,
  user_id        text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  new_email      text NOT NULL CHECK (new_email = lower(new_email)),
  confirm_hash   text NOT NULL UNIQUE,
  confirm_until  timestamptz NOT NULL,
  -- Until then nothing has changed.
  confirmed_at   timestamptz,
  old_email      text CHECK (old_email = lower(old_email)),
  -- While the change can be undone, nobody else gets the old address.
  undo_hash      text UNIQUE,
  undo_until     timestamptz,
  CHECK ((confirmed_at IS NULL) = (old_email IS NULL)),
  CHECK ((undo_hash IS NULL) = (undo_until IS NULL))
);
CREATE UNIQUE INDEX address_changes_pending_key ON address_changes (user_id) WHERE confirmed_at IS NULL;
CREATE INDEX address_changes_user_index ON address_changes (user_id);
CREATE INDEX address_changes_kept_index ON address_changes (old_email) WHERE undo_hash IS NOT NULL;

-- After the row is written: whoever takes an address while its person leaves it has waited for them by then, and sees that it is kept.
CREATE FUNCTION refuse_kept_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM address_changes WHERE old_email = NEW.email AND undo_until > now() AND user_id <> NEW.id) THEN
    RAISE EXCEPTION 'the address is kept for the person who had it'
      USING ERRCODE = 'unique_violation', CONSTRAINT = 'users_email_key';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER users_refuse_kept_address AFTER INSERT OR UPDATE OF email ON users
  FOR EACH ROW EXECUTE FUNCTION refuse_kept_address();
