/** Redis key names and shards: they never change, and an account has one slot. */
import { describe, expect, test } from 'bun:test'
import { slotOf } from '@/ledger/store/cluster-slot'
import {
  accountName,
  creditedName,
  deadlinesName,
  holdMember,
  holdName,
  keyHashName,
  keyName,
  metaName,
  parseHoldMember,
  parseName,
  parsePayer,
  payerText,
  recordsName,
  SHARD_COUNT,
  shardOf,
} from '@/ledger/store/names'
import { randomId } from '@/lib/ids'

describe('shards', () => {
  test('the shard of an account never changes', () => {
    expect(['', 'a', 'acct_1', 'acct_0123456789ABCDEFGHIJKL'].map(shardOf)).toEqual([5, 44, 58, 32])
  })

  test('accounts spread evenly over the shards', () => {
    const counts = new Map<number, number>()
    for (let index = 0; index < 64_000; index++) {
      const shard = shardOf(randomId('acct'))
      counts.set(shard, (counts.get(shard) ?? 0) + 1)
    }
    expect(counts.size).toBe(SHARD_COUNT)
    expect(Math.min(...counts.values())).toBeGreaterThan(800)
    expect(Math.max(...counts.values())).toBeLessThan(1_200)
  })

  test('all Redis keys of an account are in one cluster slot', () => {
    const payer = { accountId: randomId('acct'), keyId: randomId('key') }
    const { accountId } = payer
    const shard = shardOf(accountId)
    const names = [
      ...[metaName(shard), deadlinesName(shard), recordsName(shard), accountName(accountId), keyName(payer)],
      ...[holdName(accountId, randomId('hold')), creditedName(accountId)],
    ]
    expect(new Set(names.map(slotOf)).size).toBe(1)
    expect(new Set(names).size).toBe(names.length)
  })

  test('our computed slot numbers equal the cluster’s', () => {
    expect(slotOf('123456789')).toBe(0x31c3)
    expect(slotOf('foo{hash_tag}')).toBe(2515)
    expect(slotOf('{l0}:meta')).toBe(slotOf('l0'))
  })
})

describe('names', () => {
  test('the parts of a Redis key can be read back from its name', () => {
    const payer = { accountId: 'acct_A', keyId: 'key_B' }
    const shard = shardOf('acct_A')
    expect(parseName(accountName('acct_A'))).toEqual({ kind: 'account', shard, ids: ['acct_A'] })
    expect(parseName(keyName(payer))).toEqual({ kind: 'key', shard, ids: ['acct_A', 'key_B'] })
    expect(parseName(holdName('acct_A', 'hold_C'))).toEqual({ kind: 'hold', shard, ids: ['hold_C'] })
    for (const other of [metaName(1), 'keyhash:00', '{l1}:account:', '{x}:account:a']) {
      expect(parseName(other)).toBeUndefined()
    }
  })

  test('names of holds and payers can be read back; other text is refused', () => {
    const hold = { accountId: 'acct_A', keyId: 'key_B', holdId: 'hold_C', amount: 9_000_000_000_000_000 }
    expect(parseHoldMember(holdMember(hold))).toEqual(hold)
    expect(parseHoldMember(holdMember({ ...hold, memberId: 'user_D' }))).toEqual({ ...hold, memberId: 'user_D' })
    expect(parsePayer(payerText(hold))).toEqual({ accountId: 'acct_A', keyId: 'key_B' })
    for (const bad of [
      '',
      'a:b:c',
      'a:b:c:',
      'a:b:c:1e3',
      'a:b:c:-1',
      'a:b:c:d:1:2',
      'a::c:1',
      'a:b::c:1',
      'ä:b:c:1',
    ]) {
      expect(parseHoldMember(bad)).toBeUndefined()
    }
    for (const bad of ['', 'a', 'a:', ':b', 'a:b:c', 'ä:b']) expect(parsePayer(bad)).toBeUndefined()
    expect(() => keyHashName('A'.repeat(64))).toThrow('hexadecimal')
  })
})
