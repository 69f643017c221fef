-- Whether developers of the account see what all its keys used, and not their own alone.
ALTER TABLE accounts ADD COLUMN developers_see_all_usage boolean NOT NULL DEFAULT false;
