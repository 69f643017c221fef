/** SECURITY.md lists the same shared resources as the code. */
import { expect, test } from 'bun:test'
import { NEIGHBOURS } from '@test/fuzz/bad-neighbours'
import { SHARED, type SharedResource } from '@/limits/shared-resources'

const MIB = 1024 * 1024

function show(amount: number | undefined): string {
  if (amount === undefined) return '–'
  return amount >= MIB && amount % MIB === 0 ? `${amount / MIB} Mi` : amount.toLocaleString('en-US')
}

function row({ resource, unit, perAccount, perProcess, beyond }: SharedResource): string {
  return `| ${resource} | ${unit} | ${show(perAccount)} | ${show(perProcess)} | ${beyond} |`
}

test('SECURITY.md lists all shared resources, row by row', async () => {
  const security = await Bun.file(new URL('../../docs/SECURITY.md', import.meta.url)).text()
  const heading = '| resource | unit | per account | per process | beyond that |\n|---|---|---|---|---|\n'
  const start = security.indexOf(heading) + heading.length
  const table = security.slice(start, security.indexOf('\n\n', start))
  expect(table.split('\n')).toEqual(Object.values<SharedResource>(SHARED).map(row))
})

test('each shared resource has a fault in which one account abuses it, and a unique name', () => {
  expect(Object.keys(NEIGHBOURS).sort()).toEqual(Object.keys(SHARED).sort())
  const names = Object.values(NEIGHBOURS).map((cases) => cases.map(({ name }) => name))
  expect(names.filter(({ length }) => length === 0)).toEqual([])
  expect(new Set(names.flat()).size).toBe(names.flat().length)
})

test('no shared resource is limited for a single account only', () => {
  for (const { perAccount, perProcess } of Object.values<SharedResource>(SHARED)) {
    if (perAccount !== undefined && perProcess !== undefined) expect(perAccount).toBeLessThan(perProcess)
  }
})
