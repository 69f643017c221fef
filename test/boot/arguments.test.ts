/** The program's arguments: --help and --version print and exit, and an unknown argument is refused. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { version } from '#package.json'
import { answerArguments } from '@/boot/arguments'
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

test.each(['--help', '-h'])('%s prints the usage', (word) => {
  expect(answerArguments([word])).toEqual({ exitCode: 0, text: expect.stringContaining('Usage: svc-gateway') })
})

test.each(['--version', '-v'])('%s prints the version', (word) => {
  expect(answerArguments([word])).toEqual({ exitCode: 0, text: `${version}\n` })
})

test.each(PROGRAMS)(
  '%s answers --version, and refuses an unknown argument with code 2 and one line',
  async (_, command) => {
    expect(await run(command, '--version')).toEqual({ code: 0, output: `${version}\n` })
    expect(await run(command, '--prot')).toEqual({
      code: 2,
      output: 'svc-gateway: unknown argument "--prot"; --help says what there is\n',
    })
  },
)
