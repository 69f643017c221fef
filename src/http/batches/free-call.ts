/** The common steps of free requests for files and batches: the caller's key, its limits, and the batches that it may read. */
import type { Scope } from '@/batches/types'
import { authenticate } from '@/http/auth'
import { sentFrom } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { openToPage } from '@/http/pages'
import { requireActiveKey } from '@/http/require-active-key'
import { allowSilence, endSilence } from '@/http/silence'
import type { KeyUsage, Payer } from '@/ledger/outcomes'

export type FreeCaller = { payer: Payer; scope: Scope; key: KeyUsage }

/** Answers a free request, if its key is active and within its limits. */
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

/** Runs long `work`, such as creating a batch from a large file, without the connection's idle timeout. */
export async function inSilence<T>(request: Request, work: () => Promise<T>): Promise<T> {
  allowSilence(request)
  try {
    return await work()
  } finally {
    endSilence(request)
  }
}
