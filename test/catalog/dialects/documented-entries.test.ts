/** The providers that the pages for operators show are sound, and offered once their variables are set. */
import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { SAMPLE } from '@test/catalog/sample-catalog'
import { documentedBlocks } from '@test/deploy/documents/blocks'
import { loadCatalog } from '@/catalog/catalog'
import type { JsonObject } from '@/lib/json'

/** The key file of a service account, as it is downloaded. */
function keyFile(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return JSON.stringify({ type: 'service_account', client_email: 'a@p.iam.gserviceaccount.com', private_key })
}

const BLOCKS = (await documentedBlocks()).filter(({ info }) => info === 'json providers')

test('the pages show providers', () => {
  expect(new Set(BLOCKS.map(({ document }) => document)).size).toBeGreaterThan(1)
})

test.each(BLOCKS.map(({ document, line, text }) => [document, line, text] as const))('%s:%d', (_, __, text) => {
  const providers = JSON.parse(`{${text}}`) as JsonObject
  const [first = ''] = Object.keys(providers)
  const [model] = SAMPLE.models
  const models = [{ ...model, fallback: [], targets: [{ provider: first, model: 'a-deployment' }] }]
  const file = JSON.stringify({ service: 'svc', providers, models })
  const names = [...file.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
  const environment = Object.fromEntries(names.map((name) => [name, `value-of-${name}`]))
  if (names.includes('GOOGLE_SERVICE_ACCOUNT')) environment.GOOGLE_SERVICE_ACCOUNT = keyFile()
  expect(loadCatalog(file, environment)).toMatchObject({ kind: 'loaded', withoutKey: [], notOffered: [] })

  const [missed] = names
  if (missed === undefined) return
  const without = loadCatalog(file, { ...environment, [missed]: undefined }, { sandboxBaseUrl: 'http://127.0.0.1:1' })
  const unset = Object.entries(providers).filter(([, entry]) => JSON.stringify(entry).includes(`{${missed}}`))
  const isLone = unset.length === Object.keys(providers).length
  expect(without).toMatchObject({ kind: 'loaded', withoutKey: isLone ? [] : unset.map(([name]) => name) })
})
