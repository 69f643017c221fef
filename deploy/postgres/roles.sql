-- The three roles of the gateway's database, and whose its tables are. Run by a superuser in that database; may be repeated.
-- svc_migrator owns the schema and changes it; svc_gateway serves, and can rewrite no book; svc_reader reads reports.
DO $$
DECLARE
  role_name text;
  statement text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['svc_migrator', 'svc_gateway', 'svc_reader'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
      EXECUTE format('CREATE ROLE %I', role_name);
    END IF;
    EXECUTE format('ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', role_name);
  END LOOP;
  -- Tables and types that were made under another role.
  FOR statement IN
    SELECT format('ALTER TABLE public.%I OWNER TO svc_migrator', relname) FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relowner <> 'svc_migrator'::regrole
    UNION ALL
    SELECT format('ALTER DOMAIN public.%I OWNER TO svc_migrator', typname) FROM pg_type
      WHERE typnamespace = 'public'::regnamespace AND typtype = 'd' AND typowner <> 'svc_migrator'::regrole
    UNION ALL
    SELECT format('ALTER FUNCTION %s OWNER TO svc_migrator', oid::regprocedure) FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND proowner <> 'svc_migrator'::regrole
  LOOP
    EXECUTE statement;
  END LOOP;
END $$;
ALTER SCHEMA public OWNER TO svc_migrator;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO svc_gateway, svc_reader;
