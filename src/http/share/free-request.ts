/** The way of a request that asks for a free answer about its body: who may, how much of it is read, and whose turn it is. */

import { readJsonBody } from '@/http/body'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { requireActiveKey } from '@/http/require-active-key'
import { isLarge } from '@/http/unpaid'
import type { KeyUsage, Payer } from '@/ledger/outcomes'
import type { JsonObject } from '@/lib/json'
import type { Share } from './share'

/** One such request, whose body is not read yet. */
export type FreeRequest = {
  /** The key that it came with. */
  key: KeyUsage
  /** Reads the body, when it is its turn. Throws as readJsonBody does, and `overloaded`. */
  read(): Promise<{ body: JsonObject; bytes: number; share: Share }>
  /** To be called once it is answered, well or not. */
  end(): void
}

/**
 * Counts a free answer of the account. Throws before anything of the body is read where the account has had its share, the key is none
 * that may ask, or the body is large and the account has no credit for it.
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
