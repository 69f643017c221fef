/** The pages of API keys and models in Chromium: creating, changing, rotating, searching and trying. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import type { Page } from 'playwright-core'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'

const CODE_LIKE = '<b>Gamma</b> & Co'
let gateway: TestGateway
const browser = testBrowser()
let person: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))),
    catalog(file) {
      const [alpha] = file.models
      file.models.push({ ...alpha, id: 'svc/gamma', name: CODE_LIKE, contextLength: 512_000, capabilities: ['files'] })
    },
  })
})
beforeEach(async () => {
  person = await signUpPerson(gateway)
  const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
  await credits.addCredit({ accountId: person.viewer.accountId, amount: nano(10e9), reference: crypto.randomUUID() })
})
afterAll(() => gateway.stop())

function open(path: string): Promise<Page> {
  return browser.open(path, { url: gateway.url, cookie: person.cookie })
}

async function createKey(body: object = {}): Promise<{ key: string; id: string }> {
  const answer = await person.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'Robot', ...body })
  const { key, item } = answer.body as { key: string; item: { id: string } }
  return { key, id: item.id }
}

async function call(key: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await response.text()
  return response.status
}

describe('the first key', () => {
  test('the first key is made from the empty page, shown once with code to paste, and works', async () => {
    const page = await open('/dashboard/keys')
    await page.getByText('No API keys yet').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Create your first key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('Give the key a name').waitFor()
    await dialog.getByLabel('Name').fill('Production')
    await dialog.getByRole('button', { name: 'Limits' }).click()
    await dialog.getByLabel('Monthly budget').fill('ten')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('An amount in USD').waitFor()
    await dialog.getByLabel('Monthly budget').fill('2.5')
    await dialog.getByLabel('Requests per minute').fill('60')
    await dialog.getByRole('combobox', { name: 'Allowed models' }).click()
    await page.getByRole('option', { name: 'svc/alpha' }).click()
    await dialog.getByLabel('Name').click()
    await page.getByRole('listbox').waitFor({ state: 'hidden' })
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('cannot be shown again').waitFor()
    const key = (await dialog.getByText(/^svc-[0-9A-Za-z]{36}$/).textContent()) ?? ''
    expect(await call(key)).toBe(200)
    expect(await dialog.getByRole('region', { name: 'curl code' }).textContent()).toContain(`Bearer ${key}`)
    await dialog.getByLabel('Language').selectOption('anthropic')
    // Away from what shows a tooltip.
    await page.mouse.move(1, 1)
    expect(await dialog.getByRole('region', { name: '@anthropic-ai/sdk code' }).textContent()).toContain(gateway.url)
    await expectAccessible(page)
    // Neither Escape nor the list that has meanwhile grown behind it takes the key away.
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'I have copied the key' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const row = page.getByRole('row', { name: /Production/ })
    expect(await row.textContent()).toContain(`${key.slice(0, 8)}…${key.slice(-4)}`)
    expect(await page.content()).not.toContain(key)
    const { body } = await person.json('GET', '/dashboard/api/a/:accountId/keys')
    expect(body).toMatchObject({
      items: [{ limits: { monthlyBudgetUsd: '2.5', requestsPerMinute: 60, allowedModels: ['svc/alpha'] } }],
    })
  })

  test('if the server refuses the first key, its field shows the reason', async () => {
    const page = await open('/dashboard/keys')
    await page.getByRole('button', { name: 'Create your first key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Production')
    await dialog.getByRole('button', { name: 'Limits' }).click()
    await page.route('**/dashboard/api/a/*/keys', (route) =>
      route.fulfill({
        status: 400,
        json: { error: { message: 'No such budget today.', type: 'x', param: 'monthlyBudgetUsd', code: null } },
      }),
    )
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('No such budget today.').waitFor()
    expect(await dialog.getByLabel('Monthly budget').getAttribute('aria-invalid')).toBe('true')
  })
})

describe('a key', () => {
  test('a key is switched off and on at once, and deleted after its name was typed', async () => {
    const { key } = await createKey()
    const page = await open('/dashboard/keys')
    await page.getByRole('button', { name: 'Actions for Robot' }).click()
    await page.getByRole('menuitem', { name: 'Deactivate' }).click()
    expect(await call(key)).toBe(200)
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate key' }).click()
    await page.getByRole('cell', { name: 'Deactivated', exact: true }).waitFor()
    expect(await call(key)).toBe(401)
    await page.getByRole('button', { name: 'Actions for Robot' }).click()
    await page.getByRole('menuitem', { name: 'Activate' }).click()
    await page.getByRole('cell', { name: 'Active', exact: true }).waitFor()
    // The list may be read again while the change is under way.
    await until(async () => (await call(key)) === 200, 'the key to work again')
    await page.getByRole('button', { name: 'Actions for Robot' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Delete key' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('Robot')
    await dialog.getByRole('button', { name: 'Delete key' }).click()
    await page.getByText('No API keys yet').waitFor()
    expect(await call(key)).toBe(401)
  })

  test('a key is rotated: the new text is shown once, and the page warns while the former text is used', async () => {
    const { key, id } = await createKey()
    const page = await open(`/dashboard/keys/${id}`)
    await page.getByRole('button', { name: 'Rotate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('The present key works for').selectOption('1h')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    await dialog.getByText('cannot be shown again').waitFor()
    const latest = (await dialog.getByText(/^svc-[0-9A-Za-z]{36}$/).textContent()) ?? ''
    expect([await call(key), await call(latest)]).toEqual([200, 200])
    await dialog.getByRole('button', { name: 'I have copied the key' }).click()
    await page.getByText(`which ends in ${key.slice(-4)}, works until`).waitFor()
    await until(async () => {
      await page.reload()
      await page.getByText(', works until').waitFor()
      return page.getByText('programs still need the new one').isVisible()
    }, 'the page to say that the former text is used')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByText('is refused from then on').waitFor()
    await dialog.getByLabel('The present key works for').selectOption('0')
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    await dialog.getByRole('button', { name: 'I have copied the key' }).click()
    await page.getByText(', works until').waitFor({ state: 'hidden' })
    expect([await call(key), await call(latest)]).toEqual([401, 401])
  })

  test('a key and the account are limited to addresses, and people cannot lock themselves out', async () => {
    const { id } = await createKey()
    const page = await open(`/dashboard/keys/${id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Allowed addresses').fill('203.0.113.0/24, 2001:db8::/32')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('The list would lock you out').waitFor()
    await dialog.getByLabel('My own address need not be among them').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('203.0.113.0/24').waitFor()
    await page.goto(`${gateway.url}/dashboard/a/${person.viewer.accountId}/settings`)
    await page.getByLabel('Addresses and networks').fill('203.0.113.0/24')
    const section = page.locator('section', { hasText: 'Allowed addresses' })
    await section.getByRole('button', { name: 'Save' }).click()
    await section.getByText('The list would lock you out').waitFor()
    await expectAccessible(page)
  })

  test('a key has a page that shows its usage and changes its limits', async () => {
    const { key, id } = await createKey({ monthlyBudgetUsd: '1' })
    expect(await call(key)).toBe(200)
    await until(async () => {
      const { body } = await person.json('GET', `/dashboard/api/a/:accountId/keys/${id}`)
      return (body as { total: { requests: number } }).total.requests === 1
    })
    const page = await open(`/dashboard/keys/${id}`)
    await page.getByRole('heading', { name: 'Robot' }).waitFor()
    await page.getByRole('img', { name: /Spend per day: \$0\.00015/ }).waitFor()
    await page.getByText('of $1.00 budget').waitFor()
    await expectAccessible(page)
    // What happens meanwhile appears by itself.
    expect(await call(key)).toBe(200)
    await page.getByRole('img', { name: /Spend per day: \$0\.0003/ }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(CODE_LIKE)
    await dialog.getByLabel('Monthly budget').fill('')
    await dialog.getByLabel('Last day').fill('2999-12-31')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: CODE_LIKE, exact: true }).waitFor()
    await page.getByText('31 Dec 2999').first().waitFor()
    const { body } = await person.json('GET', `/dashboard/api/a/:accountId/keys/${id}`)
    expect(body).toMatchObject({ item: { name: CODE_LIKE, limits: { monthlyBudgetUsd: null, concurrency: null } } })
    await page.getByRole('link', { name: 'See every request' }).click()
    await page.waitForURL(`**/usage?key=${id}`)
  })

  test('a key without requests says so, the playground’s key cannot be deleted, and an unknown key has a not-found page', async () => {
    const { id } = await createKey()
    await person.json('POST', '/dashboard/api/a/:accountId/playground/chat', { model: 'svc/alpha', messages: [] })
    const page = await open(`/dashboard/keys/${id}`)
    await page.getByText('No requests in the latest 30 days').waitFor()
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('Built in').waitFor()
    await page.getByRole('button', { name: 'Actions for Playground' }).click()
    await page.getByRole('menuitem', { name: 'Deactivate' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Delete…' }).count()).toBe(0)
    const nowhere = await open('/dashboard/keys/key_none')
    await nowhere.getByText('There is no page at this address').waitFor()
  })
})

describe('models', () => {
  test('models are searched, filtered, ordered, shown with all details, and tried', async () => {
    const page = await open('/dashboard/models')
    await page.getByText('2 of 2').waitFor()
    await expectAccessible(page)
    await page.getByLabel('Order').selectOption('context')
    expect(await page.getByRole('row').nth(1).textContent()).toContain(CODE_LIKE)
    await page.getByLabel('Search models').fill('gam provider1')
    await page.getByText('1 of 2').waitFor()
    await page.getByLabel('Search models').fill('')
    await page.getByText('Reasoning', { exact: true }).first().click()
    await page.getByText('1 of 2').waitFor()
    await page.getByText('Files', { exact: true }).first().click()
    await page.getByText('No model matches').waitFor()
    await page.getByText('Reasoning', { exact: true }).first().click()
    await page.getByRole('button', { name: CODE_LIKE, exact: true }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('512,000 tokens').waitFor()
    await expectAccessible(page)
    await drawer.getByRole('link', { name: 'Try in playground' }).click()
    await page.getByRole('heading', { name: 'Playground' }).waitFor()
    const model = page.getByRole('combobox', { name: 'Model' })
    await until(async () => (await model.inputValue()).includes('svc/gamma'), 'the model to be chosen')
  })
})
