-- Failed requests of thirty days, one partition for each, which goes as a whole: of an account and day at most 10,000, beyond which they are
-- only counted. Rows of before stay.
ALTER TABLE failed_requests RENAME TO former_failed_requests;
ALTER INDEX failed_requests_pkey RENAME TO former_failed_requests_pkey;
DROP INDEX failed_requests_account_index;
DROP INDEX failed_requests_time_index;

CREATE TABLE failed_requests (
  request_id  text NOT NULL,
  account_id  text NOT NULL,
  key_id      text NOT NULL,
  failed_at   timestamptz NOT NULL,
  format      text NOT NULL,
  -- What was asked for, where that is a name of the catalogue.
  model       text,
  status      integer NOT NULL CHECK (status BETWEEN 400 AND 599),
  code        text NOT NULL CHECK (char_length(code) BETWEEN 1 AND 60),
  -- The field at fault.
  param       text CHECK (char_length(param) <= 120),
  words       text NOT NULL CHECK (char_length(words) <= 400),
  PRIMARY KEY (request_id, failed_at)
) PARTITION BY RANGE (failed_at);
-- With what lists are narrowed down by, so that a rare reason is found among 300,000 requests without reading them.
CREATE INDEX failed_requests_account_index ON failed_requests (account_id, failed_at DESC, request_id DESC)
  INCLUDE (key_id, status, code);
CREATE TABLE failed_requests_default PARTITION OF failed_requests DEFAULT;

-- Makes the days (UTC) from yesterday to the day after tomorrow, and drops those of more than thirty days ago. Returns how many it made.
CREATE FUNCTION keep_failure_partitions(today date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  oldest date := today - 30;
  day date;
  partition_name text;
  made integer := 0;
BEGIN
  FOR offset_days IN -1 .. 2 LOOP
    day := today + offset_days;
    partition_name := 'failed_requests_' || to_char(day, 'YYYYMMDD');
    CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
    -- Also brings this session's view of the catalogue up to date, which an advisory lock would not.
    LOCK TABLE failed_requests IN SHARE UPDATE EXCLUSIVE MODE;
    CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE failed_requests INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition_name);
    EXECUTE format(
      'WITH moved AS (DELETE FROM failed_requests_default WHERE failed_at >= %L AND failed_at < %L RETURNING *)
       INSERT INTO %I SELECT * FROM moved', day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC', partition_name);
    EXECUTE format('ALTER TABLE failed_requests ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition_name, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    made := made + 1;
  END LOOP;
  FOR partition_name IN SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'failed_requests'::regclass AND relname ~ '^failed_requests_\d{8}$'
      AND right(relname, 8)::date < oldest LOOP
    EXECUTE format('DROP TABLE IF EXISTS %I', partition_name);
  END LOOP;
  DELETE FROM failed_requests_default WHERE failed_at < oldest::timestamp AT TIME ZONE 'UTC';
  RETURN made;
END $$;
REVOKE EXECUTE ON FUNCTION keep_failure_partitions(date) FROM PUBLIC;
SELECT keep_failure_partitions((now() AT TIME ZONE 'UTC')::date - back) FROM generate_series(7, 0, -1) AS back;
INSERT INTO failed_requests SELECT * FROM former_failed_requests;

-- How many of them are in the list. From now on the hour is that in which the day (UTC) begins.
ALTER TABLE failed_request_counts ADD COLUMN kept bigint NOT NULL DEFAULT 0 CHECK (kept >= 0);
UPDATE failed_request_counts c SET kept = f.kept
  FROM (SELECT account_id, date_trunc('hour', failed_at, 'UTC') AS hour, key_id, status, code, count(*) AS kept
    FROM former_failed_requests GROUP BY 1, 2, 3, 4, 5) f
  WHERE (c.account_id, c.hour, c.key_id, c.status, c.code) = (f.account_id, f.hour, f.key_id, f.status, f.code);
DROP TABLE former_failed_requests;

-- What of an account's day is in the list: its row is locked while more is added, so that all gateways together keep within the limit.
CREATE TABLE failed_request_days (
  account_id  text NOT NULL,
  day         date NOT NULL,
  kept        integer NOT NULL CHECK (kept >= 0),
  PRIMARY KEY (account_id, day)
);
CREATE INDEX failed_request_days_time_index ON failed_request_days (day);
INSERT INTO failed_request_days SELECT account_id, (failed_at AT TIME ZONE 'UTC')::date, count(*) FROM failed_requests GROUP BY 1, 2;
