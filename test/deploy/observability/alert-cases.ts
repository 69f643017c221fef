/** A gateway that is well, minute by minute, and for each alert what is different where it has to fire. */

/** Values of a series over so many minutes, as promtool reads them. */
type Course = (minutes: number) => string

/** A value that stays, and a counter that rises by so much a minute. */
const stays = (value: number): Course => rises(0, value)
function rises(perMinute: number, from = 0): Course {
  return (minutes) => `${from}+${perMinute}x${minutes}`
}

/** The first, and for the last `late` minutes the second. */
const turns = (before: number, after: number, late: number): Course => begins(0, late, before, after)

/** A counter at `before` that rises by so much in each of the last `late` minutes, or jumps to `after`. */
function begins(perMinute: number, late: number, before = 0, after = before + perMinute): Course {
  return (minutes) => `${before}+0x${minutes - late - 1} ${after}+${perMinute}x${late}`
}

const at = (labels = '') => `{job="svc-gateway",instance="gateway1:3000"${labels && `,${labels}`}}`
const LANE = 'format="messages",model="svc/alpha",provider="provider1"'
const TARGET = 'model="svc/alpha",provider="provider1"'

/** Each series with its values. */
type Values = Record<string, Course>

/** A histogram of which `perMinute` observations a minute are each at most `bound`, one of `bounds`. */
function histogram(name: string, labels: string, perMinute: number, bound: number): Values {
  const bounds = [0.005, 0.05, 0.1, 5, 20, 60]
  const prefix = labels && `${labels},`
  const buckets = bounds.map((le) => [`${name}_bucket${at(`${prefix}le="${le}"`)}`, rises(le >= bound ? perMinute : 0)])
  return {
    ...Object.fromEntries(buckets),
    [`${name}_bucket${at(`${prefix}le="+Inf"`)}`]: rises(perMinute),
    [`${name}_count${at(labels)}`]: rises(perMinute),
  }
}

const SERVED = `svc_requests_total${at(`${LANE},status="200",ending="complete"`)}`
const FAILED = `svc_requests_total${at(`${LANE},status="503",ending="refused"`)}`
const LEFT = `svc_requests_total${at(`${LANE},status="499",ending="refused"`)}`
const BROKEN = `svc_requests_total${at(`${LANE},status="200",ending="broken"`)}`
const attempts = (outcome: string) => `svc_upstream_attempts_total${at(`provider="provider1",outcome="${outcome}"`)}`
const deposits = (outcome: string) => `svc_deposit_events_total${at(`provider="sandbox",outcome="${outcome}"`)}`

const thrownAway = (cause: string) => `svc_thrown_away_calls_total${at(`provider="provider1",cause="${cause}"`)}`

