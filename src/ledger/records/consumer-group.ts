/** The consumer group of the ledger's record streams: reading as its member, and making it where a store has none yet. */
import { keyPrefixOf, type RedisClient } from '@/ledger/store/connection'
import { CONSUMER_GROUP } from '@/ledger/store/names'

/** All workers share one consumer name: entries go to one of them, abandoned ones are found by idleness. */
export const CONSUMER = 'flusher'

/** An entry as the store gives it; without fields where it was trimmed away while it was in somebody's hands. */
export type RawEntry = [id: string, fields: string[] | null]

/** Takes up to `count` new entries of each stream in one command; a stream with nothing new is left out. */
export async function readGroup(
  redis: RedisClient,
  streams: readonly string[],
  count: number,
): Promise<[stream: string, entries: RawEntry[]][]> {
  const positions = streams.map(() => '>')
  const read = () =>
    redis.xreadgroup('GROUP', CONSUMER_GROUP, CONSUMER, 'COUNT', count, 'STREAMS', ...streams, ...positions)
  const answer = ((await withGroup(redis, streams, read)) ?? []) as [string, RawEntry[]][]
  const prefixChars = keyPrefixOf(redis).length
  return answer.map(([stream, entries]) => [stream.slice(prefixChars), entries])
}

/** Runs `command`, and makes the group first where there is none yet: on a new store, or on one that came back empty. */
export async function withGroup<T>(
  redis: RedisClient,
  streams: readonly string[],
  command: () => Promise<T>,
): Promise<T> {
  try {
    return await command()
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOGROUP')) throw error
  }
  await Promise.all(streams.map((stream) => createGroup(redis, stream)))
  return await command()
}

async function createGroup(redis: RedisClient, stream: string): Promise<void> {
  try {
    await redis.xgroup('CREATE', stream, CONSUMER_GROUP, '0', 'MKSTREAM')
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('BUSYGROUP')) throw error
  }
}
