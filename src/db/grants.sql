-- The rights of the roles in deploy/postgres/roles.sql. The tables' owner runs this after the migrations; it may be repeated.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO svc_gateway;
-- Rows of the books are added, and never changed.
REVOKE UPDATE, DELETE ON audit_entries, ledger_entries, credit_transfers, usage_records, migrations FROM svc_gateway;
REVOKE INSERT, UPDATE, DELETE ON archived_usage_records, archived_months, usage_checkpoints FROM svc_gateway;
DO $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT inhrelid::regclass FROM pg_inherits
    WHERE inhparent IN ('usage_records'::regclass, 'archived_usage_records'::regclass) LOOP
    EXECUTE format('REVOKE ALL ON %s FROM svc_gateway', part);
  END LOOP;
END $$;
REVOKE INSERT ON migrations FROM svc_gateway;
REVOKE DELETE ON accounts, api_keys, usage_daily, usage_daily_members, usage_daily_tags, thrown_away_daily FROM svc_gateway;
-- Reports need no credential: neither those of people nor hashes of keys.
GRANT SELECT ON accounts, ledger_entries, credit_transfers, usage_records, usage_daily, usage_daily_members, usage_daily_tags, budgets, thrown_away_daily, tier_observations, audit_entries, orders, order_events, payments, reversals, approvals,
  dead_letters, migrations, archived_usage_records, archived_months, usage_checkpoints TO svc_reader;
REVOKE EXECUTE ON FUNCTION ensure_usage_partitions(date, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ensure_usage_partitions(date, integer) TO svc_gateway;
GRANT EXECUTE ON FUNCTION keep_failure_partitions(date) TO svc_gateway;
