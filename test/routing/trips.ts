/** Requests on their way through the usual models, every answer of the providers in the test's hands. */

import type { Model } from '@/catalog/types'
import { providerError } from '@/formats/provider-error'
import type { Failover } from '@/routing/failover/failover'
import type { AttemptFault } from '@/routing/failover/fault-class'
import type { Permit } from '@/routing/failover/permit'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import { targetId } from '@/routing/health/target-id'
import { buildPlan } from '@/routing/plan/plan'
import { createTestParts, type TestParts } from './parts'
import { catalogOf, modelOf, providerOf, requestOf } from './world'

export const p1 = providerOf('p1', {}, 2)
const p2 = providerOf('p2')
export const alpha = modelOf('svc/alpha', [p1, p2])
export const beta = modelOf('svc/beta', [p2])

export const SERVER_ERROR = refused(500)
export const BAD_REQUEST = refused(400)

/** An answer of a provider that is none. */
export function refused(status: number, retryAfterSeconds?: number, message = ''): AttemptFault {
  return {
    kind: 'refused',
    error: providerError({ status, kind: '', message, ...(retryAfterSeconds && { retryAfterSeconds }) }),
  }
}

/** The target and the key that were let through. */
export function nameOf(permit: Permit | undefined): string | undefined {
  return permit && `${targetId(permit.planned.target)} ${permit.key.id}`
}

/** Fails every attempt with `fault` and returns where they went. */
export async function failAll(failover: Failover, fault: (permit: Permit) => AttemptFault): Promise<string[]> {
  const names: string[] = []
  for (let permit = await failover.next(); permit; ) {
    names.push(nameOf(permit) ?? '')
    permit = await failover.next(permit.failed(fault(permit)))
  }
  return names
}

export type Trips = {
  parts: TestParts
  /** Whoever makes all of them. */
  client: AbortController
  /** Sets out for the first of `models`, with the others to fall back to. */
  begin(models?: Model[], stream?: boolean, accountId?: string): Failover
  eventsOf<Type extends RoutingEvent['type']>(type: Type): Extract<RoutingEvent, { type: Type }>[]
}

/** Parts of their own, and a way to set out with them. */
export function createTrips(): Trips {
  const parts = createTestParts()
  const client = new AbortController()
  return {
    parts,
    client,
    begin(models = [alpha, beta], stream = false, accountId = 'acc_1') {
      const [first, ...rest] = models.map((model) => model.id)
      const plan = buildPlan(catalogOf(models), requestOf({ model: first as string, fallback: rest }))
      return parts.begin(plan, client.signal, stream, accountId)
    },
    eventsOf: (type) => parts.events.filter((event) => event.type === type) as never,
  }
}