/** What a gateway says that is well, and has something to do. */
export const HEALTHY: Values = {
  [`up${at()}`]: stays(1),
  [SERVED]: rises(60),
  [FAILED]: stays(0),
  [BROKEN]: stays(0),
  [`svc_process_up${at('process="1"')}`]: stays(1),
  [`svc_process_restarts_total${at()}`]: stays(0),
  [`process_start_time_seconds${at('process="1"')}`]: stays(1000),
  [`svc_catalog_reloads_total${at('outcome="taken"')}`]: rises(1),
  [`svc_catalog_reloads_total${at('outcome="refused"')}`]: stays(0),
  [`svc_catalog_info${at('hash="1f0c"')}`]: stays(1),
  [`process_open_fds${at('process="1"')}`]: stays(300),
  [`process_max_fds${at('process="1"')}`]: stays(65_536),
  [`svc_connections_ended_total${at()}`]: stays(0),
  [`svc_store_takes_requests${at()}`]: stays(1),
  [`svc_settlement_journal_sound${at()}`]: stays(1),
  [`svc_store_memory_ratio${at()}`]: stays(0.4),
  [`svc_event_loop_stalls_total${at('route="none"')}`]: stays(1),
  ...histogram('svc_overhead_seconds', '', 60, 0.005),
  ...histogram('svc_time_to_first_token_seconds', TARGET, 30, 5),
  [`svc_ledger_drift_violations${at('kind="total"')}`]: stays(0),
  [`svc_ledger_check_timestamp_seconds${at()}`]: rises(60),
  [`svc_flusher_lag_seconds${at()}`]: stays(1),
  [`svc_flusher_healthy${at()}`]: stays(1),
  [`svc_flusher_dead_letters_total${at()}`]: stays(3),
  [`svc_unacknowledged_settlements${at()}`]: stays(0),
  [`svc_charge_flags_total${at('flag="expired"')}`]: stays(0),
  [`svc_charge_flags_total${at('flag="estimated"')}`]: rises(1),
  ...histogram('svc_redis_duration_seconds', 'operation="reserve"', 60, 0.005),
  [`svc_redis_failures_total${at('operation="reserve"')}`]: stays(0),
  [`svc_redis_connected${at('client="gateway"')}`]: stays(1),
  [`svc_postgres_query_failures_total${at('pool="gateway"')}`]: stays(0),
  [`svc_postgres_queries_waiting${at('pool="gateway"')}`]: stays(0),
  [attempts('answered')]: rises(60),
  [attempts('transient')]: stays(0),
  // What callers do wrong is nobody's alarm, nor is that they leave.
  [LEFT]: rises(20),
  [attempts('request')]: rises(50),
  [attempts('over-limit')]: rises(50),
  [`svc_circuit_state${at('target="provider1/alpha"')}`]: stays(0),
  [`svc_provider_key_refused_total${at('provider="provider1"')}`]: stays(0),
  [`svc_provider_keys_usable${at('provider="provider1"')}`]: stays(2),
  [`svc_cost_usd_total${at(LANE)}`]: rises(0.05),
  [`svc_uncosted_usd_total${at(LANE)}`]: rises(0),
  [`svc_provider_cost_usd_total${at(LANE)}`]: rises(0.04),
  [`svc_unknown_usage_total${at('provider="provider1"')}`]: stays(0),
  [`svc_count_gaps_total${at(`${LANE},gap="clamped"`)}`]: stays(0),
  [`svc_count_gaps_total${at(`${LANE},gap="input_over"`)}`]: rises(1),
  [thrownAway('hang_up')]: rises(1),
  [thrownAway('outrun')]: rises(20),
  // One in a while may be a provider's own mistake.
  [`svc_sold_short_total${at(LANE)}`]: turns(0, 1, 5),
  [deposits('credited')]: rises(1),
  [deposits('waiting')]: stays(0),
  [deposits('chargeback')]: stays(0),
  [`svc_mails_waiting_seconds${at()}`]: stays(3),
}

