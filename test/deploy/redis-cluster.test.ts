/** compose.cluster.yaml: six Redis nodes start as its scripts say, become one cluster, and survive the loss of a node. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'
import { freePort } from '@/boot/embedded/free-port'
import { environmentOf, fillIn, ROOT, readComposeFile } from './compose-file'

const SECRETS = { REDIS_PASSWORD: 'gateway-password', REDIS_CLUSTER_PASSWORD: 'cluster-password' }
const { services, volumes } = await readComposeFile('compose.cluster.yaml')
const OPTIONS = (services.redis2?.command as string[] | undefined)?.slice(1) ?? []
const nodes: { port: number; child: Bun.Subprocess }[] = []
let folder: string

async function startNode(port: number, bin: string): Promise<Bun.Subprocess> {
  const home = join(folder, String(port))
  await mkdir(home)
  const own = ['--port', String(port), '--dir', home, '--bind', '127.0.0.1', '--cluster-node-timeout', '1000']
  return Bun.spawn(['sh', join(ROOT, 'deploy', 'redis', 'start.sh'), ...OPTIONS, ...own], {
    env: {
      ...BARE_ENVIRONMENT,
      PATH: `${bin}:${BARE_ENVIRONMENT.PATH}`,
      ...environmentOf(services.redis2 ?? {}, SECRETS),
      SETTINGS: home,
      GATEWAY_ACL: join(ROOT, 'deploy', 'redis', 'gateway.acl'),
    },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
}

function asCluster(port: number): Redis {
  return new Redis({
    port,
    host: '127.0.0.1',
    username: 'cluster',
    password: SECRETS.REDIS_CLUSTER_PASSWORD,
    lazyConnect: true,
  })
}

async function ask(port: number, ...words: ['INFO' | 'CLUSTER', string]): Promise<string> {
  const redis = asCluster(port)
  redis.on('error', () => undefined)
  try {
    return String(await redis.call(...words))
  } finally {
    redis.disconnect()
  }
}

async function makeCluster(): Promise<number> {
  const child = Bun.spawn(['sh', join(ROOT, 'deploy', 'redis', 'make-cluster.sh')], {
    env: {
      ...BARE_ENVIRONMENT,
      REDIS_CLUSTER_PASSWORD: SECRETS.REDIS_CLUSTER_PASSWORD,
      NODES: nodes.map(({ port }) => `127.0.0.1:${port}`).join(' '),
    },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  return child.exited
}

beforeAll(async () => {
  programPath('redis-server')
  folder = await mkdtemp(join(tmpdir(), 'svc-cluster-'))
  const bin = join(folder, 'bin')
  // What the official image has in its place: it gives up root, then runs what it is told.
  await Bun.write(join(bin, 'docker-entrypoint.sh'), '#!/bin/sh\nexec "$@"\n')
  await chmod(join(bin, 'docker-entrypoint.sh'), 0o755)
  for (let count = 0; count < 6; count++) {
    const port = await freePort()
    nodes.push({ port, child: await startNode(port, bin) })
  }
  for (const { port } of nodes) await until(() => ask(port, 'CLUSTER', 'INFO').catch(() => ''), 'a node')
})
afterAll(async () => {
  for (const { child } of nodes) child.kill()
  await Promise.all(nodes.map(({ child }) => child.exited))
  await rm(folder, { recursive: true, force: true })
})

test('the Redis nodes form the cluster once, also after a restart', async () => {
  expect(await makeCluster()).toBe(0)
  expect(await makeCluster()).toBe(0)
  // Who is a replica is gossip, and comes after the cluster has said that it is whole.
  const knowsThree = async () => (await ask(nodes[0]?.port ?? 0, 'CLUSTER', 'NODES')).match(/ slave /g)?.length === 3
  await until(knowsThree, 'the first node to know three replicas')
  for (const { port } of nodes.slice(3))
    await until(async () => (await ask(port, 'INFO', 'replication')).includes('master_link_status:up'), 'a replica')
})

test('the cluster’s own user reads no data, and the gateway’s user cannot administer Redis', async () => {
  const redis = asCluster(nodes[0]?.port ?? 0)
  expect(await redis.get('{l0}:x').catch(({ message }: Error) => message)).toContain('NOPERM')
  redis.disconnect()
  const gateway = new Redis({ port: nodes[0]?.port ?? 0, username: 'svc', password: SECRETS.REDIS_PASSWORD })
  expect(await gateway.call('CLUSTER', 'RESET').catch(({ message }: Error) => message)).toContain('NOPERM')
  gateway.disconnect()
})

test('a replica takes over from a dead node', async () => {
  nodes[0]?.child.kill('SIGKILL')
  const hasNewMaster = async () => {
    const texts = await Promise.all(nodes.slice(3).map(({ port }) => ask(port, 'INFO', 'replication')))
    return texts.some((text) => text.includes('role:master'))
  }
  await until(hasNewMaster, 'a new master')
  const isWhole = async () => (await ask(nodes[1]?.port ?? 0, 'CLUSTER', 'INFO')).includes('cluster_state:ok')
  await until(isWhole, 'the cluster to be whole')
})

test('every node has a volume and an address of the cluster', () => {
  const addresses = Object.entries(services)
    .filter(([name]) => name.startsWith('redis'))
    .map(([, { networks }]) => {
      const { default: network } = networks as { default: { ipv4_address: string } }
      return `${network.ipv4_address}:6379`
    })
  expect(fillIn(services.cluster?.environment?.NODES ?? '', {})).toBe(addresses.join(' '))
  const kept = Object.values(services).flatMap(({ volumes: lines = [] }) =>
    lines.flatMap((line) => /^(redis\d):/.exec(line)?.[1] ?? []),
  )
  expect(kept).toEqual(Object.keys(volumes))
  const given = environmentOf(services.gateway2 ?? {}, SECRETS)
  expect(given.REDIS_URL?.split(',').map((url) => new URL(url).hostname)).toEqual(['redis', 'redis2', 'redis3'])
})
