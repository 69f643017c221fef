-- Every batch of charges changes a row of each account and key in it. With room on the page, the new version stays beside the
-- old one and no index has to learn of it.
ALTER TABLE accounts SET (fillfactor = 70);
ALTER TABLE api_keys SET (fillfactor = 70);
ALTER TABLE usage_daily SET (fillfactor = 85);