/** What is different where the alert fires. Others fire beside it only where the same trouble is also theirs. Seventy minutes of it, unless more are said. */
export const CASES: { alert: string; differs: Values; also?: string[]; minutes?: number }[] = [
  { alert: 'ErrorBudgetBurnsFast', differs: { [FAILED]: begins(10, 59) }, minutes: 400 },
  { alert: 'ErrorBudgetBurnsFast', differs: { [BROKEN]: begins(10, 59) }, minutes: 400 },
  { alert: 'ErrorBudgetBurnsSlowly', differs: { [FAILED]: rises(3) }, minutes: 400 },
  { alert: 'GatewayDown', differs: { [`up${at()}`]: turns(1, 0, 2) } },
  { alert: 'GatewayDown', differs: { [`up${at()}`]: (minutes) => `1+0x10 _x${minutes - 10}` } },
  { alert: 'PaidRequestsRefused', differs: { [`svc_store_takes_requests${at()}`]: turns(1, 0, 1) } },
  { alert: 'ServerProcessMissing', differs: { [`svc_process_up${at('process="1"')}`]: turns(1, 0, 2) } },
  { alert: 'ServerProcessDied', differs: { [`svc_process_restarts_total${at()}`]: turns(0, 1, 5) } },
  {
    alert: 'GatewayRestarts',
    differs: { [`process_start_time_seconds${at('process="1"')}`]: begins(60, 10, 1000) },
  },
  {
    alert: 'CatalogRefused',
    differs: { [`svc_catalog_reloads_total${at('outcome="refused"')}`]: turns(0, 1, 5) },
  },
  {
    alert: 'CatalogsDiffer',
    differs: { [`svc_catalog_info${at('hash="77ab"').replace('gateway1', 'gateway2')}`]: stays(1) },
  },
  { alert: 'ConnectionsNearLimit', differs: { [`process_open_fds${at('process="1"')}`]: turns(300, 47_000, 6) } },
  { alert: 'ConnectionsEnded', differs: { [`svc_connections_ended_total${at()}`]: begins(40, 14) } },
  { alert: 'EventLoopStalls', differs: { [`svc_event_loop_stalls_total${at('route="none"')}`]: begins(1, 5) } },
  { alert: 'OverheadHigh', differs: histogram('svc_overhead_seconds', '', 60, 0.1) },
  { alert: 'LedgerDrift', differs: { [`svc_ledger_drift_violations${at('kind="total"')}`]: turns(0, 1, 0) } },
  {
    alert: 'LedgerUnchecked',
    differs: {
      [`svc_ledger_check_timestamp_seconds${at()}`]: (minutes) => `0+60x${minutes - 30} ${60 * (minutes - 30)}+0x30`,
    },
  },
  { alert: 'RecordsWait', differs: { [`svc_flusher_lag_seconds${at()}`]: turns(1, 90, 3) } },
  {
    alert: 'MoneyUnbooked',
    differs: { [`svc_flusher_lag_seconds${at()}`]: turns(1, 1000, 3) },
    also: ['RecordsWait'],
  },
  { alert: 'RecordsPutAside', differs: { [`svc_flusher_dead_letters_total${at()}`]: turns(3, 4, 5) } },
  { alert: 'SettlementsKept', differs: { [`svc_unacknowledged_settlements${at()}`]: turns(0, 1, 3) } },
  { alert: 'JournalRefused', differs: { [`svc_settlement_journal_sound${at()}`]: turns(1, 0, 2) } },
  { alert: 'HoldsExpire', differs: { [`svc_charge_flags_total${at('flag="expired"')}`]: begins(3, 5) } },
  { alert: 'RedisNearlyFull', differs: { [`svc_store_memory_ratio${at()}`]: turns(0.4, 0.8, 6) } },
  { alert: 'RedisSlow', differs: histogram('svc_redis_duration_seconds', 'operation="reserve"', 60, 0.1) },
  {
    alert: 'RedisCallsFail',
    differs: { [`svc_redis_failures_total${at('operation="reserve"')}`]: begins(60, 5) },
  },
  { alert: 'RedisCallsFail', differs: { [`svc_redis_connected${at('client="gateway"')}`]: turns(1, 0, 2) } },
  { alert: 'PostgresAway', differs: { [`svc_flusher_healthy${at()}`]: turns(1, 0, 3) } },
  {
    alert: 'PostgresQueriesFail',
    differs: { [`svc_postgres_query_failures_total${at('pool="gateway"')}`]: begins(60, 6) },
  },
  {
    alert: 'PostgresPoolExhausted',
    differs: { [`svc_postgres_queries_waiting${at('pool="gateway"')}`]: turns(0, 4, 6) },
  },
  { alert: 'ProviderDown', differs: { [attempts('transient')]: begins(200, 5) } },
  { alert: 'ProviderErrors', differs: { [attempts('transient')]: rises(6) } },
  { alert: 'CircuitOpen', differs: { [`svc_circuit_state${at('target="provider1/alpha"')}`]: turns(0, 2, 6) } },
  {
    alert: 'ProviderKeyRefused',
    differs: { [`svc_provider_key_refused_total${at('provider="provider1"')}`]: turns(0, 1, 5) },
  },
  {
    alert: 'ProviderKeysBlocked',
    differs: { [`svc_provider_keys_usable${at('provider="provider1"')}`]: turns(2, 0, 2) },
  },
  {
    alert: 'CredentialNotRenewed',
    differs: { [`svc_provider_credentials_total${at('provider="provider1",outcome="failed"')}`]: begins(1, 5, 0) },
  },
  { alert: 'FirstTokenSlow', differs: histogram('svc_time_to_first_token_seconds', TARGET, 30, 60) },
  { alert: 'MarginNegative', differs: { [`svc_provider_cost_usd_total${at(LANE)}`]: rises(0.08) } },
  { alert: 'UsageUnknown', differs: { [`svc_unknown_usage_total${at('provider="provider1"')}`]: turns(0, 1, 5) } },
  { alert: 'CountsImpossible', differs: { [`svc_count_gaps_total${at(`${LANE},gap="clamped"`)}`]: turns(0, 1, 5) } },
  { alert: 'ClientsHangUp', differs: { [thrownAway('hang_up')]: rises(20) } },
  { alert: 'AnswersSoldShort', differs: { [`svc_sold_short_total${at(LANE)}`]: turns(0, 5, 5) } },
  { alert: 'DepositsWait', differs: { [deposits('waiting')]: turns(0, 1, 5) } },
  { alert: 'MailsWait', differs: { [`svc_mails_waiting_seconds${at()}`]: rises(60) } },
  { alert: 'DepositsReversed', differs: { [deposits('chargeback')]: turns(0, 1, 5) } },
]
