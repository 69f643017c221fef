/**
 * Tokens that expire, for all calls that need them: asked for once, renewed before the old one ends, and never by two at a time.
 *
 * **fresh**: the token is given at once. **aging** (its last minutes): likewise, while one request for the next one runs in the
 * background. **none** (expired, or not asked for yet): all calls wait for one and the same request. Where requests fail, the next
 * one waits for a growing while; until then a valid token is used, and without one calls fail at once.
 */

import { type Clock, systemClock } from '@/lib/clock'
import { UNWANTED, watchFor } from '@/lib/deadline'
import { sha256Hex } from '@/lib/ids'
import { CredentialError, type CredentialStatus } from './authorizer'

/** `expiresAtMs` by the clock of the source. */
export type Token = { value: string; expiresAtMs: number }

export interface TokenSource {
  /** A token that is valid now. Rejects with a CredentialError where there is none, or `signal` is aborted. */
  get(signal: AbortSignal): Promise<string>
  /** Forgets the token where it is still `value`. Says whether the next one will be another. */
  drop(value: string): boolean
  /** Asks for a token where there is none. */
  warm(): void
  status(): CredentialStatus
}

type SourceOptions = {
  /** Asks for a token. Rejects with a CredentialError. */
  fetchToken(): Promise<Token>
  clock?: Clock
  /** [0, 1): spreads what many processes do. */
  random?: () => number
}

/** The last part of a token's life, in which it is renewed; of a short life no more than a fifth. */
const AGING_MS = 300_000
const AGING_SPREAD_MS = 60_000
const AGING_SHARE = 0.2
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Creates a source that has not asked yet. */
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
        // While a token is valid, a failed renewal is reported only to the caller that needs the next one.
        if (now >= token.agesAtMs) refresh().catch(() => undefined)
        return token.value
      }
      const watch = watchFor(signal)
      try {
        const value = await watch.orUnwanted(refresh())
        if (value === UNWANTED) throw new CredentialError('nobody waits for the credential any more')
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

/** One source of tokens for each identity in a process, whichever providers and catalogues name it: kept as long as any of them does. */
const sources = new Map<string, WeakRef<TokenSource>>()

/** The source of `identity`, which says all that its tokens depend on, secrets included; created where there is none. */
export function sharedSource(identity: readonly unknown[], create: () => TokenSource): TokenSource {
  const name = sha256Hex(JSON.stringify(identity))
  const known = sources.get(name)?.deref()
  if (known) return known
  const source = create()
  sources.set(name, new WeakRef(source))
  return source
}
