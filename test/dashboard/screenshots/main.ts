/** The entry of `bun run screenshots`: a picture of every page, in both schemes, at a desk, on a tablet and on a phone, to be looked at. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser, stopChromium } from '@test/support/browser'
import type { Person } from '@test/support/person'
import { stopStores } from '@test/support/stores'
import type { Page } from 'playwright-core'
import { openStage, type Stage } from './stage'

type Shot = {
  name: string
  path: string
  person: Person | undefined
  /** Does what has to be done before there is something to see. */
  act?: (page: Page) => Promise<void>
  /** Pixels; as much as there is content unless said. */
  height?: number
}
type View = { suffix: string; width: number; colorScheme: 'light' | 'dark' }

const FOLDER = join(import.meta.dir, '..', '..', '..', '.cache', 'screenshots')
/** Pixels: what is below the content, and how little or much of a page is shown. */
const MARGIN = 32
const MIN_HEIGHT = 800
const MAX_HEIGHT = 1_600
const WIDTHS = { '': 1280, '-tablet': 768, '-phone': 390 }
const VIEWS: readonly View[] = Object.entries(WIDTHS).flatMap(([name, width]) => [
  { suffix: name, width, colorScheme: 'light' },
  { suffix: `${name}-dark`, width, colorScheme: 'dark' },
])

const stage = await openStage()
const browser = await openBrowser()
try {
  await mkdir(FOLDER, { recursive: true })
  const wanted = process.argv[2]
  for (const shot of shotsOf(stage).filter(({ name }) => wanted === undefined || name.includes(wanted))) {
    for (const view of VIEWS) await take(shot, view)
  }
} finally {
  await browser.close()
  await stopChromium()
  await stage.gateway.stop()
  await stopStores()
}

function shotsOf({ administrator, newcomer, orderId, openOrderId, keyId, requestId, invitation }: Stage): Shot[] {
  const of = (person: Person | undefined) => (name: string, path: string) => ({
    name,
    path: `/dashboard${path}`,
    person,
  })
  const [nobody, living, fresh] = [of(undefined), of(administrator), of(newcomer)]
  const admin = `/admin/accounts/${newcomer.viewer.accountId}`
  return [
    ...[nobody('sign-in', '/sign-in'), nobody('sign-up', '/sign-up'), nobody('forgot-password', '/forgot-password')],
    ...[nobody('reset-password', '/reset-password?token=x'), nobody('verify-email', '/verify-email?token=x')],
    ...[living('overview', '/'), fresh('overview-new', '/')],
    ...[living('keys', '/keys'), fresh('keys-new', '/keys'), living('key', `/keys/${keyId}`)],
    ...[
      living('usage', '/usage'),
      fresh('usage-new', '/usage'),
      { ...living('receipt', `/usage?request=${requestId}`), height: MIN_HEIGHT },
    ],
    ...[living('credit', '/credit'), fresh('credit-new', '/credit'), living('order', `/credit/orders/${orderId}`)],
    ...[fresh('order-open', `/credit/orders/${openOrderId}`), living('models', '/models')],
    ...[living('playground', '/playground'), living('settings', '/settings'), living('not-found', '/nothing')],
    ...[living('members', '/members'), fresh('members-personal', '/members'), living('budgets', '/budgets')],
    ...[living('alerts', '/alerts'), fresh('budgets-new', '/budgets'), living('failures', '/failures')],
    ...[nobody('invitation', `/invitation#token=${invitation}`), living('invitation-void', '/invitation#token=none')],
    ...[living('admin-orders', '/admin/orders'), living('admin-statements', '/admin/statements')],
    ...[living('admin-accounts', '/admin/accounts'), living('admin-account', admin)],
    ...[living('admin-approvals', '/admin/approvals'), living('admin-providers', '/admin/providers')],
    ...[living('admin-margins', '/admin/margins'), living('admin-reconciliation', '/admin/reconciliation')],
    living('admin-books', '/admin/books'),
    living('admin-audit', '/admin/audit'),
    { ...living('playground-answer', '/playground'), act: ask },
    { ...living('key-created', '/keys'), act: createKey },
  ]
}

async function ask(page: Page): Promise<void> {
  await page.getByLabel('Message').fill('Write a haiku about a fox and a dog')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('log').getByText('$0.0').waitFor()
}

async function createKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Nightly batch')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('cannot be shown again').waitFor()
}

async function take(
  { name, path, person, act, height: wanted }: Shot,
  { suffix, width, colorScheme }: View,
): Promise<void> {
  const cookie = person && { cookie: person.cookie }
  const page = await browser.open(path, {
    url: stage.gateway.url,
    width,
    height: wanted ?? MAX_HEIGHT,
    colorScheme,
    ...cookie,
  })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForFunction(() => document.querySelector('[role=status][aria-label=Loading]') === null)
  await act?.(page)
  await page.evaluate(() => document.fonts.ready)
  const bottom = await page.evaluate(() => document.querySelector('main > *')?.getBoundingClientRect().bottom ?? 0)
  const height = wanted ?? Math.min(Math.max(Math.ceil(bottom) + MARGIN, MIN_HEIGHT), MAX_HEIGHT)
  await page.screenshot({ path: join(FOLDER, `${name}${suffix}.png`), clip: { x: 0, y: 0, width, height } })
  await page.context().close()
}
