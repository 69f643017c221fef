-- A busy batch changes every day's row of a page, so that each needs room for a second version: of 85 % full pages, three rows of five
-- went to another page, and both indexes had to learn of it. Pages that exist keep their rows.
ALTER TABLE usage_daily SET (fillfactor = 50);
