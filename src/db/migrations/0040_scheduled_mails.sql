-- Mails that a member gets of an account at the end of each period: none until they ask for one. They end with the membership.
CREATE TABLE scheduled_mails (
  account_id  text NOT NULL,
  user_id     text NOT NULL,
  kind        text NOT NULL,
  -- The first day of the latest period that was told of, or passed over.
  told_from   date NOT NULL,
  PRIMARY KEY (account_id, user_id, kind),
  FOREIGN KEY (account_id, user_id) REFERENCES memberships (account_id, user_id) ON DELETE CASCADE
);
CREATE INDEX scheduled_mails_due_index ON scheduled_mails (kind, told_from);
