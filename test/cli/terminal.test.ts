/** Commands at a terminal and in a pipe: tables for people, JSON for programs, and no visible passwords. */
import { beforeAll, expect, test } from 'bun:test'
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { run, runProcess } from './run'

const ROOT = join(import.meta.dir, '..', '..')
const NAME = 'Mal\u001b[2Jlory \u202e'
let stores: Record<string, string>

beforeAll(async () => {
  stores = { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase() }
  await run(['account', 'create', '--email', 'mallory@example.test', '--name', NAME], stores)
})

/** Runs a command at a terminal of so many columns; `type` is what a person types once something was asked. */
async function atTerminal(args: readonly string[], columns: number, type?: string) {
  let shown = ''
  function show(_: unknown, bytes: Uint8Array): void {
    shown += new TextDecoder().decode(bytes)
  }
  const child = Bun.spawn([process.execPath, 'src/cli/main.ts', ...args], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, ...stores, TERM: 'xterm' },
    terminal: { cols: columns, rows: 40, data: show },
  })
  if (type !== undefined) {
    await until(() => shown.includes('Password: '), 'the question')
    child.terminal?.write(type)
  }
  const code = await child.exited
  return { code, shown: shown.replaceAll('\r\n', '\n') }
}

test('a terminal shows a table without control characters', async () => {
  const { code, shown } = await atTerminal(['account', 'list'], 200)
  expect(code).toBe(0)
  expect(shown).toMatch(
    /^accounts\nACCOUNT ID +NAME +EMAIL +STATUS +CREATED AT +BALANCE USD\nacct_\w+ +Mal�\[2Jlory � +mallory@/,
  )
  expect(shown).not.toContain('\u001b')
})

test('a narrow terminal shows blocks with one value per line', async () => {
  expect((await atTerminal(['account', 'list'], 40)).shown).toMatch(/\nemail +mallory@example\.test\nstatus +active\n/)
  const { shown } = await atTerminal(['account', 'show', 'mallory@example.test'], 120)
  expect(shown).toMatch(/\nbalance USD +0\n/)
  expect(shown).toMatch(/\nlimits requests per minute +600\n/)
  expect(shown).toMatch(/\n\nkeys\n\(none\)\n/)
})

test('--json prints the same JSON on a terminal and in a pipe', async () => {
  const { shown } = await atTerminal(['account', 'list', '--json'], 80)
  const piped = await runProcess(['account', 'list'], stores)
  expect(JSON.parse(shown)).toEqual(piped.json)
  expect(piped.json).toMatchObject({ accounts: [{ name: NAME.trim() }] })
  expect((await run(['account', 'list', '--json'], stores)).stdout).toBe(piped.stdout)
})

test('a password is prompted for and not shown', async () => {
  const { code, shown } = await atTerminal(['user', 'create', '--email', 'typed@example.test'], 80, 'a typed horse\r')
  expect(code).toBe(0)
  expect(shown).toMatch(/^Password: \nuser id {2}user_\w+\n$/)
})

test('the container runs commands by their short name, in a read-only folder', async () => {
  const bin = await mkdtemp(join(tmpdir(), 'svc-bin-'))
  await symlink(join(ROOT, 'deploy', 'svc'), join(bin, 'svc'))
  await chmod(bin, 0o555)
  const PATH = [bin, dirname(process.execPath), BARE_ENVIRONMENT.PATH].join(delimiter)
  const svc = (...args: string[]) =>
    Bun.spawnSync(['svc', ...args], { cwd: ROOT, env: { ...stores, PATH, NODE_ENV: 'production' } })
  const listed = svc('admin', 'account', 'list')
  expect(listed.stderr.toString()).toBe('')
  expect(JSON.parse(listed.stdout.toString())).toMatchObject({
    accounts: expect.arrayContaining([expect.objectContaining({ email: 'mallory@example.test' })]),
  })
  expect(svc('admn')).toMatchObject({ exitCode: 2 })
  await rm(bin, { recursive: true })
})

test('bun run admin prints only the command’s own output', () => {
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, 'run', 'admin', 'account', 'list'], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, ...stores },
  })
  expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: '', exitCode: 0 })
  expect(stdout.toString()).toStartWith('{"accounts":[')
})
