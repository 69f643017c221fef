/** The dashboard by the keyboard alone: where the focus is, and how it gets to a control, round a dialog and into its fields. */
import { expect } from 'bun:test'
import { until } from '@test/support/until'
import type { Locator, Page } from 'playwright-core'

/** More than any page or dialog has places to stop at. */
export const MAX_STOPS = 120

/** Whether it is the one that has the focus. */
export const hasFocus = (target: Locator) => target.evaluate((node) => node === document.activeElement)
/** Whether the focus is somewhere in it. */
export const holdsFocus = (target: Locator) => target.evaluate((node) => node.contains(document.activeElement))

/** Goes on with Tab until `target` has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let stops = 0; stops < MAX_STOPS; stops++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not come to ${target}`)
}

/** Goes on with Tab through all of the dialog, and beyond its end, which is its beginning. */
export async function goRound(page: Page, dialog: Locator): Promise<void> {
  await until(() => holdsFocus(dialog), 'the focus to be in the dialog')
  const close = dialog.getByRole('button', { name: 'Close', exact: true })
  await tabTo(page, close)
  await page.keyboard.press('Shift+Tab')
  expect(await holdsFocus(dialog)).toBe(true)
  // More than one stop where what the dialog has loaded comes between.
  await tabTo(page, close)
}

/** Types into the fields of these labels; of a choice, the first that is found. */
export async function fillIn(page: Page, dialog: Locator, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    const field = dialog.getByLabel(label, { exact: true })
    await tabTo(page, field)
    await page.keyboard.type(text)
    if ((await field.getAttribute('aria-haspopup')) === 'listbox') await takeFirst(page)
  }
}

/** Adds one to a field of several, and leaves the field: until then its list stays open for more. The next field must not open one. */
export async function chooseOne(page: Page, field: Locator, name: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.type(name)
  await page.getByRole('option', { name }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.locator('[role="option"][data-combobox-selected]').waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.getByRole('listbox').waitFor({ state: 'hidden' })
}

/** Takes the first of the open choice. New figures may draw its list again, which forgets the marked option: it is marked again. */
export async function takeFirst(page: Page): Promise<void> {
  await page.getByRole('option').first().waitFor()
  const open = page.locator('[aria-haspopup="listbox"][aria-controls]')
  const marked = page.locator('[role="option"][data-combobox-selected]')
  await until(async () => {
    if ((await open.count()) === 0) return true
    await page.keyboard.press((await marked.count()) === 0 ? 'ArrowDown' : 'Enter')
    return false
  }, 'the choice to be taken')
  await page.getByRole('listbox').waitFor({ state: 'hidden' })
}

/** A key is shown once: Escape does not take it away, and what says so has the focus. */
export async function keepKey(page: Page, dialog: Locator): Promise<void> {
  await until(() => hasFocus(dialog.getByRole('alert')), 'the focus to be at the key')
  await page.keyboard.press('Escape')
  await tabTo(page, dialog.getByRole('button', { name: 'I have copied the key' }))
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
}
