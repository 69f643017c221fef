/** Every command of the documents runs in a test or is listed with a reason. Commands that no other test runs are run here. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { ROOT } from '@test/deploy/compose-file'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { type Block, blocksIn, documentedBlocks, RULES, ruleOf } from './blocks'

const blocks = await documentedBlocks()
const place = ({ document, line, info }: Block) => `${document}:${line} ${info}`
/** Below the root, so that packages are found. */
const FOLDER = join(ROOT, '.cache', `documents-${process.pid}`)
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-documents-'))
  await mkdir(FOLDER, { recursive: true })
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await rm(FOLDER, { recursive: true, force: true })
})

test('each code block of the documents is run by a test, or listed with a reason', () => {
  expect(blocks.length).toBeGreaterThan(90)
  expect(blocks.filter((block) => !ruleOf(block)).map(place)).toEqual([])
})

test('each rule for code blocks matches a block, and each named test exists', () => {
  const used = new Set(blocks.map(ruleOf))
  expect(RULES.filter((rule) => !used.has(rule))).toEqual([])
  const named = RULES.flatMap((rule) => ('by' in rule ? [rule.by] : []))
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('a code block that no rule covers is reported', () => {
  const [block] = blocksIn('README.md', 'Do\n\n```sh\nrm -rf something\n```\n')
  expect(block && { ...block, rule: ruleOf(block) }).toEqual({
    ...{ document: 'README.md', line: 3, info: 'sh', text: 'rm -rf something\n' },
    rule: undefined,
  })
})

/** Those that this file is said to run. */
function ours(document: string): Block[] {
  const found = blocks.filter((block) => block.document === document)
  return found.filter((block) => {
    const rule = ruleOf(block)
    return rule !== undefined && 'by' in rule && rule.by === 'test/deploy/documents/blocks.test.ts'
  })
}

async function run(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, { cwd, env: { ...BARE_ENVIRONMENT, HOME: cwd }, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

describe('the documents’ commands at a new gateway', () => {
  let gateway: GatewayProcess
  let here: (text: string) => string
  let key: string
  let url: string

  beforeAll(async () => {
    gateway = spawnGateway({ REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase(), PORT: '0' })
    url = await addressOf(gateway)
    key = demoKeyOf(gateway)
    here = (text) => text.replaceAll('http://localhost:3000', url).replaceAll('svc-…', key)
  })
  afterAll(async () => {
    gateway.kill('SIGTERM')
    await gateway.exited()
  })

  test('the commands of README.md work', async () => {
    const shown = ours('README.md')
    expect(shown.map(({ info }) => info)).toEqual(['sh', 'ts', 'sh'])
    for (const block of shown) {
      const file = join(FOLDER, `${block.line}.${block.info}`)
      await writeFile(file, here(block.text).replaceAll('curl ', 'curl --silent --show-error --fail-with-body '))
      const said = await run(block.info === 'ts' ? [process.execPath, file] : ['sh', '-e', file], folder)
      expect(said.length).toBeGreaterThan(10)
    }
  })
})

test('the commands of docs/operations/running.md write an .env file with all secrets', async () => {
  const [block, ...others] = ours('docs/operations/running.md')
  expect(others).toEqual([])
  await copyFile(join(ROOT, '.env.example'), join(folder, '.env.example'))
  const lines = (block?.text ?? '').split('\n')
  expect(lines.filter((line) => line.startsWith('docker '))).toEqual(['docker compose up --build --detach'])
  await run(['sh', '-e', '-c', lines.filter((line) => !line.startsWith('docker ')).join('\n')], folder)
  const text = await Bun.file(join(folder, '.env')).text()
  for (const name of ['AUTH_SECRET', 'REDIS_PASSWORD', 'POSTGRES_PASSWORD', 'MIGRATOR_PASSWORD', 'GATEWAY_PASSWORD'])
    expect(text).toMatch(new RegExp(`^${name}=[0-9a-f]{48}$`, 'm'))
})

test('the commands of the deployment page create secrets and build the manifests', async () => {
  const [environment, kubernetes, ...others] = ours('docs/guide/deploy.md').toSorted(
    (one, other) => one.line - other.line,
  )
  expect([environment?.info, kubernetes?.info, others.length]).toEqual(['sh environment', 'sh kubernetes', 0])
  const secrets = (await run(['sh', '-e', '-c', environment?.text ?? ''], folder)).trim().split('\n')
  expect(secrets.map(({ length }) => length)).toEqual([44, 48])
  const copy = join(folder, 'checkout')
  for (const name of ['deploy', 'config']) await cp(join(ROOT, name), join(copy, name), { recursive: true })
  const kubectl = Bun.which('kubectl')
  if (!kubectl) process.stderr.write('SKIPPED: kubectl is not on the PATH, so that the manifests are copied only.\n')
  const lines = (kubernetes?.text ?? '').split('\n').filter((line) => kubectl || !line.startsWith('kubectl '))
  const said = await run(['sh', '-e', '-c', lines.join('\n')], copy)
  expect(existsSync(join(copy, 'deploy', 'kubernetes', 'production', 'catalog.json'))).toBe(true)
  if (kubectl) expect(said).toContain('kind: Deployment')
})
