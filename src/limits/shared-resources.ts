/**
 * Everything that customers share, and how much of it one of them may have. Code that hands a resource out takes its numbers from here;
 * the table of docs/SECURITY.md is this list, and a test compares both.
 */

/** One thing that is shared. A number that is left out has no meaning for it, or is said in `told`. */
export type SharedResource = {
  /** As people read it. */
  resource: string
  /** What the numbers count. */
  unit: string
  /** The most that one account has, by all of its keys together. */
  perAccount?: number
  /** The most that all have together, in one process. */
  perProcess?: number
  /** The most that all have together, in the whole installation. */
  perStore?: number
  /** What happens beyond that, as its caller sees it. */
  told: string
}

const MIB = 1024 * 1024

/** By a short name. A resource that is shared has a row here, or no limit was decided on. */
export const SHARED = {
  freeAnswers: {
    resource: 'Free answers: token counts, `/v1/route`, `/v1/usage`, `/v1/feedback`, stored responses',
    unit: 'a minute, more where the catalogue allows more',
    perAccount: 600,
    told: '429 `too_many_unpaid`',
  },
  unpaidBytes: {
    resource: 'Bodies and conversations read for free or for a refusal',
    unit: 'bytes a minute',
    perAccount: 32 * MIB,
    told: '429 `too_many_unpaid`',
  },
  unreadBytes: {
    resource: 'The event loop, for bodies above 256 KiB that are answered unread',
    unit: 'bytes a minute, for each address',
    perAccount: 32 * MIB,
    told: 'the answer is the last on its connection, which is closed before the body is whole',
  },
  unpaidTurns: {
    resource: 'The event loop, for a large free body, many fields, or a long stored conversation',
    unit: 'requests at once',
    perAccount: 1,
    perProcess: 2,
    told: 'waits 5 s at most, then 503',
  },
  longSteps: {
    resource: 'The event loop, for a step of any body above 256 KiB, or as many vectors',
    unit: 'in one turn',
    perProcess: 1,
    told: 'waits its turn',
  },
  bodies: {
    resource: 'Memory for bodies until their answers have ended',
    unit: 'bytes at once, of bodies above 16 KiB',
    perAccount: 128 * MIB,
    perProcess: 320 * MIB,
    told: 'waits 5 s at most, then 503',
  },
  vectors: {
    resource: 'Memory for long lists of vectors until their client has them',
    unit: 'bytes at once, estimated',
    perAccount: 96 * MIB,
    perProcess: 256 * MIB,
    told: 'waits 20 s at most, then 503',
  },
  chainBytes: {
    resource: 'Reading a stored conversation',
    unit: 'bytes for one request',
    perAccount: 16 * MIB,
    told: '400 `chain_too_large`',
  },
  chainValues: {
    resource: 'Parsing it',
    unit: 'JSON values for one request',
    perAccount: 100_000,
    told: '400 `chain_too_large`',
  },
  keptAnswers: {
    resource: 'Redis, for answers kept by an `Idempotency-Key`',
    unit: 'bytes for 24 hours, less in a full Redis',
    perAccount: 32 * MIB,
    told: 'the oldest are dropped: 409 `idempotency_answer_lost`',
  },
  signatures: {
    resource: 'Redis, for signatures of providers',
    unit: 'bytes in 24 hours, none in a full Redis',
    perAccount: 32 * MIB,
    told: 'nothing: a conversation goes on without earlier reasoning',
  },
  storedCopies: {
    resource: 'Redis, for copies of the newest stored answers',
    unit: 'bytes in ten minutes, none in a full Redis',
    perAccount: 16 * MIB,
    perProcess: 64 * MIB,
    told: 'nothing: the answer is written to Postgres',
  },
  storedWrites: {
    resource: 'Postgres, for stored answers without such a copy',
    unit: 'at once',
    perAccount: 8,
    perProcess: 32,
    told: 'the answer says `store: false`',
  },
  idempotencyKeys: {
    resource: 'Redis, for the keys themselves',
    unit: 'keys in 24 hours (fewer beyond half of `REDIS_FULL_PERCENT`, 1,000 beyond three quarters)',
    perAccount: 50_000,
    told: '429 `too_many_idempotency_keys`',
  },
  paidCounts: {
    resource: "The tokenizer's thread, for paid requests",
    unit: 'counts that wait',
    perAccount: 16,
    perProcess: 64,
    told: 'nothing: one byte counts as one token, which may hold more credit',
  },
  freeCounts: {
    resource: "The tokenizer's thread, for free counts, after all paid ones",
    unit: 'counts that wait',
    perAccount: 4,
    perProcess: 32,
    told: 'nothing: the count is a guess',
  },
  readingOn: {
    resource: 'Calls that are read on after their client has left',
    unit: "percent of a provider's `onDisconnect.maxConcurrent` (50)",
    perAccount: 25,
    perProcess: 100,
    told: 'nothing: the provider is stopped, what was relayed is counted',
  },
  openRequests: {
    resource: 'Open requests',
    unit: 'at once, unless the catalogue or an operator says otherwise',
    perAccount: 200,
    told: '429 `rate_limit_exceeded`',
  },
  connections: {
    resource: 'Descriptors, for connections without an open request',
    unit: 'at once, for each address (`CONNECTIONS_PER_ADDRESS`)',
    perAccount: 512,
    told: 'the oldest are closed',
  },
  providerSlots: {
    resource: 'Slots of a provider with a `maxConcurrency`, and places in line for one',
    unit: 'percent (of fewer than five all)',
    perAccount: 80,
    perProcess: 100,
    told: 'the next target, else waits 2 s at most, then 503 `provider_busy`',
  },
  keyLimits: {
    resource: "Providers' keys, which rest after a 429",
    unit: 'accounts that meet it before a key rests for all',
    perProcess: 2,
    told: 'the key rests for the account that met it',
  },
  reads: {
    resource: 'The event loop and Postgres, for reads of pages and by management keys',
    unit: 'at once',
    perAccount: 2,
    perProcess: 8,
    told: 'waits 5 s at most, then 503',
  },
  pageReads: {
    resource: "Postgres, for usage on the dashboard's pages (four connections of their own)",
    unit: 'look-ups at once',
    perAccount: 2,
    perProcess: 4,
    told: 'waits 5 s at most, then 503',
  },
  exports: {
    resource: 'The same, for exports',
    unit: 'exports at once',
    perAccount: 2,
    perProcess: 8,
    told: '429',
  },
  changes: {
    resource: 'The audit log, for changes by signed-in people and management keys',
    unit: 'changes a minute (a person half, a management key a quarter)',
    perAccount: 240,
    told: '429 `too_many_attempts`',
  },
  mails: {
    resource: 'The outbox of mails, after those that a person waits for',
    unit: 'mails an hour: of alerts, reports, changes and invitations each; a person likewise',
    perAccount: 60,
    told: 'later mails wait for another hour',
  },
  hashing: {
    resource: 'Hashing of passwords, for people who have not signed in before',
    unit: 'at once',
    perProcess: 3,
    told: 'waits its turn behind 200 others at most, then 503',
  },
} as const satisfies Record<string, SharedResource>
