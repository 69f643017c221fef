/** compose.yaml: each setting reaches the gateways, no secret has a default, and every named file exists. */
import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@/config/config'
import { environmentOf, fillIn, ROOT, readComposeFile, readExample } from './compose-file'
import { catalogNames, settingNames } from './setting-names'

const SECRETS = [
  'AUTH_SECRET',
  'REDIS_PASSWORD',
  'POSTGRES_PASSWORD',
  'MIGRATOR_PASSWORD',
  'GATEWAY_PASSWORD',
  'READER_PASSWORD',
]
const SET = Object.fromEntries(SECRETS.map((name) => [name, `${name.toLowerCase()}-0123456789012345678901234`]))
/** What the container itself decides, and compose.yaml says; the catalogue is mounted. */
const FIXED = ['NODE_ENV', 'HOST', 'PORT', 'REDIS_URL', 'DATABASE_URL', 'DATABASE_MIGRATOR_URL', 'DATA_DIR']
const { services, volumes } = await readComposeFile('compose.yaml')
const gateways = Object.entries(services).filter(([name]) => name.startsWith('gateway'))

describe('a setting', () => {
  test('every setting in compose.yaml reaches every gateway', async () => {
    const names = [...settingNames(), ...(await catalogNames())]
    expect(names.length).toBeGreaterThan(40)
    expect(gateways.length).toBe(2)
    for (const [, service] of gateways) {
      const given = environmentOf(service, { ...SET, ...Object.fromEntries(names.map((name) => [name, 'probe'])) })
      const lost = names.filter((name) => given[name] !== 'probe' && name !== 'CATALOG' && !FIXED.includes(name))
      expect(lost).toEqual([])
      expect(service.volumes?.map((line) => fillIn(line, { CATALOG: './mine.json' }))).toContain(
        `./mine.json:${given.CATALOG}:ro`,
      )
    }
  })

  test('.env.example has every setting, with a comment, and nothing else', async () => {
    const example = await readExample()
    const wanted = [...settingNames(), ...(await catalogNames())].filter((name) => !FIXED.includes(name))
    expect(wanted.filter((name) => !example.get(name)?.hasWords)).toEqual([])
    const names = ['compose.yaml', 'compose.cluster.yaml', 'compose.observability.yaml']
    const files = names.map((name) => Bun.file(join(ROOT, name)).text())
    const text = (await Promise.all(files)).join('')
    const asked = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)
    expect(asked.filter((name) => !example.get(name)?.hasWords)).toEqual([])
    expect([...example.keys()].filter((name) => ![...wanted, ...asked].includes(name))).toEqual([])
  })

  test('.env.example has the real default of each setting', async () => {
    const example = await readExample()
    // As the containers run.
    const production = { NODE_ENV: 'production', AUTH_SECRET: 'x'.repeat(32) }
    const empty = loadConfig(production)
    for (const [name, { value, isSet }] of example) {
      if (isSet || !/^\d+$/.test(value) || !settingNames().includes(name) || name === 'TRUSTED_PROXY_HOPS') continue
      expect({ name, result: loadConfig({ ...production, [name]: value }) }).toEqual({ name, result: empty })
    }
  })
})

describe('a gateway of compose.yaml', () => {
  test('a gateway of compose.yaml starts with the completed .env.example, and can sell credit', async () => {
    const example = await readExample()
    const inForce = [...example].filter(([, { isSet }]) => isSet).map(([name, { value }]) => [name, value])
    // The lines of the bank, with their marks taken away.
    const bank = [...example].filter(([name]) => name.startsWith('BANK_')).map(([name, { value }]) => [name, value])
    const file = { ...Object.fromEntries([...inForce, ...bank]), ...SET, PROVIDER1_API_KEY: 'k-one' }
    const [, service] = gateways[0] ?? []
    const result = loadConfig(environmentOf(service ?? {}, file), { isSimulated: false })
    expect(result).toMatchObject({
      kind: 'loaded',
      config: {
        isProduction: true,
        topUps: { bank: { iban: 'DE89370400440532013000' } },
        signIn: { trustedProxyHops: 1 },
      },
    })
  })

  test('a gateway of compose.yaml lacks the secrets of the stores', () => {
    for (const [, service] of gateways) {
      const given = environmentOf(service, SET)
      expect([given.POSTGRES_PASSWORD, given.READER_PASSWORD, given.REDIS_CLUSTER_PASSWORD]).toEqual(['', '', ''])
    }
  })

  test('a gateway of compose.yaml cannot change the schema; the owner’s password is in the migrate job only', () => {
    for (const [, service] of gateways) {
      const given = environmentOf(service, { ...SET, DATABASE_MIGRATOR_URL: 'postgres://from-the-file' })
      expect(Object.entries(given).filter(([, value]) => value.includes(SET.MIGRATOR_PASSWORD as string))).toEqual([])
      expect(given.DATABASE_MIGRATOR_URL).toBe('')
      expect(service.depends_on).toMatchObject({ migrate: { condition: 'service_completed_successfully' } })
    }
    const { migrate } = services
    expect(migrate).toMatchObject({ image: 'svc-gateway', command: ['svc', 'admin', 'schema', 'migrate'] })
    expect(migrate).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(environmentOf(migrate ?? {}, SET)).toEqual({
      DATABASE_MIGRATOR_URL: `postgres://svc_migrator:${SET.MIGRATOR_PASSWORD}@postgres:5432/svc`,
    })
  })

  test('a gateway of compose.yaml is only reachable through the proxy, writes nothing permanent and has no privileges', () => {
    for (const [, service] of gateways) {
      expect(service.ports).toBeUndefined()
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    }
    expect(Object.keys(services).filter((name) => services[name]?.ports)).toEqual(['proxy'])
  })
})

