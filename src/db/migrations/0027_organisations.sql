-- Organisations: what a company is called and where it is, and addresses that only personal accounts have for themselves, so that whoever
-- leaves an organisation that was once their own account can be given a new one.
ALTER TABLE accounts ADD COLUMN company jsonb;
ALTER TABLE accounts ADD CONSTRAINT accounts_company_check CHECK ((kind = 'organisation') = (company IS NOT NULL));
DROP INDEX accounts_email_key;
CREATE UNIQUE INDEX accounts_email_key ON accounts (lower(email)) WHERE kind = 'personal';
CREATE INDEX accounts_email_index ON accounts (lower(email));
