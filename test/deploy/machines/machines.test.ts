/** Follows the deployment page with three simulated machines: it serves customers, survives failures, and restarts unnoticed. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { spend } from '@test/support/delays'
import { cookieOf } from '@test/support/person'
import { asGateway, startRedis } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatStream, eventStream, type ScriptedUpstream, startUpstream } from '@test/support/upstream'
import { freePort } from '@/boot/embedded/free-port'
import { blockOf, run, runWell } from './guide-blocks'
import { MACHINES, type Machine, type Site, setUpMachines } from './machines'

const PAUSE_MS = 500

let folder: string
let upstream: ScriptedUpstream
let site: Site
let proxy: Bun.Subprocess
let address: string
let key: string
/** What streams that did not come to their end had said. */
const broken = new Set<string>()

/** What a customer's client does: a paid stream by way of the proxy. True if it came to its end. */
async function stream(): Promise<boolean> {
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', stream: true, messages: [{ role: 'user', content: 'Say hello' }] }),
    tls: { rejectUnauthorized: false },
  })
  const text = await response.text()
  const isWhole = response.status === 200 && text.includes('[DONE]')
  if (!isWhole) broken.add(`${response.status} ${text}`)
  return isWhole
}

async function startProxy(port: number): Promise<void> {
  const certificate = join(folder, 'gateway')
  const subject = ['-subj', '/CN=gateway', '-keyout', `${certificate}.key`, '-out', `${certificate}.pem`]
  await Bun.spawn(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject], { stderr: 'ignore' }).exited
  const server = blockOf('nginx proxy').replace(/^upstream [\s\S]*?^}$/m, () => blockOf('nginx cluster upstream'))
  const settings = site
    .on(1, server)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replaceAll('/etc/ssl/gateway', certificate)
    // Less than the delay with which these gateways leave.
    .replace('keepalive_timeout 3s', 'keepalive_timeout 600ms')
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const file = join(folder, 'nginx.conf')
  const head = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit;\nevents {}\n`
  await writeFile(file, `${head}http {\naccess_log off;\n${places.join('\n')}\n${settings}}\n`)
  proxy = Bun.spawn([programPath('nginx'), '-c', file, '-p', folder], { stdout: 'ignore', stderr: 'inherit' })
  const isThere = () => fetch(`${address}/healthz`, { tls: { rejectUnauthorized: false } }).then(({ ok }) => ok)
  await until(() => isThere().catch(() => false), 'nginx')
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-machines-'))
  upstream = startUpstream(() => eventStream(...chatStream(['Hello', ' there'])))
  const port = await freePort()
  address = `https://127.0.0.1:${port}`
  site = await setUpMachines(folder, upstream.url, `127.0.0.1:${port}`)
  const [first, ...others] = site.machines
  await first?.start()
  for (const machine of others) await machine.start()
  await startProxy(port)
})
afterAll(async () => {
  proxy?.kill()
  await proxy?.exited
  await site?.stop()
  upstream?.stop()
  await rm(folder, { recursive: true, force: true })
})

function operate(block: string): Promise<string> {
  return runWell(site.on(1, block), site.work, { PATH: `${join(folder, 'bin')}:${BARE_ENVIRONMENT.PATH}` })
}

test('each gateway is ready, and shows its metrics with the token', async () => {
  const said = await operate(blockOf('sh cluster health'))
  expect(said.match(/"status":"ready"/g)?.length).toBe(3)
  expect(said.match(/svc_open_streams/g)?.length).toBe(3)
})

/** What the first machine's first node says of all nodes. */
async function clusterNodes(): Promise<
  { id: string; host: string; flags: string; master: string; hasSlots: boolean }[]
> {
  const secrets = await Bun.file(join(site.work, 'secrets')).text()
  const password = /^REDIS_CLUSTER_PASSWORD=(.*)$/m.exec(secrets)?.[1] ?? ''
  const node = new URL(`redis://${site.on(1, '10.0.0.1:6379')}`)
  const words = ['--user', 'cluster', '--no-auth-warning', '-h', node.hostname, '-p', node.port, 'cluster', 'nodes']
  const said = await runWell(`redis-cli ${words.join(' ')}`, site.work, { REDISCLI_AUTH: password })
  return said
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([id = '', at = '', flags = '', master = '', ...rest]) => ({
      ...{ id, flags, master, host: at.split(':')[0] ?? '', hasSlots: rest.length > 4 },
    }))
}

test('a Redis replica is never on its master’s machine', async () => {
  // Which node backs which is gossip, and comes after the cluster has said that it is whole.
  const { nodes, replicas } = await until(async () => {
    const nodes = await clusterNodes()
    const replicas = nodes.filter(({ master }) => master !== '-')
    return replicas.length === 3 && { nodes, replicas }
  }, 'the first node to know three replicas')
  for (const { host, master } of replicas) expect(nodes.find(({ id }) => id === master)?.host).not.toBe(host)
})

