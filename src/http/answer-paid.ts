import { GatewayError, restarting } from '@/chat/error'
import { assert } from '@/lib/assert'
import { authenticate } from './auth'
import { type JsonBody, readJsonBody } from './body'
import { answerOnce } from './idempotency/answer-once'
import { type RequestName, readRequestName } from './idempotency/header'
import { readForm } from './multipart'
import type { PaidRequest } from './paid-request'

/** The steps around every paid use case: caller, limits, body, and refusals. Never rejects: errors become responses. */
export async function answerPaid(paid: PaidRequest): Promise<Response> {
  const { deps, arrived, endpoint, requestId, line } = paid
  deps.tracing?.identified(arrived, requestId)
  try {
    if (deps.isDraining()) throw restarting()
    const paying = endpoint.payerOf?.(arrived) ?? authenticate(deps, arrived)
    const payer = paying instanceof Promise ? await paying : paying
    line.payer = payer
    deps.tracing?.knownPayer(requestId, payer)
    const name = readRequestName(arrived, deps.idempotency !== undefined)
    const admission = name ? admitNamed(paid, name) : admit(paid)
    if (admission) await admission
    const share = deps.openShare(payer)
    paid.share = share
    const { maxJsonValues: maxValues, maxFormBytes } = endpoint
    const reading = { maxValues, onBytes: name?.ofBody, share }
    const body = await (maxFormBytes === undefined
      ? readJsonBody(arrived, deps, reading)
      : readForm(arrived, maxFormBytes, reading))
    paid.read()
    return paid.opened(await (name ? answerNamed(paid, name, body) : paid.answer(body)))
  } catch (error) {
    return paid.opened(paid.refusal(error))
  }
}

/** Lines of a batch are not checked: few run at a time, and they are already in memory. */
function admit({ deps, payer, arrived, endpoint }: PaidRequest): Promise<unknown> | undefined {
  return endpoint.batchLine ? undefined : deps.unpaid.admit(payer, arrived)
}

/** Checks a request with an idempotency key before its body is read. A key that was used before needs no credit: repetitions are free. */
async function admitNamed({ deps, payer, arrived }: PaidRequest, { key }: RequestName): Promise<void> {
  try {
    await deps.unpaid.admit(payer, arrived)
  } catch (error) {
    const isRepetition =
      isForWantOfMeans(error) && (await deps.idempotency?.claims.isKnown({ ...payer, idempotencyKey: key }))
    if (!isRepetition) throw error
  }
}

function isForWantOfMeans(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false
  const { kind, options } = error
  return kind === 'insufficient_credit' || (kind === 'rate_limited' && options.code !== 'too_many_unpaid')
}

/** Answers a request with an idempotency key, which is charged once. */
function answerNamed(paid: PaidRequest, { key, fingerprint }: RequestName, body: JsonBody): Promise<Response> {
  const { deps, payer, requestId, signal, line } = paid
  assert(deps.idempotency, 'a name is only read where answers may be kept')
  const claimant = { ...payer, idempotencyKey: key, fingerprint, requestId }
  const asker = {
    from: paid,
    signal,
    isStream: () => line.stream === true,
    onReplay(originalRequestId: string, status: number) {
      deps.unpaid.charge(payer, paid.share?.bytesRead ?? 0)
      paid.onEnd()
      deps.requestLog.replayed(line, originalRequestId, status)
    },
  }
  return answerOnce({ ...deps, ...deps.idempotency }, claimant, asker, async (once) => {
    paid.answerOnce(once, claimant)
    return paid.answer(body)
  })
}
