-- A client that hangs up (499) is no error of a request: the sums of the days before counted it as one.
UPDATE usage_daily d SET errors = greatest(d.errors - hung_up.requests, 0)
FROM (
  SELECT account_id, (settled_at AT TIME ZONE 'UTC')::date AS day, key_id, model, count(*) AS requests
  FROM usage_records
  WHERE (status >= 400 OR rule <> 'usage' OR flags <> '{}') AND status = 499 AND kind <> 'late'
  GROUP BY 1, 2, 3, 4) hung_up
WHERE d.account_id = hung_up.account_id AND d.day = hung_up.day AND d.key_id = hung_up.key_id AND d.model = hung_up.model;
