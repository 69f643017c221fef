/** The Grafana dashboard: valid by Grafana's types and promtool, and provisioned with what it needs. */
import { describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fillIn, ROOT, readComposeFile } from '@test/deploy/compose-file'
import { promtool } from '@test/support/promtool'
import { DASHBOARD, dashboardQueries } from './queries'

type Panel = {
  id: number
  type: string
  title: string
  description?: string
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>
}

const text = await Bun.file(DASHBOARD).text()
const dashboard = JSON.parse(text) as { panels: Panel[]; templating: { list: { name: string }[] } }

/** What the compiler says to `json` as a dashboard of Grafana's. The types know enumerations; JSON has their values. */
async function complaints(json: string): Promise<string> {
  // Where the types are found from.
  await mkdir(join(ROOT, '.cache'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.cache', 'dashboard-'))
  const source = `import type { Dashboard } from '@grafana/schema'
type Written<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Written<T[K]> } : T
export const dashboard: Written<Dashboard> = ${json}`
  await Bun.write(join(folder, 'dashboard.ts'), source)
  const words = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler']
  const compile = [process.execPath, join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')]
  const command = [...compile, ...words, '--ignoreConfig', join(folder, 'dashboard.ts')]
  const compiler = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe', cwd: folder })
  const said = await Promise.all([new Response(compiler.stdout).text(), new Response(compiler.stderr).text()])
  await compiler.exited
  await rm(folder, { recursive: true })
  return said.join('')
}

describe("Grafana's types", () => {
  test('the schema accepts the Grafana dashboard', async () => {
    expect(await complaints(text)).toBe('')
  })

  test('the schema refuses a misspelt field and an unknown value', async () => {
    for (const [right, wrong] of [
      ['"gridPos"', '"gridPose"'],
      ['"absolute"', '"absolutely"'],
    ] as const)
      expect(await complaints(text.replace(right, wrong))).toContain(wrong.slice(1, -1))
  })
})

test('Prometheus parses every query of the dashboard', async () => {
  const folder = await mkdtemp('/tmp/svc-queries-')
  const rules = (await dashboardQueries()).map((expr, index) => ({ record: `query:${index}`, expr }))
  expect(rules.length).toBeGreaterThan(60)
  await Bun.write(join(folder, 'queries.json'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const { code, said } = await promtool(['check', 'rules', join(folder, 'queries.json')])
  await rm(folder, { recursive: true })
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('SUCCESS') })
})

test('panels of the dashboard have unique names and descriptions, and do not overlap', () => {
  const { panels } = dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const shown = panels.filter(({ type }) => type !== 'row')
  expect(shown.filter(({ description }) => !description).map(({ title }) => title)).toEqual([])
  const taken = new Set<string>()
  for (const { title, gridPos } of panels) {
    expect([title, gridPos.x + gridPos.w <= 24]).toEqual([title, true])
    for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false])
        taken.add(`${x} ${y}`)
      }
  }
})

describe('compose.observability.yaml', () => {
  test('compose.observability.yaml mounts the dashboard, and names its Prometheus', async () => {
    const { services } = await readComposeFile('compose.observability.yaml')
    const folder = join(ROOT, 'deploy', 'grafana', 'provisioning')
    const yaml = async (name: string) => Bun.YAML.parse(await Bun.file(join(folder, name)).text())
    const sources = (await yaml('datasources/prometheus.yaml')) as { datasources: { type: string; url: string }[] }
    expect(sources.datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }])
    const provided = (await yaml('dashboards/svc-gateway.yaml')) as { providers: { options: { path: string } }[] }
    const path = `${provided.providers[0]?.options.path}/svc-gateway.json`
    expect(services.grafana?.volumes).toContain(`./deploy/grafana/svc-gateway.json:${path}:ro`)
    expect(Object.keys(services)).toContain('prometheus')
  })

  test('compose.observability.yaml publishes Grafana on this machine only, without default secrets', async () => {
    const file = await readComposeFile('compose.observability.yaml')
    const ports = Object.values(file.services).flatMap((service) => service.ports ?? [])
    expect(ports.map((port) => fillIn(port, {}))).toEqual(['127.0.0.1:3001:3000'])
    for (const name of ['METRICS_TOKEN', 'GRAFANA_PASSWORD'])
      expect(() => fillIn(JSON.stringify(file), { METRICS_TOKEN: 'x', GRAFANA_PASSWORD: 'x', [name]: '' })).toThrow(
        name,
      )
  })
})