test('the first administrator signs in at one gateway, and all others accept the session', async () => {
  const secrets = await Bun.file(join(site.work, 'secrets')).text()
  const password = /^ADMIN_PASSWORD=(.*)$/m.exec(secrets)?.[1]
  const response = await fetch(`${address}/dashboard/api/session/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: address },
    body: JSON.stringify({ email: 'ops@example.com', password }),
    tls: { rejectUnauthorized: false },
  })
  expect({ status: response.status, body: response.ok ? '' : await response.text() }).toEqual({ status: 200, body: '' })
  for (const { url } of site.machines) {
    const me = await fetch(`${url}/dashboard/api/session/me`, {
      headers: { cookie: cookieOf(response), origin: address },
    })
    expect(await me.json()).toMatchObject({ email: 'ops@example.com', role: 'admin' })
  }
})

test('an account gets credit by a command, and pays for a stream through the proxy', async () => {
  expect(await operate(blockOf('sh cluster operate'))).toContain('"balanceUsd":10}')
  const made = await operate(`${blockOf('sh cluster operate').split('\n')[0]}
    svc-gateway admin key create --account "$(svc-gateway admin account show ada@example.com | grep -o 'acct_[A-Za-z0-9]*' | head -1)" --name one --monthly-budget-usd none`)
  key = JSON.parse(made).key
  expect(await stream()).toBe(true)
  expect(upstream.calls.length).toBe(1)
})

test('a new price is checked, installed on each machine, and loaded by all gateways at once', async () => {
  const catalogue = await Bun.file(join(site.work, 'config', 'catalog.json')).json()
  const alpha = catalogue.models.find(({ id }: { id: string }) => id === 'svc/alpha')
  alpha.name = 'Alpha of the second edition'
  await writeFile(join(site.work, 'next.json'), JSON.stringify(catalogue))
  const [settings, check, put, reload] = blockOf('sh cluster reload').trim().split('\n')
  const path = { PATH: `${join(folder, 'bin')}:${BARE_ENVIRONMENT.PATH}` }
  for (const machine of MACHINES) await runWell(site.on(machine, [settings, check, put].join('\n')), site.work, path)
  const said = JSON.parse(await operate([settings, reload].join('\n')))
  expect(said.processes).toHaveLength(3)
  for (const { url } of site.machines) {
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string; name: string }[] }
    expect(data.find(({ id }) => id === 'svc/alpha')?.name).toBe(alpha.name)
  }
  expect(await stream()).toBe(true)
})

describe('restarts and failures', () => {
  /** Streams without pause while `work` is done; says how many did not come to their end, and how many did. */
  async function underLoad(work: () => Promise<void>): Promise<{ lost: number; whole: number }> {
    const seen = { lost: 0, whole: 0 }
    let isOver = false
    broken.clear()
    const lanes = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        seen[(await stream()) ? 'whole' : 'lost']++
        // Below what the catalogue lets an account ask in a minute.
        await spend(PAUSE_MS)
      }
    })
    await work().finally(() => {
      isOver = true
    })
    await Promise.all(lanes)
    return seen
  }

  test('restarting one machine after another fails no request', async () => {
    const [restart, ...wait] = blockOf('sh cluster restart').split('\n')
    expect(restart).toBe('systemctl restart svc-gateway')
    const seen = await underLoad(async () => {
      for (const [index, machine] of site.machines.entries()) {
        await machine.signal('SIGTERM')
        await machine.start()
        await operate(wait.join('\n').replace('10.0.0.1', `10.0.0.${index + 1}`))
      }
    })
    expect({ ...seen, whole: 0, broken: [...broken] }).toEqual({ lost: 0, whole: 0, broken: [] })
    expect(seen.whole).toBeGreaterThan(30)
  })

  test('a stopped gateway only breaks its own streams', async () => {
    const machine = site.machines[1] as Machine
    await machine.signal('SIGKILL')
    for (let count = 0; count < 20; count++) expect(await stream()).toBe(true)
    await machine.start()
  })
})

test('a machine with gateway and Redis nodes fails: a replica takes over, and paid requests continue', async () => {
  const machine = site.machines[2] as Machine
  machine.loseRedis()
  await machine.signal('SIGKILL')
  const isTakenOver = async () => {
    const nodes = await clusterNodes()
    const serving = nodes.filter(
      ({ flags, hasSlots }) => hasSlots && flags.includes('master') && !flags.includes('fail'),
    )
    return nodes.some(({ flags }) => /\bfail\b/.test(flags)) && serving.length === 3
  }
  await until(isTakenOver, 'a replica to take over')
  const areWhole = async () => (await Promise.all(Array.from({ length: 5 }, stream))).every(Boolean)
  await until(areWhole, 'streams to go on')
})

test('the restore drill works: a backup by pg_dump, an empty Redis, and correct books', async () => {
  for (const index of MACHINES) await site.machines[index - 1]?.signal('SIGTERM')
  const { environment } = site.postgres
  await runWell(blockOf('sh backup'), site.work, environment)
  await runWell(blockOf('sh restore'), site.work, environment)
  const redis = await startRedis()
  const lines = blockOf('sh drill').replaceAll('svc admin', 'svc-gateway admin').split('\n').filter(Boolean)
  for (const line of lines) {
    const settings = `set -a; . /etc/svc-gateway/gateway.env; DATABASE_URL=\${DATABASE_URL}_restored; REDIS_URL=${asGateway(redis.url)}`
    const { stdout, stderr, code } = await run(site.on(1, `${settings}\n${line}`), site.work, {
      PATH: `${join(folder, 'bin')}:${BARE_ENVIRONMENT.PATH}`,
    })
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject(line.includes('rebuild') ? { accounts: expect.any(Number) } : { ok: true })
  }
  await redis.stop()
})
