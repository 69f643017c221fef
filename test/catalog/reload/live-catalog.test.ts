/** The catalogue in use: replaced as a whole, with everything that is computed from it. */
import { expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf } from '@test/routing/world'
import { createLiveCatalog, liveLimits, perCatalog } from '@/catalog/reload/live-catalog'

const alpha = catalogOf([modelOf('svc/alpha', [providerOf('p1')])])
const beta = {
  ...catalogOf([modelOf('svc/beta', [providerOf('p1')])]),
  limits: { requestsPerMinute: 1, tokensPerMinute: 2, concurrency: 3 },
}

test('a new catalogue applies at once, listeners get old and new, and a snapshot does not change', () => {
  const live = createLiveCatalog(alpha)
  const snapshot = live.current
  const heard: unknown[] = []
  live.onReplaced((next, before) => heard.push([next, before, live.current]))
  live.replace(beta)
  expect(live.current).toBe(beta)
  expect(snapshot).toBe(alpha)
  expect(heard).toEqual([[beta, alpha, beta]])
})

test('a value derived from a catalogue is computed once per catalogue', () => {
  const live = createLiveCatalog(alpha)
  let times = 0
  const ids = perCatalog(live, ({ models }) => {
    times++
    return [...models.keys()]
  })
  expect([ids(), ids()]).toEqual([['svc/alpha'], ['svc/alpha']])
  live.replace(beta)
  expect([ids(), ids(), times]).toEqual([['svc/beta'], ['svc/beta'], 2])
})

test('limits derived from the catalogue follow it, also as JSON', () => {
  const live = createLiveCatalog(alpha)
  const limits = liveLimits(live)
  live.replace(beta)
  expect({ ...limits }).toEqual(beta.limits)
  expect(JSON.parse(JSON.stringify(limits))).toEqual(beta.limits)
})
