/** A Redis Cluster of real servers on loopback, for tests: masters with all slots, and replicas on request. */
import { existsSync } from 'node:fs'
import { startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'
import { freePort } from '@/boot/embedded/free-port'
import { slotOf } from '@/ledger/store/cluster-slot'
import { metaName } from '@/ledger/store/names'

const SLOT_COUNT = 16_384
const PASSWORD = 'cluster'

export type ClusterNode = {
  server: TestServer
  admin: Redis
  id: string
  host: string
  port: number
  busPort: number
  restart(): Promise<void>
}

export type TestCluster = {
  nodes: ClusterNode[]
  /** Comma-separated node addresses. */
  url: string
  /** The node that serves a shard now. */
  ownerOf(shard: number): Promise<ClusterNode>
  /** Moves a shard's slot to another node, a few keys at a time. */
  moveShard(shard: number, target: ClusterNode): Promise<void>
  addReplica(of: ClusterNode): Promise<ClusterNode>
  stop(): Promise<void>
}

/** Starts a cluster of `count` masters. */
export async function startCluster(count: number): Promise<TestCluster> {
  const nodes = await Promise.all(Array.from({ length: count }, startNode))
  const share = Math.ceil(SLOT_COUNT / count)
  await Promise.all(
    nodes.map((node, index) => {
      const [first, last] = [index * share, Math.min(SLOT_COUNT, (index + 1) * share) - 1]
      return node.admin.call('CLUSTER', 'ADDSLOTSRANGE', first, last)
    }),
  )
  await Promise.all(nodes.map((node) => meet(node, nodes[0] as ClusterNode)))
  await isWhole(nodes, count)
  const ownerOf = async (shard: number) => {
    const id = await ownerId(nodes, slotOf(metaName(shard)))
    return nodes.find((node) => node.id === id) as ClusterNode
  }
  return {
    nodes,
    url: nodes.map((node) => `redis://:${PASSWORD}@${node.host}:${node.port}`).join(','),
    ownerOf,
    moveShard: async (shard, target) => moveSlot(nodes, slotOf(metaName(shard)), await ownerOf(shard), target),
    async addReplica(of) {
      const node = await startNode()
      await meet(node, of)
      nodes.push(node)
      await isWhole(nodes, nodes.length)
      await node.admin.call('CLUSTER', 'REPLICATE', of.id)
      await until(async () => (await node.admin.info('replication')).includes('master_link_status:up'), 'the replica')
      return node
    },
    async stop() {
      for (const node of nodes) node.admin.disconnect()
      // A replica that has not written its first append-only file would refuse to stop in order.
      for (const node of nodes) if (isRunning(node.server.pid)) await node.server.kill()
      await Promise.all(nodes.map((node) => node.server.stop()))
    },
  }
}

async function startNode(): Promise<ClusterNode> {
  const busPort = await freePort()
  const config = {
    'cluster-enabled': 'yes',
    'cluster-port': String(busPort),
    'cluster-node-timeout': '1000',
    'cluster-require-full-coverage': 'no',
    masterauth: PASSWORD,
    'repl-diskless-sync-delay': '0',
    'shutdown-timeout': '0',
  }
  const server = await startRedis({ config })
  const { hostname: host, port } = new URL(server.url)
  await shareSecret(server)
  const admin = new Redis({ host, port: Number(port), password: PASSWORD, lazyConnect: true, maxRetriesPerRequest: 0 })
  admin.on('error', () => undefined)
  await admin.connect()
  const id = String(await admin.call('CLUSTER', 'MYID'))
  const restart = async () => {
    await server.restart()
    await shareSecret(server)
  }
  return { server, admin, id, host, port: Number(port), busPort, restart }
}

/** Every server starts with a password of its own; clients of a cluster know one for all. */
async function shareSecret(server: TestServer): Promise<void> {
  const first = new Redis(server.url)
  await first.config('SET', 'requirepass', PASSWORD)
  first.disconnect()
}

async function meet(node: ClusterNode, other: ClusterNode): Promise<void> {
  if (node !== other) await node.admin.call('CLUSTER', 'MEET', other.host, other.port, other.busPort)
}

async function isWhole(nodes: readonly ClusterNode[], count: number): Promise<void> {
  for (const node of nodes) {
    await until(async () => {
      const info = String(await node.admin.call('CLUSTER', 'INFO'))
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${count}`)
    }, 'the cluster to agree')
  }
}

async function ownerId(nodes: readonly ClusterNode[], slot: number): Promise<string> {
  for (const { admin } of nodes) {
    if (admin.status !== 'ready') continue
    // A node that was just killed looks ready, and answers no more.
    const ranges = await admin.call('CLUSTER', 'SLOTS').catch(() => undefined)
    const owners = ranges as [number, number, [string, number, string]][] | undefined
    if (owners) return owners.find(([first, last]) => slot >= first && slot <= last)?.[2][2] ?? ''
  }
  return ''
}

async function moveSlot(
  nodes: readonly ClusterNode[],
  slot: number,
  source: ClusterNode,
  target: ClusterNode,
): Promise<void> {
  await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id)
  await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id)
  for (;;) {
    const keys = (await source.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 5)) as string[]
    if (keys.length === 0) break
    const address = [target.host, target.port, '', 0, 5_000]
    await source.admin.call('MIGRATE', ...address, 'AUTH', PASSWORD, 'KEYS', ...keys)
  }
  for (const node of [target, source, ...nodes]) {
    await node.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', target.id).catch((error: Error) => {
      // Replicas learn it from their masters.
      if (!error.message.includes('only with masters')) throw error
    })
  }
  await until(() => isAgreed(nodes, slot, target), 'the cluster to agree on the slot')
}

/**
 * Whether every node that runs has heard by which epoch the slot is the target's. A next move that began earlier could be
 * claimed with no higher epoch, and the nodes would send the slot to each other for ever.
 */
async function isAgreed(nodes: readonly ClusterNode[], slot: number, target: ClusterNode): Promise<boolean> {
  const views = await Promise.all(
    nodes
      .filter((node) => node.admin.status === 'ready')
      .map(async (node) => {
        const lines = String(await node.admin.call('CLUSTER', 'NODES')).split('\n')
        const fields = lines.find((line) => line.startsWith(target.id))?.split(' ') ?? []
        const [, , , , , , epoch, , ...ranges] = fields
        const isOwner = ranges.some((range) => {
          const [first = Number.NaN, last = first] = range.split('-').map(Number)
          return slot >= first && slot <= last
        })
        return isOwner ? epoch : undefined
      }),
  )
  return views[0] !== undefined && new Set(views).size === 1
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}
