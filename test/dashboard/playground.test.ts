/** The playground in Chromium: a conversation that streams, stops, fails, is paid by session or key, and shown as code. Slow: streams. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatChunk, chatStream, eventStream, liveStream, usageChunk, usageOf } from '@test/support/upstream'
import type { Page } from 'playwright-core'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'

const WORDS = ['Hello ', '<img src=x onerror=alert(1)>', '\n\n  - one\n  - two']
let gateway: TestGateway
const browser = testBrowser()
let person: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response(),
    catalog(file) {
      const [alpha] = file.models
      file.models.push({ ...alpha, id: 'svc/beta', name: 'Beta', capabilities: [] })
      file.models.push({ ...alpha, id: 'svc/seeing', name: 'Seeing', capabilities: ['images'] })
    },
  })
})
beforeEach(async () => {
  gateway.upstream.respond(() => eventStream(...chatStream(WORDS, usageOf(20, 30))))
  person = await signUpPerson(gateway)
  await pay('10')
})
afterAll(() => gateway.stop())

async function pay(usd: string): Promise<void> {
  const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
  const { accountId } = person.viewer
  await credits.addCredit({ accountId, amount: nano(Number(usd) * 1e9), reference: crypto.randomUUID() })
}

async function open(path = '/dashboard/playground', more: object = {}): Promise<Page> {
  const page = await browser.open(path, { url: gateway.url, cookie: person.cookie, ...more })
  await page.getByLabel('Message').waitFor()
  return page
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.getByLabel('Message').press('Enter')
}

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

describe('a conversation', () => {
  test('a conversation shows Markdown without HTML, with time and cost, and continues', async () => {
    const page = await open('/dashboard/playground?model=svc/beta')
    await page.getByLabel('System prompt').fill('Be brief.')
    await page.getByLabel('Temperature').fill('0.3')
    await page.getByLabel('Longest answer').fill('500')
    await say(page, 'Hi')
    const log = page.getByRole('log')
    await log.getByText('$0.00008').waitFor()
    await log.getByRole('listitem').nth(1).waitFor()
    const text = await log.textContent()
    expect(text).toContain('Hello <img src=x onerror=alert(1)>')
    expect(await log.locator('img').count()).toBe(0)
    expect(await log.getByRole('listitem').allInnerTexts()).toEqual(['one', 'two'])
    for (const fact of ['svc/beta', 'First token', '20 in, 30 out']) expect(text).toContain(fact)
    await say(page, 'And?')
    await until(async () => (await log.getByText('$0.00008').count()) === 2)
    expect(gateway.upstream.calls.at(-1)?.body).toMatchObject({
      ...{ temperature: 0.3, max_tokens: 500 },
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: WORDS.join('') },
        { role: 'user', content: 'And?' },
      ],
    })
    expect((await gateway.balance(person.viewer.accountId)).spent).toBe(nano(160_000))
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('Try a model').waitFor()
  })

  test('an answer appears word by word, and can be stopped', async () => {
    const live = liveStream()
    gateway.upstream.respond(() => live.response)
    const page = await open()
    await say(page, 'Tell me a long story')
    live.write(event(chatChunk({ reasoning_content: 'I could begin at the end.' })))
    await page.getByText('I could begin at the end.').waitFor()
    live.write(event(chatChunk({ content: 'Once upon a time' })))
    await page.getByText('Once upon a time').waitFor()
    expect(await page.getByRole('log').getAttribute('aria-busy')).toBe('true')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('what was written is charged').waitFor()
    const { accountId } = person.viewer
    await until(async () => (await gateway.balance(accountId)).spent > 0)
    expect(await gateway.balance(accountId)).toMatchObject({ held: nano(0) })
    gateway.upstream.respond(() => eventStream(...chatStream(['Sure.'])))
    await say(page, 'Go on')
    await page.getByText('Sure.').waitFor()
    expect(gateway.upstream.calls.at(-1)?.body.messages).toMatchObject([{}, { content: 'Once upon a time' }, {}])
  })

  test('a failed answer shows its reason, before or after its first words, and can be repeated', async () => {
    gateway.upstream.respond(() => Response.json({ error: { message: 'no' } }, { status: 500 }))
    const page = await open()
    await say(page, 'Hi')
    await page.getByRole('alert').getByText('provider').waitFor()
    await expectAccessible(page)
    gateway.upstream.respond(() => eventStream(chatChunk({ content: 'Half an ans' })))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Half an ans').waitFor()
    await page.getByRole('alert').waitFor()
    gateway.upstream.respond(() => eventStream(...chatStream(['Whole.'])))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Whole.').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(gateway.upstream.calls.at(-1)?.body.messages).toMatchObject([{ role: 'user', content: 'Hi' }])
  })

  test('without credit the conversation links to the credit page', async () => {
    person = await signUpPerson(gateway)
    const page = await open()
    await say(page, 'Hi')
    await page.getByRole('link', { name: 'Buy credit' }).click()
    await page.waitForURL('**/credit')
  })
})

