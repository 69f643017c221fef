/** A killed test run leaves no gateway, Redis, Postgres or Chromium behind, and reports its progress if it can. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { findChromium } from '@test/support/chromium'
import { until } from '@test/support/until'

setDefaultTimeout(600_000)

const ROOT = join(import.meta.dir, '..', '..')
const VICTIM = './test/runner/victim.ts'
/** As a developer does, and as package.json does. */
const COMMANDS = {
  'bun test': [process.execPath, 'test', VICTIM],
  'the runner': [process.execPath, '--no-orphans', 'test/runner/main.ts', 'test', VICTIM],
}
/** A shell that waits for the runner, which hears nothing of its end. */
const SHELL = ['sh', '-c', `"$0" --no-orphans test/runner/main.ts test ${VICTIM}; true`, process.execPath]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-leftovers-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Process = { pid: number; parent: number; name: string; start: string }

/** Every process there is, each once and for all by its number and its start. */
function processes(): Process[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      const fields = rest.split(' ')
      // One that has ended and that nobody has asked for is none any more.
      return fields[0] === 'Z' ? [] : [{ pid: Number(pid), parent: Number(fields[1]), name, start: fields[19] ?? '' }]
    } catch {
      return []
    }
  })
}

function descendants(ancestor: number): Process[] {
  const all = processes()
  const found = new Set([ancestor])
  // A set grows while it is walked.
  for (const pid of found) for (const one of all) if (one.parent === pid) found.add(one.pid)
  return all.filter(({ pid }) => found.has(pid) && pid !== ancestor)
}

function isAlive(one: Process): boolean {
  return processes().some(({ pid, start }) => pid === one.pid && start === one.start)
}

const cases = Object.entries(COMMANDS).flatMap(([name, command]) => {
  return (['SIGTERM', 'SIGINT', 'SIGKILL'] as NodeJS.Signals[]).map((signal) => ({ signal, name, command }))
})
cases.push({ signal: 'SIGKILL', name: 'the parent of the runner', command: SHELL })

test.each(cases)('after $signal to $name, no server process is left', async ({ signal, name, command }) => {
  const note = join(folder, `${name} ${signal}`)
  const child = Bun.spawn(command, {
    cwd: ROOT,
    env: { ...OUR_ENVIRONMENT, VICTIM_IS_READY: note },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const noteOrEnd = async () => ((await Bun.file(note).exists()) && (await Bun.file(note).text())) || hasEnded()
  const data = String(await until(noteOrEnd, 'the victim'))
  if (hasEnded()) throw new Error(`the victim could not open everything: ${await new Response(child.stderr).text()}`)
  const started = descendants(child.pid)
  const programs = started.map((one) => one.name)
  // The gateway's own servers, and those of the tests.
  expect(programs.filter((program) => /redis|valkey/.test(program)).length).toBeGreaterThanOrEqual(2)
  expect(programs.filter((program) => program.startsWith('postgres')).length).toBeGreaterThanOrEqual(2)
  if (findChromium() !== undefined) expect(programs.join(' ')).toMatch(/chrom/)
  child.kill(signal)
  await until(() => !started.some(isAlive), `the end of ${programs.join(', ')}`).catch(() => undefined)
  const left = started.filter(isAlive)
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  await child.exited
  await rm(data, { recursive: true, force: true })
  expect(left).toEqual([])
  if (name !== 'the runner' || signal === 'SIGKILL') return
  const told = await new Response(child.stderr).text()
  expect(told).toContain('Stopped: 0 files ended, 0 tests failed, 1 files were left.')
})
