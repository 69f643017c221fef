/** The numbers in docs/SECURITY.md equal those in the code. Other tests check that the code keeps to them. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from '@/accounts/passwords'
import { KNOWN_SECONDS } from '@/console/auth/limits'
import { MAX_WEBHOOK_BYTES, WEBHOOK_TOLERANCE_SECONDS } from '@/console/orders/deposits/webhook-signature'
import { KEEP_MS, MAX_ANSWER_BYTES } from '@/http/idempotency/kept-answers'
import { LEAST_ACCOUNT_BYTES, LEAST_CLAIMS } from '@/http/idempotency/room'
import { KNOWN_IDLE_SECONDS } from '@/http/silence'
import { LARGE_BYTES } from '@/http/unpaid'
import { PARSED_BOUNDS, TEXT_BOUNDS } from '@/lib/json'
import { OWN_TURN_BYTES } from '@/lib/wait/own-turn'
import { COPY_SECONDS } from '@/stored-responses/copies'
import { MAX_REFERENCES } from '@/stored-responses/limits'

const ROOT = join(import.meta.dir, '..', '..')
const KIB = 1024
const MIB = 1024 * KIB

/** The value of a constant that its file keeps to itself: a number, or a product of some. */
function constant(file: string, name: string): number {
  const text = readFileSync(join(ROOT, 'src', file), 'utf8')
  const factors = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+)$`, 'm').exec(text)?.[1] ?? ''
  return factors.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1)
}

const n = (value: number) => value.toLocaleString('en-US')

const CLAIMS: readonly [name: string, claim: string][] = [
  [
    'keys',
    `${constant('accounts/key-text.ts', 'SECRET_CHARS')} random base62 characters (178 bits) and a checksum of ${constant('accounts/key-text.ts', 'CHECKSUM_CHARS')} characters`,
  ],
  [
    'bodies',
    `values (${n(constant('http/body.ts', 'MAX_JSON_VALUES'))}), different field names (${n(constant('http/body.ts', 'MAX_JSON_NAMES'))}), characters outside of strings (${constant('http/body.ts', 'MAX_JSON_OUTSIDE') / MIB} Mi), escaped characters (${constant('http/body.ts', 'MAX_JSON_ESCAPES') / MIB} Mi)`,
  ],
  ['texts in bodies', `at most ${n(PARSED_BOUNDS.depth)} levels and ${n(PARSED_BOUNDS.values)} values`],
  [
    'arguments',
    `All arguments of a request have at most ${n(TEXT_BOUNDS.values)} values, each at most ${n(TEXT_BOUNDS.names)} names`,
  ],
  ['copies of stored answers', COPY_SECONDS === 600 ? 'and for ten minutes in Redis' : 'another time'],
  [
    'items that only providers read',
    `up to ${constant('formats/responses/client-side/stored/kept-items.ts', 'MAX_UNREAD_CHARS') / KIB} KiB of other items`,
  ],
  ['stored items', `names at most ${n(MAX_REFERENCES)} stored items`],
  ['long conversations', `From ${LARGE_BYTES / KIB} KiB on, a stored conversation is read only if`],
  [
    'stored answers',
    `in Redis for ${KEEP_MS / 3_600_000} hours, for keys of the same account. They outlive a \`DELETE\` of the response. An answer may have ${MAX_ANSWER_BYTES / MIB} MiB`,
  ],
  ['stored answers in a full store', `an answer may have ${LEAST_ACCOUNT_BYTES / KIB} KiB; beyond three quarters none`],
  ['keys in a full store', `fewer beyond half of \`REDIS_FULL_PERCENT\`, ${n(LEAST_CLAIMS)} beyond three quarters`],
  [
    'silent connections',
    `closed after ${constant('boot/serve.ts', 'STRANGER_IDLE_SECONDS')} seconds; after an accepted key or session, after ${KNOWN_IDLE_SECONDS}.`,
  ],
  [
    'bodies of the dashboard',
    `up to ${constant('console/http/guard.ts', 'FORM_BYTES') / KIB} KiB of a body, or the route's own limit`,
  ],
  ['strangers', `Invalid keys: ${constant('http/unpaid.ts', 'STRANGERS_PER_MINUTE')} a minute for each address`],
  ['large bodies', `A body above ${LARGE_BYTES / KIB} KiB, and any body`],
  ['steps of large bodies', `a processing step of a body above ${OWN_TURN_BYTES / KIB} KiB`],
  ['passwords', `**Passwords** have ${PASSWORD_MIN_CHARS} to ${PASSWORD_MAX_CHARS} characters`],
  ['known clients', `within ${KNOWN_SECONDS / 86_400} days from the same address`],
  ['webhooks', `at most ${MAX_WEBHOOK_BYTES / KIB} KiB and ${WEBHOOK_TOLERANCE_SECONDS} seconds old`],
  ['waiting requests', `behind at most ${constant('accounts/passwords.ts', 'MAX_WAITING')} others`],
]

const security = readFileSync(join(ROOT, 'docs', 'SECURITY.md'), 'utf8').replace(/\s+/g, ' ')

test.each(CLAIMS)('the claim in SECURITY.md about %s is true', (_, claim) => {
  expect(security).toContain(claim)
})
