/** The packages that a gateway loads before it serves: none that only the dashboard, new people or a new machine need. */
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

/** Which of the packages are loaded with these modules: as one graph, all of which is read before any of it runs. */
async function loadedBy(modules: readonly string[], packages: readonly string[]): Promise<string[]> {
  const program = modules.map((module) => `import '${module}'`).join('\n')
  const child = Bun.spawn([process.execPath, `--preload=${PRELOAD}`, '-e', program], {
    cwd: join(import.meta.dir, '..', '..'),
    stderr: 'pipe',
  })
  const text = await new Response(child.stderr).text()
  return packages.filter((name) => text.includes(`/node_modules/${name}/`))
}

test('a start does not import packages that a paid request does not need', async () => {
  expect(await loadedBy(['@/boot/start', '@/boot/run-server'], [...NEEDED, ...LATER])).toEqual(NEEDED)
})

test('a start imports the server only after reading the settings; a supervisor never imports the server', async () => {
  expect(await loadedBy(['@/boot/start'], ['postgres', 'elysia'])).toEqual(['postgres'])
})
