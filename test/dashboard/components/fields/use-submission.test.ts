/** Forms sent in a hurry: a double click acts once, and text typed meanwhile stays. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { countRequests, holdAnswer } from '@test/dashboard/pages/hold-answers'
import { testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import type { Locator, Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
beforeEach(async () => {
  person = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

const open = (path: string): Promise<Page> =>
  browser.open(`/dashboard${path}`, { url: gateway.url, cookie: person.cookie })

/** Two presses between which the page has no time to draw anything. */
async function pressTwice(button: Locator): Promise<void> {
  await button.waitFor()
  await button.evaluate((node: HTMLButtonElement) => {
    node.click()
    node.click()
  })
}

const count = async (path: string): Promise<number> => {
  const { body } = await person.json('GET', `/dashboard/api/a/:accountId/${path}`)
  return (body as { items: unknown[] }).items.length
}

describe('a button that is pressed twice', () => {
  test('a double click on the order button orders once', async () => {
    const page = await open('/credit')
    await pressTwice(page.getByRole('button', { name: /^Order \$/ }))
    await page.getByRole('heading', { name: /^Order / }).waitFor()
    expect(await count('orders')).toBe(1)
  })

  test('a double click makes one key', async () => {
    const page = await open('/keys')
    await page.getByRole('button', { name: 'Create your first key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Production')
    await pressTwice(dialog.getByRole('button', { name: 'Create key' }))
    await dialog.getByText('Copy the key now').waitFor()
    expect(await count('keys')).toBe(1)
  })

  test('a double click sends one invitation, and an address typed meanwhile is kept', async () => {
    await person.json('POST', '/dashboard/api/a/:accountId/organisation', { name: 'Engines Ltd', country: 'GB' })
    const page = await open('/members')
    const sent = countRequests(page, 'POST', '/invitations')
    const answer = await holdAnswer(page, 'POST', '/invitations')
    await page.getByLabel('E-mail address').fill('ada@example.test')
    await pressTwice(page.getByRole('button', { name: 'Send invitation' }))
    await answer.given
    await page.getByLabel('E-mail address').fill('charles@example.test')
    await answer.release()
    await page.getByText('An invitation is on its way to ada@example.test.').waitFor()
    expect(await page.getByLabel('E-mail address').inputValue()).toBe('charles@example.test')
    expect(sent()).toBe(1)
  })

  test('a double click grants budget once, also while the dialog closes', async () => {
    const { accountId } = person.viewer
    await person.json('PUT', `/dashboard/api/a/${accountId}/budgets/account/${accountId}`, { dayUsd: '9' })
    const page = await open('/budgets')
    // Dialogs come and go slowly for those who have not asked their system for less motion.
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    const sent = countRequests(page, 'POST', '/grant')
    await page.getByRole('button', { name: 'Grant more to This account' }).click()
    await page.getByLabel('Amount in USD').fill('2')
    const button = page.getByRole('button', { name: 'Grant', exact: true })
    await button.evaluate((node: HTMLButtonElement) => {
      node.click()
      new MutationObserver(() => node.isConnected && node.click()).observe(document.body, {
        ...{ childList: true, subtree: true, attributes: true },
      })
    })
    await page.getByText('Day: $0.00 of $9.00 and $2.00 granted').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(sent()).toBe(1)
  })
})

test('a key that was created after its form was left is shown', async () => {
  const page = await open('/keys')
  await page.getByRole('button', { name: 'Create your first key' }).click()
  const answer = await holdAnswer(page, 'POST', '/keys')
  const form = page.getByRole('dialog', { name: 'Create API key' })
  await form.getByLabel('Name').fill('Production')
  await form.getByRole('button', { name: 'Create key' }).click()
  await answer.given
  await form.getByRole('button', { name: 'Cancel' }).click()
  await form.waitFor({ state: 'detached' })
  await answer.release()
  await page.getByRole('dialog', { name: 'Your new API key' }).getByText('Copy the key now').waitFor()
})

test('the answer for a closed dialog does not close the next dialog', async () => {
  for (const name of ['First', 'Second']) await person.json('POST', '/dashboard/api/a/:accountId/keys', { name })
  const page = await open('/keys')
  const ask = async (name: string) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Deactivate' }).click()
    const dialog = page.getByRole('dialog', { name: `Deactivate “${name}”?` })
    await dialog.waitFor()
    return dialog
  }
  const answer = await holdAnswer(page, 'POST', '/deactivate')
  const first = await ask('First')
  await first.getByRole('button', { name: 'Deactivate key' }).click()
  await answer.given
  await first.getByRole('button', { name: 'Cancel' }).click()
  await first.waitFor({ state: 'detached' })
  const second = await ask('Second')
  await answer.release()
  await page.getByText('“First” is deactivated.').waitFor()
  expect(await second.isVisible()).toBe(true)
})

test('a name that is typed while saving can be saved as well', async () => {
  const page = await open('/settings')
  const name = page.getByLabel('Name', { exact: true })
  const answer = await holdAnswer(page, 'PATCH', '/session/me')
  await name.fill('Ada')
  await page.getByRole('button', { name: 'Save name' }).click()
  await answer.given
  await name.fill('Ada Lovelace')
  await answer.release()
  await page.getByText('Your name was changed.').waitFor()
  await page.getByRole('button', { name: 'Save name', disabled: false }).waitFor()
})
