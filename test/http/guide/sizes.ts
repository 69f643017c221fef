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
  { what: 'body of a request', value: (config) => mebibytes(config.maxBodyBytes), beyond: '413' },
  { what: 'arrays and objects inside each other', value: (config) => String(config.maxJsonDepth), beyond: '400' },
  {
    what: 'values in a body',
    value: () => count(constant('http/body.ts', 'MAX_JSON_VALUES')),
    beyond: '400',
  },
  {
    what: 'names of fields in a body that differ',
    value: () => count(constant('http/body.ts', 'MAX_JSON_NAMES')),
    beyond: '400',
  },
  { what: 'tokens of one request for embeddings', value: () => count(MAX_EMBEDDING_TOKENS), beyond: '400' },
  { what: 'answer in one piece', value: () => mebibytes(MAX_ANSWER_BYTES), beyond: '502; stream it' },
  { what: 'wait for the first content', value: () => minutes(DEADLINE_MS), beyond: '504' },
  {
    what: 'silence in a stream until a sign of life is sent',
    value: () => `${KEEP_ALIVE_MS / 1000} seconds`,
    beyond: 'a comment, a `ping` or white space, which libraries skip',
  },
  {
    what: 'silence of a connection between two requests',
    value: () => `${KNOWN_IDLE_SECONDS} seconds`,
    beyond: 'it is closed; libraries open another',
  },
  {
    what: 'characters of an `Idempotency-Key`',
    value: () => count(constant('http/idempotency/header.ts', 'MAX_KEY_CHARS')),
    beyond: '400 `invalid_idempotency_key`',
  },
  { what: 'life of an `Idempotency-Key`', value: () => hours(KEEP_MS), beyond: 'the request is a new one' },
  {
    what: 'keys of an account in that time',
    value: () => count(SHARED.idempotencyKeys.perAccount),
    beyond: '429 `too_many_idempotency_keys`',
  },
  {
    what: 'answer that is kept for its key',
    value: () => mebibytes(MAX_KEPT_BYTES),
    beyond: '409 `idempotency_answer_lost` when asked for again',
  },
  {
    what: 'time that a request with a key goes on after its client has gone',
    value: () => minutes(FINISH_UNSEEN_MS),
    beyond: 'it is ended',
  },
  {
    what: 'life of a stored response',
    value: ({ storedResponses }) => `${storedResponses.maxHours} hours`,
    beyond: '400 `previous_response_not_found`',
  },
  { what: 'stored responses of an account', value: () => count(MAX_STORED_RESPONSES), beyond: 'the oldest go' },
  {
    what: 'stored response with its input',
    value: () => mebibytes(MAX_STORED_BYTES),
    beyond: 'it is not stored: `store` says `false`',
  },
  {
    what: 'stored conversation',
    value: () => `${count(MAX_CHAIN_LINKS)} answers, ${mebibytes(MAX_CHAIN_BYTES)}, ${count(MAX_CHAIN_VALUES)} values`,
    beyond: '400 `chain_too_large`',
  },
  { what: 'file of a batch', value: () => `${mebibytes(MAX_FILE_BYTES)}, ${count(MAX_LINES)} lines`, beyond: '413' },
  {
    what: 'files and results of batches of an account',
    value: () => mebibytes(SHARED.batchStorage.perAccount),
    beyond: '403 `storage_full`; a running batch pauses',
  },
  {
    what: 'life of files and results of batches',
    value: ({ batchRetentionDays }) => `${batchRetentionDays} days`,
    beyond: '404',
  },
  {
    what: 'free answers of an account, and refusals of a key, per minute',
    value: () => count(SHARED.freeAnswers.perAccount),
    beyond: '429 `too_many_unpaid`',
  },
  {
    what: 'bodies and conversations that are read of an account for free, or for a refusal, per minute',
    value: () => mebibytes(SHARED.unpaidBytes.perAccount),
    beyond: '429 `too_many_unpaid`',
  },
  {
    what: 'invalid keys, from one network, per minute',
    value: () => count(constant('http/unpaid.ts', 'STRANGERS_PER_MINUTE')),
    beyond: '429 `too_many_unpaid`',
  },
]
