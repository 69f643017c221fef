import { readJsonBody } from '@/http/body'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { requireActiveKey } from '@/http/require-active-key'
import { isLarge } from '@/http/unpaid'
import type { KeyUsage, Payer } from '@/ledger/outcomes'
import type { JsonObject } from '@/lib/json'
import type { Share } from './share'

export type FreeRequest = {
  key: KeyUsage
  /** Reads the body when its turn comes. Throws like readJsonBody, and `overloaded`. */
  read(): Promise<{ body: JsonObject; bytes: number; share: Share }>
  /** Call it after the response, successful or not. */
  end(): void
}

/**
 * Opens a free request with a body: checks the key, limits the body, waits for its turn. Counts a free answer of the account. Throws before
 * the body is read if the account has used up its free answers, the key is not allowed, or the body is large and the account lacks credit.
 */
export async function openFree(deps: HttpDeps, request: Request, payer: Payer): Promise<FreeRequest> {
  deps.unpaid.answer(payer)
  const key = await requireActiveKey(deps, payer, sentFrom(deps, request))
  if (isLarge(request)) await deps.unpaid.admitFree(payer)
  const announced = Number(request.headers.get('content-length') ?? 0)
  deps.unpaid.charge(payer, announced)
  const share = deps.openShare(payer, true)
  return {
    key,
    async read() {
      const { json, bytes } = await readJsonBody(request, deps, { share })
      return { body: json, bytes, share }
    },
    end() {
      deps.unpaid.charge(payer, share.bytesRead - announced)
      share.end()
    },
  }
}
