/** The steps around the free requests for files and batches: caller, limits, and what the caller sees. */
import type { Scope } from '@/batches/types'
import { authenticate } from '@/http/auth'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { openToPage } from '@/http/pages'
import { requireActiveKey } from '@/http/require-active-key'
import { allowSilence, endSilence } from '@/http/silence'
import type { KeyUsage, Payer } from '@/ledger/outcomes'

export type FreeCaller = { payer: Payer; scope: Scope; key: KeyUsage }

/** Answers a free request of a key that may be used now. */
export async function answerFree(
  deps: HttpDeps,
  request: Request,
  work: (caller: FreeCaller) => Promise<Response>,
): Promise<Response> {
  const payer = await authenticate(deps, request)
  deps.unpaid.answer(payer)
  const key = await requireActiveKey(deps, payer, sentFrom(deps, request))
  return openToPage(request, await work({ payer, scope: await deps.batchScope(payer), key }))
}

/** Work during which the connection may be silent, such as making a batch of a large file. */
export async function inSilence<T>(request: Request, work: () => Promise<T>): Promise<T> {
  allowSilence(request)
  try {
    return await work()
  } finally {
    endSilence(request)
  }
}
