/**
 * Shares expiring tokens among calls: requested once, renewed early, never by two calls at once. **fresh**: the token is returned at once.
 * **aging** (its last minutes): also returned at once, while one request for the next token runs in the background. **none** (expired, or
 * not requested yet): all calls wait for the same request. After failed requests, the pause before the next one grows; until then a valid
 * token is used, and without one calls fail at once.
 */

import { type Clock, systemClock } from '@/lib/clock'
import { UNWANTED, watchFor } from '@/lib/deadline'
import { sha256Hex } from '@/lib/ids'
import { CredentialError, type CredentialStatus } from './authorizer'

/** A token, with its expiry by our own clock. */
export type Token = { value: string; expiresAtMs: number }

export interface TokenSource {
  /** A valid token. Rejects with a CredentialError if there is none, or when `signal` is aborted. */
  get(signal: AbortSignal): Promise<string>
  /** Drops the token if it is still `value`. Returns whether the next one will differ. */
  drop(value: string): boolean
  warm(): void
  status(): CredentialStatus
}

type SourceOptions = {
  fetchToken(): Promise<Token>
  clock?: Clock
  random?: () => number
}

/** The last part of a token's life, in which it is renewed: five minutes, but at most a fifth of its life. */
const AGING_MS = 300_000
const AGING_SPREAD_MS = 60_000
const AGING_SHARE = 0.2
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Creates a source without requesting a token. */
export function createTokenSource(options: SourceOptions): TokenSource {
  const { fetchToken, clock = systemClock, random = Math.random } = options
  let token: (Token & { agesAtMs: number }) | undefined
  let running: Promise<string> | undefined
  const count = { obtained: 0, failed: 0 }
  let failure: { error: unknown; untilMs: number; pauseMs: number } | undefined

  async function ask(): Promise<string> {
    try {
      const next = await fetchToken()
      const lifeMs = next.expiresAtMs - clock.now()
      const agingMs = Math.min(AGING_MS + (2 * random() - 1) * AGING_SPREAD_MS, lifeMs * AGING_SHARE)
      token = { ...next, agesAtMs: next.expiresAtMs - agingMs }
      failure = undefined
      count.obtained++
      return next.value
    } catch (error) {
      count.failed++
      const pauseMs = Math.min((failure?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS)
      failure = { error, pauseMs, untilMs: clock.now() + pauseMs * (0.5 + random() / 2) }
      throw error
    }
  }

  function refresh(): Promise<string> {
    if (!running && failure && clock.now() < failure.untilMs) return Promise.reject(failure.error)
    running ??= ask().finally(() => {
      running = undefined
    })
    return running
  }

  return {
    async get(signal) {
      const now = clock.now()
      if (token && now < token.expiresAtMs) {
        // A failed renewal is no error for this call, since its token is still valid.
        if (now >= token.agesAtMs) refresh().catch(() => undefined)
        return token.value
      }
      const watch = watchFor(signal)
      try {
        const value = await watch.orUnwanted(refresh())
        if (value === UNWANTED) throw new CredentialError('the credential is no longer needed')
        return value
      } finally {
        watch.clear()
      }
    },
    drop(value) {
      if (token?.value === value) token = undefined
      return !failure || clock.now() >= failure.untilMs
    },
    warm() {
      if (!token) refresh().catch(() => undefined)
    },
    status: () => ({ ...count, expiresAtMs: token?.expiresAtMs }),
  }
}

/** One token source per identity and process, shared by providers and catalogues, and kept while any of them uses it. */
const sources = new Map<string, WeakRef<TokenSource>>()

/** The shared source for `identity`, which must include everything that its tokens depend on, with secrets. Created at first use. */
export function sharedSource(identity: readonly unknown[], create: () => TokenSource): TokenSource {
  const name = sha256Hex(JSON.stringify(identity))
  const known = sources.get(name)?.deref()
  if (known) return known
  const source = create()
  sources.set(name, new WeakRef(source))
  return source
}
