/**
 * Makes changes idempotent: a repeated request with the same idempotency key gets the first response. Used by the management API and the
 * dashboard. docs/decisions/0036-kept-answers-are-read-by-their-senders.md says which responses are stored, and how they are kept secret.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Manager } from '@/accounts/management/management-keys'
import { GatewayError } from '@/chat/error'
import type { HttpDeps } from '@/http/deps'
import type { RequestName } from '@/http/idempotency/header'
import { requestIdOf } from '@/http/request-id'
import { assert } from '@/lib/assert'

/** Longer than any change takes. If a change is open for longer, its gateway has died. */
const OPEN_MS = 60_000
const RETRY_AFTER_SECONDS = 1

type Change = {
  accountId: string
  sender: string
  /** The sender's credential, which only they have. It encrypts the stored response. */
  secret: string
  name: RequestName
  request: Request
}

type OpenChange = {
  /** Stores the response, or frees the key if the response is a refusal. Returns the same response. */
  end(response: Response): Promise<Response>
  free(): Promise<void>
}

/**
 * Claims the key of a change. If an earlier request used the key, returns its response. Throws `conflict` (409) if the key belongs to a
 * different request, or the response is missing, and `rate_limited` for too many keys.
 */
export async function openChange(
  { claims }: Pick<NonNullable<HttpDeps['idempotency']>, 'claims'>,
  { accountId, sender, secret, name, request }: Change,
): Promise<Response | OpenChange> {
  const { fingerprint, key } = name
  const claimant = {
    ...{ accountId, keyId: sender, fingerprint, requestId: requestIdOf(request) },
    // The word `change` separates these keys from the idempotency keys of paid requests.
    idempotencyKey: `change ${sender} ${key}`,
  }
  const seal = sealOf(secret, key)
  const outcome = await claims.claim(claimant)
  if (outcome.kind !== 'claimed') return repeated(outcome, seal)
  return {
    free: () => claims.free(claimant),
    async end(response) {
      const { status } = response
      // Refused and failed requests changed nothing, so they may be repeated.
      if (status >= 400) {
        await claims.free(claimant)
        return response
      }
      const [body, headers] = [await response.text(), [...response.headers]]
      const isKept = await claims.keep(claimant, { status, headers, body: seal.close(body) })
      if (!isKept) await claims.spend(claimant)
      return new Response(body, { status, headers })
    },
  }
}

/** Runs `change` once for the key of `manager`'s request, see {@link openChange}. */
export async function changeOnce(
  { idempotency }: Pick<HttpDeps, 'idempotency'>,
  { manager, ...rest }: Omit<Change, 'accountId' | 'sender'> & { manager: Pick<Manager, 'accountId' | 'keyId'> },
  change: () => Promise<Response>,
): Promise<Response> {
  assert(idempotency, 'a name is only read where answers may be kept')
  const opened = await openChange(idempotency, { accountId: manager.accountId, sender: manager.keyId, ...rest })
  if (opened instanceof Response) return opened
  const response = await change().catch(async (error: unknown) => {
    await opened.free()
    throw error
  })
  return await opened.end(response)
}

type Earlier = Exclude<
  Awaited<ReturnType<NonNullable<HttpDeps['idempotency']>['claims']['claim']>>,
  { kind: 'claimed' }
>

function repeated(earlier: Earlier, seal: Seal): Response {
  switch (earlier.kind) {
    case 'full':
      throw new GatewayError('rate_limited', 'Too many idempotency keys were used in the last 24 hours.', {
        ...{ code: 'too_many_idempotency_keys', retryAfterSeconds: earlier.retryAfterMs / 1000 },
      })
    case 'reused':
      throw conflict('idempotency_key_reused', 'This Idempotency-Key was used for another request.', earlier.requestId)
    case 'kept': {
      const body = seal.open(earlier.answer.body)
      if (body === undefined) throw lost(earlier.requestId)
      const { status, headers } = earlier.answer
      return new Response(body, { status, headers: [...headers, ['idempotent-replayed', 'true']] })
    }
    case 'spent':
      throw lost(earlier.requestId)
    case 'open':
      if (earlier.ageMs > OPEN_MS) throw lost(earlier.requestId)
      throw new GatewayError(
        'conflict',
        'A request with this Idempotency-Key is under way. Ask again for its answer.',
        {
          ...{ code: 'idempotency_key_in_use', retryAfterSeconds: RETRY_AFTER_SECONDS },
          details: { originalRequestId: earlier.requestId },
        },
      )
  }
}

function lost(originalRequestId: string): GatewayError {
  const message =
    'The first request with this Idempotency-Key may have been done, and its answer is not there any more. See what has changed ' +
    'before you send it with a new key.'
  return conflict('idempotency_answer_lost', message, originalRequestId)
}

function conflict(code: string, message: string, originalRequestId: string): GatewayError {
  return new GatewayError('conflict', message, { code, details: { originalRequestId } })
}

type Seal = { close(text: string): string; open(sealed: string): string | undefined }

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts stored responses. Decryption needs the sender's credential and the same idempotency key. */
function sealOf(secret: string, idempotencyKey: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', secret, idempotencyKey, 'kept answer of the management API', KEY_BYTES))
  return {
    close(text) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
    },
    open(text) {
      const bytes = Buffer.from(text, 'base64')
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      try {
        return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        return undefined
      }
    },
  }
}
