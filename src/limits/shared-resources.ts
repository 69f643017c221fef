/**
 * Everything that customers share, and how much of it one of them may have: the one list of it. Whoever hands a resource out takes its
 * numbers from here; the table of docs/SECURITY.md is this list, and a test holds one to the other.
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

/** By a short name. A resource that is shared has a row here, or nobody has thought of who owns it. */
export const SHARED = {
  freeAnswers: {
    resource: 'Free answers: counts of tokens, `/v1/route`, `/v1/usage`, `/v1/feedback`, stored responses',
    unit: 'a minute (more where the catalogue allows more requests)',
    perAccount: 600,
    told: '429 `too_many_unpaid` with `retry-after`',
  },
  unpaidBytes: {
    resource: 'Bodies and conversations that are read for free or for a refusal',
    unit: 'bytes a minute',
    perAccount: 32 * MIB,
    told: '429 `too_many_unpaid` with `retry-after`, before anything more is read',
  },
  unpaidTurns: {
    resource: 'The event loop for a large free body, any body of many fields, or a long conversation behind an id',
    unit: 'requests at once',
    perAccount: 1,
    perProcess: 2,
    told: 'waits its turn, 5 s at most, then 503 with `retry-after`',
  },
  longSteps: {
    resource:
      'The event loop for a step of any body above 256 KiB (decoding, parsing, writing it out, handing it on), and for reading as many vectors',
    unit: 'in one turn of the loop, in the order in which they come',
    perProcess: 1,
    told: 'nothing: each waits for its turn, and others have theirs in between',
  },
  bodies: {
    resource: 'Memory for bodies from their arrival to the end of their answers, with what they build on',
    unit: 'bytes at once, of bodies above 16 KiB',
    perAccount: 128 * MIB,
    perProcess: 320 * MIB,
    told: 'waits its turn unread, 5 s at most, then 503 with `retry-after`',
  },
  vectors: {
    resource: 'Memory for long lists of vectors, from before a provider is asked until their client has them',
    unit: 'bytes at once, as many as inputs and dimensions make likely',
    perAccount: 96 * MIB,
    perProcess: 256 * MIB,
    told: 'waits its turn, 20 s at most, then 503 with `retry-after`; a client that takes nothing for a minute is cut off',
  },
  chainBytes: {
    resource: 'Reading a conversation behind `previous_response_id` or ids of items',
    unit: 'bytes for one request, told from sums before it is read',
    perAccount: 16 * MIB,
    told: '400 `chain_too_large`; 402 where the credit does not pay the least of it',
  },
  chainValues: {
    resource: 'Parsing it',
    unit: 'JSON values for one request',
    perAccount: 100_000,
    told: '400 `chain_too_large`',
  },
  keptAnswers: {
    resource: 'Redis, for answers that are kept by an `Idempotency-Key`',
    unit: 'bytes for 24 hours (less the fuller Redis is; beyond half of `REDIS_FULL_PERCENT` 64 KiB, beyond three quarters none)',
    perAccount: 32 * MIB,
    told: 'the oldest of whoever keeps most are dropped: their keys are 409 `idempotency_answer_lost`, charged and not sent again',
  },
  signatures: {
    resource: 'Redis, for what providers have signed, where the format of a client has no room for it',
    unit: 'bytes in 24 hours, of all processes together (none beyond half of `REDIS_FULL_PERCENT`)',
    perAccount: 32 * MIB,
    told: 'nothing: a conversation goes on without what its model has thought before, as after 24 hours',
  },
  storedCopies: {
    resource: 'Redis, for copies of the newest stored answers',
    unit: 'bytes in ten minutes (none beyond half of `REDIS_FULL_PERCENT`)',
    perAccount: 16 * MIB,
    perProcess: 64 * MIB,
    told: 'nothing: the answer is written to Postgres before its last word is sent',
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
    told: '429 `too_many_idempotency_keys` with `retry-after`',
  },
  paidCounts: {
    resource: "The tokenizer's thread, for requests that are paid for",
    unit: 'counts that wait',
    perAccount: 16,
    perProcess: 64,
    told: 'nothing: beyond it one byte counts as one token, which may hold more credit',
  },
  freeCounts: {
    resource: "The tokenizer's thread, for free counts: after all paid ones",
    unit: 'counts that wait',
    perAccount: 4,
    perProcess: 32,
    told: 'nothing: beyond it the count is a guess',
  },
  readingOn: {
    resource: 'Calls that are read on after their clients have left',
    unit: "percent of a provider's `maxConcurrent`, 50 at once unless its `onDisconnect` says otherwise",
    perAccount: 25,
    perProcess: 100,
    told: 'nothing: the provider is stopped, and what was relayed is counted',
  },
  openRequests: {
    resource: 'Requests that are being answered, with what an answer holds while its client does not read it',
    unit: 'at once (unless the catalogue or an operator says otherwise), of all processes together',
    perAccount: 200,
    told: '429 `rate_limit_exceeded`; the provider of a client that does not read is held back, and cut off in the end',
  },
  connections: {
    resource: 'Descriptors, for connections on which nothing is being answered',
    unit: 'at once, of an address instead of an account (unless `CONNECTIONS_PER_ADDRESS` says otherwise)',
    perAccount: 512,
    told: 'the oldest are ended; as those of whoever has most are where strangers have three quarters of the descriptors',
  },
  providerSlots: {
    resource: 'Slots of a provider that has a `maxConcurrency`, and places in line for one',
    unit: 'percent of them (of fewer than five all)',
    perAccount: 80,
    perProcess: 100,
    told: 'another target of its plan is asked, else it waits its turn, 2 s at most, then 503 `provider_busy` with `retry-after`',
  },
  keyLimits: {
    resource: "Providers' keys, which rest after a 429",
    unit: 'accounts that have to meet it before a key rests for all, where the provider does not say what is left',
    perProcess: 2,
    told: 'the key rests for the account that met it',
  },
  pageReads: {
    resource: "Postgres, for what the dashboard's pages show of usage; it has four connections of its own for that",
    unit: 'look-ups at once, of 8 s each at most',
    perAccount: 2,
    perProcess: 4,
    told: 'waits its turn, 5 s at most, then 503 with `retry-after`',
  },
  exports: {
    resource: 'The same, for exports, page by page in the same turns',
    unit: 'exports at once',
    perAccount: 2,
    perProcess: 8,
    told: '429 with `retry-after`; a client that takes nothing for a minute is cut off',
  },
  changes: {
    resource: 'The audit log, whose writers wait for each other: what signed-in people and management keys change',
    unit: 'changes a minute, of which one person makes half, and one management key a quarter',
    perAccount: 240,
    told: '429 `too_many_attempts` with `retry-after`',
  },
  hashing: {
    resource:
      'Hashing of passwords, for strangers; who has signed in before has one more place and a line of their own',
    unit: 'at once',
    perProcess: 3,
    told: 'waits its turn behind 200 others at most, then 503 with `retry-after`',
  },
} as const satisfies Record<string, SharedResource>