describe('an answer', () => {
  const ANSWER = [
    '# Title\n\nSee [the guide](https://example.test/guide), [this](javascript:alert(1)), [that](/dashboard/api/session).',
    '\n\n![pixel](https://tracker.example.test/p.png?secret=1)\n\n<script>alert(1)</script>\n\n',
    '| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n```ts\nconst one = 1\n```\n\n```\nsecond\n```\n',
  ]

  test('links in an answer only open web pages, no content is loaded or run, and code can be copied', async () => {
    gateway.upstream.respond(() => eventStream(...chatStream(ANSWER, usageOf(20, 30))))
    const page = await open()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await say(page, '**Hi**')
    const log = page.getByRole('log')
    await log.getByText('$0.00008').waitFor()
    await log.getByText('second').waitFor()
    // The text stands there as it came until the code that reads Markdown is loaded.
    await log.getByRole('link').nth(1).waitFor()
    const links = await log
      .getByRole('link')
      .evaluateAll((all) => all.map((one) => [one.getAttribute('href'), one.getAttribute('rel')]))
    expect(links).toEqual([
      ['https://example.test/guide', 'noopener noreferrer nofollow'],
      ['https://tracker.example.test/p.png?secret=1', 'noopener noreferrer nofollow'],
    ])
    const text = (await log.textContent()) ?? ''
    for (const part of ['**Hi**', '<script>alert(1)</script>', 'this', '☑ done']) expect(text).toContain(part)
    expect(await log.getByRole('cell').allInnerTexts()).toEqual(['1', '2'])
    expect(await log.getByRole('heading').count()).toBe(0)
    expect(asked.filter((url) => !url.startsWith(gateway.url))).toEqual([])
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await log.getByRole('button', { name: 'Copy code' }).first().click()
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await until(async () => (await copied()) === 'const one = 1', 'the code to be copied')
    await page.getByLabel('Message').focus()
    await page.mouse.move(0, 0)
    await page.getByRole('tooltip').waitFor({ state: 'detached' })
    await expectAccessible(page)
  })

  test('images are sent to the model if it accepts them', async () => {
    const page = await open('/dashboard/playground?model=svc/beta')
    expect(await page.getByRole('button', { name: 'Attach images' }).count()).toBe(0)
    await page.goto(`${gateway.url}/dashboard/playground?model=svc/seeing`)
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach images' }).click()
    await (await chooser).setFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('no') }])
    await page.getByText('a.txt is no PNG').waitFor()
    const again = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach images' }).click()
    await (await again).setFiles([{ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(DOT, 'base64') }])
    await page.getByRole('img', { name: 'Attached 1' }).waitFor()
    await expectAccessible(page)
    await say(page, 'What is it?')
    await page.getByRole('log').getByText('$0.00008').waitFor()
    expect(gateway.upstream.calls.at(-1)?.body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${DOT}` } },
        ],
      },
    ])
    await expectAccessible(page)
  })
})

/** One dark pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

describe('the paying key', () => {
  test('a pasted key pays with its own limits, and is stored nowhere', async () => {
    const { body } = await person.json('POST', '/dashboard/api/a/:accountId/keys', {
      name: 'own',
      allowedModels: ['svc/beta'],
    })
    const { key, item } = body as { key: string; item: { id: string } }
    const page = await open('/dashboard/playground?model=svc/alpha')
    await page.getByText('An API key').click()
    await page.getByText('Paste your API key').waitFor()
    await page.getByLabel('API key', { exact: true }).fill(key)
    await say(page, 'Hi')
    await page.getByText("This API key may not call the model 'svc/alpha'").waitFor()
    await page.getByRole('combobox', { name: 'Model' }).fill('Beta')
    await page.getByRole('option', { name: /Beta/ }).click()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('$0.00008').waitFor()
    const used = await until(async () => {
      const { body: detail } = await person.json('GET', `/dashboard/api/a/:accountId/keys/${item.id}`)
      return (detail as { total: { spentUsd: string } }).total.spentUsd === '0.00008'
    })
    expect(used).toBe(true)
    const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))
    expect(stored).not.toContain(key)
  })

  test('while the built-in key is deactivated no request is sent, and the page links to the key', async () => {
    const page = await open()
    await say(page, 'Hi')
    await page.getByText('$0.00008').waitFor()
    const { body } = await person.json('GET', '/dashboard/api/a/:accountId/keys')
    const { items } = body as { items: { id: string }[] }
    await person.json('POST', `/dashboard/api/a/:accountId/keys/${items[0]?.id}/deactivate`, {})
    await say(page, 'Hi again')
    await page.getByRole('alert').getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('row', { name: /Playground.*Deactivated/ }).waitFor()
  })
})

test('the playground shows its call as code in every language, with the chosen settings', async () => {
  const page = await open('/dashboard/playground?model=svc/beta')
  await page.getByLabel('System prompt').fill('Be "brief".')
  await say(page, "What's up?")
  await page.getByText('$0.00008').waitFor()
  await page.getByRole('button', { name: 'Code' }).click()
  const dialog = page.getByRole('dialog')
  for (const language of ['curl', 'openai', 'openai-responses', 'anthropic', 'genai', 'python']) {
    await dialog.getByLabel('Language').selectOption(language)
    const code = (await dialog.getByRole('region').textContent()) ?? ''
    for (const part of [gateway.url, 'svc/beta', 'brief', 'up?', 'YOUR_API_KEY']) expect(code).toContain(part)
    expect(code).not.toContain('Hello')
  }
  await expectAccessible(page)
})

test('the playground fits a phone, and is accessible in the dark scheme', async () => {
  const page = await open('/dashboard/playground', { width: 360, colorScheme: 'dark' })
  await expectAccessible(page)
  gateway.upstream.respond(() => eventStream(...chatStream(['word'.repeat(100)]), usageChunk()))
  await say(page, 'x'.repeat(300))
  await page.getByText('wordword').first().waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('if the catalogue fails to load, the playground says why and can load it again', async () => {
  const page = await browser.open('/dashboard/settings', { url: gateway.url, cookie: person.cookie })
  const refusal = { error: { message: 'Out for lunch.', type: 'x', param: null, code: null } }
  await page.route('**/dashboard/api/models', (route) => route.fulfill({ status: 418, json: refusal }))
  await page.getByRole('link', { name: 'Playground' }).click()
  await page.getByText('Out for lunch.').waitFor()
  await page.unroute('**/dashboard/api/models')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByLabel('Message').waitFor()
})
