-- Requests with a valid key that failed. Codes and texts are our own: the only text of a request is the model's name.

-- Rows are kept for thirty days, in a partition per day that is dropped as a whole. An account has at most 10,000 rows a day; further
-- requests are only counted.
CREATE TABLE failed_requests (
  request_id          text NOT NULL,
  account_id          text NOT NULL,
  key_id              text NOT NULL,
  failed_at           timestamptz NOT NULL,
  format              text NOT NULL,
  -- The requested model, if it has the form of a model's name.
  model               text,
  status              integer NOT NULL CHECK (status BETWEEN 400 AND 599),
  code                text NOT NULL CHECK (char_length(code) BETWEEN 1 AND 60),
  -- The faulty field.
  param               text CHECK (char_length(param) <= 120),
  words               text NOT NULL CHECK (char_length(words) <= 400),
  -- The provider's id of the request that it refused.
  provider_request_id text CHECK (char_length(provider_request_id) <= 128),
  -- '' if the key has no member.
  member_id           text NOT NULL DEFAULT '',
  PRIMARY KEY (request_id, failed_at)
) PARTITION BY RANGE (failed_at);
-- Includes the columns of the list's filters, so that a rare reason is found among 300,000 requests without reading them.
CREATE INDEX failed_requests_account_index ON failed_requests (account_id, failed_at DESC, request_id DESC)
  INCLUDE (key_id, member_id, status, code);
CREATE INDEX failed_requests_provider_index ON failed_requests (provider_request_id) WHERE provider_request_id IS NOT NULL;
CREATE TABLE failed_requests_default PARTITION OF failed_requests DEFAULT;

-- Makes the partitions (UTC) from yesterday to the day after tomorrow, and drops those older than thirty days. Returns the number of
-- partitions made.
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
SELECT keep_failure_partitions((now() AT TIME ZONE 'UTC')::date);

-- Counts of all failed requests. hour: the start of the day (UTC). kept: how many of them have a row in failed_requests.
CREATE TABLE failed_request_counts (
  account_id  text NOT NULL,
  hour        timestamptz NOT NULL,
  key_id      text NOT NULL,
  status      integer NOT NULL,
  code        text NOT NULL,
  requests    bigint NOT NULL CHECK (requests > 0),
  kept        bigint NOT NULL DEFAULT 0 CHECK (kept >= 0),
  member_id   text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, hour, key_id, member_id, status, code)
);
CREATE INDEX failed_request_counts_time_index ON failed_request_counts (hour);

-- Rows of an account and day in failed_requests. The row is locked while rows are added, so all gateways keep within the limit.
CREATE TABLE failed_request_days (
  account_id  text NOT NULL,
  day         date NOT NULL,
  kept        integer NOT NULL CHECK (kept >= 0),
  PRIMARY KEY (account_id, day)
);
CREATE INDEX failed_request_days_time_index ON failed_request_days (day);
