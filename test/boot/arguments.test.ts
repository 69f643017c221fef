/** The program's arguments: --help and --version print and exit, and an unknown argument is refused. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { version } from '#package.json'
import { spawnGateway } from './process'

const ROOT = join(import.meta.dir, '..', '..')
const PROGRAMS = [
  ['the gateway', [process.execPath, join(ROOT, 'src', 'main.ts')]],
  ['the single executable', [process.execPath, join(ROOT, 'src', 'executable.ts')]],
  ["the container's command", [join(ROOT, 'deploy', 'svc')]],
] as const

/** Redis is somewhere else: a program that tried to start would say so and not end well. */
async function run(command: readonly string[], ...args: string[]) {
  const started = spawnGateway({ REDIS_URL: 'redis://127.0.0.1:1', PORT: '0' }, undefined, [...command, ...args])
  return { code: await started.exited(), output: started.output() }
}

test.each(PROGRAMS)('%s: --help prints the usage, --version the version', async (_, command) => {
  for (const word of ['--help', '-h']) {
    const { code, output } = await run(command, word)
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Usage: svc-gateway') })
  }
  for (const word of ['--version', '-v']) expect(await run(command, word)).toEqual({ code: 0, output: `${version}\n` })
})

test.each(PROGRAMS)('%s: an unknown argument exits with code 2 and one line', async (_, command) => {
  expect(await run(command, '--prot')).toEqual({
    code: 2,
    output: 'svc-gateway: unknown argument "--prot"; --help says what there is\n',
  })
})
