-- A gateway may add usage records without owning their table: the months' partitions are made in the owner's name.
ALTER FUNCTION ensure_usage_partitions(date, integer) SECURITY DEFINER SET search_path = public, pg_temp;
