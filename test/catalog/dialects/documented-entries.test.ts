/** The provider entries in the operators' pages are valid, and offered once their variables are set. */
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

const ALL = await documentedBlocks()
const BLOCKS = ALL.filter(({ info }) => info === 'json providers')

test('several pages for operators show provider entries', () => {
  expect(new Set(BLOCKS.map(({ document }) => document)).size).toBeGreaterThan(1)
})

test.each(BLOCKS.map(({ document, line, text }) => [document, line, text] as const))(
  'the provider entries at %s:%d load',
  (_, __, text) => {
    const providers = JSON.parse(`{${text}}`) as JsonObject
    const [first = ''] = Object.keys(providers)
    const [model] = SAMPLE.models
    const models = [{ ...model, fallback: [], targets: [{ provider: first, model: 'a-deployment' }] }]
    const file = JSON.stringify({ service: 'svc', providers, models })
    const names = [...file.matchAll(/\$\{(\w+)(?:\|\w+)?\}/g)].map(([, name = '']) => name)
    const environment = Object.fromEntries(names.map((name) => [name, `value-of-${name}`]))
    if (names.includes('GOOGLE_SERVICE_ACCOUNT')) environment.GOOGLE_SERVICE_ACCOUNT = keyFile()
    expect(loadCatalog(file, environment)).toMatchObject({ kind: 'loaded', withoutKey: [], notOffered: [] })

    const [missed] = names
    if (missed === undefined) return
    const without = loadCatalog(file, { ...environment, [missed]: undefined }, { sandboxBaseUrl: 'http://127.0.0.1:1' })
    const unset = Object.entries(providers).filter(([, entry]) => JSON.stringify(entry).includes(`{${missed}}`))
    const isLone = unset.length === Object.keys(providers).length
    expect(without).toMatchObject({ kind: 'loaded', withoutKey: isLone ? [] : unset.map(([name]) => name) })
  },
)

test('E24: targets that a page shows load with the page’s providers, each at the cost stated there', () => {
  const shown = ALL.filter(({ info }) => info === 'json targets')
  expect(shown.length).toBeGreaterThan(0)
  for (const { document, text } of shown) {
    const providers = BLOCKS.filter((block) => block.document === document).map(({ text: entries }) => entries)
    const [model] = SAMPLE.models
    const pricing = { inputPer1mTokens: 4, outputPer1mTokens: 20 }
    const file = {
      ...{ service: 'svc', providers: JSON.parse(`{${providers.join(',')}}`) },
      models: [{ ...model, fallback: [], pricing, ...JSON.parse(`{${text}}`) }],
    }
    const names = [...JSON.stringify(file).matchAll(/\$\{(\w+)(?:\|\w+)?\}/g)].map(([, name = '']) => name)
    const environment = Object.fromEntries(names.map((name) => [name, keyFile()]))
    const loaded = loadCatalog(JSON.stringify(file), { ...environment, VERTEX_EXPRESS_KEY: 'key' })
    const sold = loaded.kind === 'loaded' ? [...loaded.catalog.models.values()] : []
    expect(sold.flatMap(({ targets }) => targets.map(({ cost }) => Number(cost?.base.input)))).toEqual([
      3_000_000, 3_300_000,
    ])
  }
})

test('the Bedrock policy in the docs allows calling models, and nothing else', async () => {
  const policies = (await documentedBlocks()).filter(({ info }) => info === 'json policy')
  const [statement] = policies.flatMap(({ text }) => JSON.parse(text).Statement)
  expect(statement).toMatchObject({
    Effect: 'Allow',
    Action: ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'],
  })
  for (const resource of statement.Resource)
    expect(resource).toMatch(/^arn:aws:bedrock:\*:(?:\d{12})?:[a-z-]+\/[a-z.]+-\*$/)
})
