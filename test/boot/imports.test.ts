/** What a gateway loads before it serves: nothing that only visitors of the dashboard, new people or an empty machine need. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const PRELOAD = join(import.meta.dir, 'list-modules.ts')
/** Packages that are loaded at their first use. Together they would double the time of a start. */
const LATER = [
  'better-auth',
  'nodemailer',
  '@copilotkit/aimock',
  'gpt-tokenizer',
  'react',
  '@mantine/core',
  'swagger-ui-dist',
  '@elysiajs/swagger',
  '@scalar/themes',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/otlp-exporter-base',
]
const NEEDED = ['elysia', 'ioredis', 'postgres']

test('is no package that a paid request can do without', async () => {
  const child = Bun.spawn([process.execPath, `--preload=${PRELOAD}`, '-e', "await import('@/boot/start')"], {
    cwd: join(import.meta.dir, '..', '..'),
    stderr: 'pipe',
  })
  const text = await new Response(child.stderr).text()
  const isLoaded = (name: string) => text.includes(`/node_modules/${name}/`)
  expect(NEEDED.filter(isLoaded)).toEqual(NEEDED)
  expect(LATER.filter(isLoaded)).toEqual([])
})
