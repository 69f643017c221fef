/** Limits of the guide that stand in single places of the code, each with what a caller meets beyond it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAX_EMBEDDING_TOKENS } from '@/chat/embedding'
import type { Config } from '@/config/config'
import { MAX_ANSWER_BYTES } from '@/gateway/attempt/read-complete'
import { KEEP_ALIVE_MS } from '@/gateway/relay/relay-stream'
import { MAX_FILE_BYTES, MAX_LINES } from '@/http/batches/input-lines'
import { KEEP_MS, MAX_ANSWER_BYTES as MAX_KEPT_BYTES } from '@/http/idempotency/kept-answers'
import { FINISH_UNSEEN_MS } from '@/http/idempotency/operation'
import { KNOWN_IDLE_SECONDS } from '@/http/silence'
import { assert } from '@/lib/assert'
import { SHARED } from '@/limits/shared-resources'
import { DEADLINE_MS } from '@/routing/failover/failover'
import {
  MAX_CHAIN_BYTES,
  MAX_CHAIN_LINKS,
  MAX_CHAIN_VALUES,
  MAX_STORED_BYTES,
  MAX_STORED_RESPONSES,
} from '@/stored-responses/limits'

type SizeRow = { what: string; value(config: Config): string; beyond: string }

const SOURCES = join(import.meta.dir, '..', '..', '..', 'src')

/** The value of a constant that its file keeps to itself: a number, or a product of some. */
function constant(file: string, name: string): number {
  const text = readFileSync(join(SOURCES, file), 'utf8')
  const factors = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+)$`, 'm').exec(text)?.[1]
  assert(factors, `${file} has ${name}`)
  return factors.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1)
}

const MINUTE_MS = 60_000
const count = (value: number) => value.toLocaleString('en-US')
const mebibytes = (bytes: number) => `${count(bytes / 1024 / 1024)} MiB`
const minutes = (ms: number) => `${ms / MINUTE_MS} minutes`
const hours = (ms: number) => `${ms / MINUTE_MS / 60} hours`

/** In the order of the page. */
export const SIZE_ROWS: readonly SizeRow[] = [
  { what: 'request body', value: (config) => mebibytes(config.maxBodyBytes), beyond: '413' },
  { what: 'nesting of arrays and objects', value: (config) => String(config.maxJsonDepth), beyond: '400' },
  {
    what: 'values in a body',
    value: () => count(constant('http/body.ts', 'MAX_JSON_VALUES')),
    beyond: '400',
  },
  {
    what: 'different field names in a body',
    value: () => count(constant('http/body.ts', 'MAX_JSON_NAMES')),
    beyond: '400',
  },
  { what: 'tokens of an embeddings request', value: () => count(MAX_EMBEDDING_TOKENS), beyond: '400' },
  { what: 'answer without `stream`', value: () => mebibytes(MAX_ANSWER_BYTES), beyond: '502; stream it' },
  { what: 'wait for the first content', value: () => minutes(DEADLINE_MS), beyond: '504' },
  {
    what: 'silence in a stream',
    value: () => `${KEEP_ALIVE_MS / 1000} seconds`,
    beyond: 'a keep-alive is sent; libraries skip it',
  },
  {
    what: 'idle connection',
    value: () => `${KNOWN_IDLE_SECONDS} seconds`,
    beyond: 'closed; libraries open another',
  },
  {
    what: '`Idempotency-Key`: characters',
    value: () => count(constant('http/idempotency/header.ts', 'MAX_KEY_CHARS')),
    beyond: '400 `invalid_idempotency_key`',
  },
  { what: '`Idempotency-Key`: lifetime', value: () => hours(KEEP_MS), beyond: 'the request is new' },
  {
    what: '`Idempotency-Key`: keys of an account in 24 hours',
    value: () => count(SHARED.idempotencyKeys.perAccount),
    beyond: '429 `too_many_idempotency_keys`',
  },
  {
    what: '`Idempotency-Key`: stored answer',
    value: () => mebibytes(MAX_KEPT_BYTES),
    beyond: 'a repetition gets 409 `idempotency_answer_lost`',
  },
  {
    what: '`Idempotency-Key`: request after a disconnect',
    value: () => minutes(FINISH_UNSEEN_MS),
    beyond: 'cancelled',
  },
  {
    what: 'stored response: lifetime',
    value: ({ storedResponses }) => `${storedResponses.maxHours} hours`,
    beyond: '400 `previous_response_not_found`',
  },
  {
    what: 'stored responses of an account',
    value: () => count(MAX_STORED_RESPONSES),
    beyond: 'the oldest are deleted',
  },
  {
    what: 'stored response with its input',
    value: () => mebibytes(MAX_STORED_BYTES),
    beyond: 'not stored (`store: false`)',
  },
  {
    what: 'stored conversation',
    value: () => `${count(MAX_CHAIN_LINKS)} answers, ${mebibytes(MAX_CHAIN_BYTES)}, ${count(MAX_CHAIN_VALUES)} values`,
    beyond: '400 `chain_too_large`',
  },
  { what: 'batch file', value: () => `${mebibytes(MAX_FILE_BYTES)}, ${count(MAX_LINES)} lines`, beyond: '413' },
  {
    what: 'batch files and results of an account',
    value: () => mebibytes(SHARED.batchStorage.perAccount),
    beyond: '403 `storage_full`; running batches pause',
  },
  {
    what: 'batch files and results: lifetime',
    value: ({ batchRetentionDays }) => `${batchRetentionDays} days`,
    beyond: '404',
  },
  {
    what: 'per minute: free answers of an account; refusals of a key',
    value: () => count(SHARED.freeAnswers.perAccount),
    beyond: '429 `too_many_unpaid`',
  },
  {
    what: 'per minute: bytes of free and refused requests of an account',
    value: () => mebibytes(SHARED.unpaidBytes.perAccount),
    beyond: '429 `too_many_unpaid`',
  },
  {
    what: 'per minute: invalid keys from one network',
    value: () => count(constant('http/unpaid.ts', 'STRANGERS_PER_MINUTE')),
    beyond: '429 `too_many_unpaid`',
  },
]
