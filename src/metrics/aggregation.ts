/** How the metrics of several processes become one gateway's: counters add up; of gauges, own work adds up, shared state doesn't. */

/** `each`: of every process for itself, told apart by the label `process`. */
type GaugeRule = 'sum' | 'max' | 'min' | 'each'

/** The rule of every gauge. Of shared state the worst that any process sees, so that an alert is not lost in a mean. */
export const GAUGE_RULES: Readonly<Record<string, GaugeRule>> = {
  svc_open_streams: 'sum',
  svc_open_holds: 'sum',
  svc_unacknowledged_settlements: 'sum',
  svc_provider_calls_in_flight: 'sum',
  svc_provider_calls_queued: 'sum',
  svc_provider_key_draining: 'sum',
  svc_redis_commands_in_flight: 'sum',
  svc_postgres_connections: 'sum',
  svc_postgres_connections_max: 'sum',
  svc_postgres_queries_waiting: 'sum',
  svc_flusher_lag_records: 'max',
  svc_flusher_lag_seconds: 'max',
  svc_flusher_healthy: 'min',
  svc_mails_waiting: 'max',
  svc_mails_waiting_seconds: 'max',
  svc_store_memory_ratio: 'max',
  svc_store_takes_requests: 'min',
  svc_redis_connected: 'min',
  svc_ledger_drift_violations: 'max',
  svc_ledger_check_timestamp_seconds: 'max',
  svc_ledger_check_duration_seconds: 'max',
  svc_ledger_check_accounts: 'max',
  svc_catalog_info: 'max',
  svc_catalog_loaded_timestamp_seconds: 'min',
  svc_circuit_state: 'max',
  svc_provider_key_resting: 'max',
  svc_provider_keys_usable: 'min',
  svc_provider_credential_expires_timestamp_seconds: 'min',
  process_start_time_seconds: 'each',
  process_resident_memory_bytes: 'each',
  process_heap_used_bytes: 'each',
  process_open_fds: 'each',
  process_max_fds: 'each',
}

/** The rule of the gauge `name`. One that nobody has decided on is shown of each process: nothing is lost, and nothing added up wrongly. */
export function gaugeRule(name: string): GaugeRule {
  return GAUGE_RULES[name] ?? 'each'
}