describe('a container', () => {
  const files = ['compose.yaml', 'compose.cluster.yaml', 'compose.observability.yaml']

  test.each(files)(
    'a container of %s has only the rights that it needs; stores and proxies have a memory limit',
    async (name) => {
      const { services: own } = await readComposeFile(name)
      for (const [service, described] of Object.entries(own)) {
        // What another file begins is described there.
        if (!('image' in described)) continue
        expect({ service, ...described }).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
        if (!/^(?:gateway|migrate)/.test(service)) expect({ service, ...described }).toHaveProperty('mem_limit')
      }
    },
  )

  test('a Redis container has more memory than Redis’ maxmemory', async () => {
    const example = await readExample()
    const gigabytes = (name: string) => Number.parseInt(example.get(name)?.value ?? '', 10)
    expect(gigabytes('REDIS_MEMORY')).toBeGreaterThan(gigabytes('REDIS_MAXMEMORY'))
    expect(environmentOf(services.redis ?? {}, SET).REDIS_MAXMEMORY).toBe(example.get('REDIS_MAXMEMORY')?.value ?? '')
  })
})

describe('images by digest', () => {
  async function pinned(answer: string, environment: Record<string, string> = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-pin-'))
    await writeFile(join(folder, 'docker'), `#!/bin/sh\nprintf '%s' '${answer}'\n`, { mode: 0o755 })
    const child = Bun.spawn(['sh', join(ROOT, 'deploy', 'pin-images.sh')], {
      env: { PATH: `${folder}:/usr/bin:/bin`, ...environment },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
    await rm(folder, { recursive: true })
    return { code, lines: text.split('\n').filter(Boolean) }
  }

  test('each image of a compose file has a line with its digest for .env', async () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const { code, lines } = await pinned(digest, { REDIS_IMAGE: `mine/redis@sha256:${'b'.repeat(64)}` })
    expect(code).toBe(0)
    const example = await readExample()
    expect(lines.map((line) => line.split('=')[0])).toEqual(
      [...example.keys()].filter((name) => name.endsWith('_IMAGE')),
    )
    expect(lines).toContain(`PROXY_IMAGE=caddy:2-alpine@${digest}`)
    expect(lines).toContain(`REDIS_IMAGE=mine/redis@sha256:${'b'.repeat(64)}`)
  })

  test('if the registry returns no digest, the script fails instead of inventing one', async () => {
    expect((await pinned('no such image')).code).not.toBe(0)
  })
})

describe('compose.yaml', () => {
  test('compose.yaml has no default for a secret', () => {
    const text = JSON.stringify(services)
    for (const name of SECRETS) {
      expect(text).toContain(`\${${name}:?`)
      expect(text).not.toContain(`\${${name}:-`)
      const rest = { ...SET, [name]: '' }
      expect(() => Object.values(services).map((service) => environmentOf(service, rest))).toThrow(
        `${name} has to be set`,
      )
    }
  })

  test('compose.yaml mounts existing files, and names existing volumes and services', () => {
    for (const service of Object.values(services)) {
      for (const line of service.volumes ?? []) {
        const [source = ''] = fillIn(line, {}).split(':')
        if (source.startsWith('./')) expect(`${source} ${existsSync(join(ROOT, source))}`).toBe(`${source} true`)
        else expect(Object.keys(volumes)).toContain(source)
      }
      const needed = service.depends_on ?? []
      for (const name of Array.isArray(needed) ? needed : Object.keys(needed)) {
        expect(Object.keys(services)).toContain(name)
        const isAwaited = !Array.isArray(needed) && needed[name]?.condition === 'service_healthy'
        if (isAwaited) expect(services[name]?.healthcheck).toBeDefined()
      }
    }
  })

  test('compose.yaml gives a stopping gateway enough time to end its open requests', async () => {
    const example = await readExample()
    const seconds = Number.parseInt(example.get('STOP_GRACE_PERIOD')?.value ?? '', 10)
    const leastMs = ['DRAIN_DELAY_MS', 'SHUTDOWN_TIMEOUT_MS'].map((name) => Number(example.get(name)?.value))
    expect(seconds * 1000).toBeGreaterThan(leastMs.reduce((sum, each) => sum + each))
    expect(services.gateway1?.stop_grace_period).toBe(`\${STOP_GRACE_PERIOD:-${seconds}s}`)
  })
})
