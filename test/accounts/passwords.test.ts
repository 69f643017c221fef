/** Password hashes: their form, no truncation of passwords, and refusal of a flood. */
import { describe, expect, spyOn, test } from 'bun:test'
import { hashPassword, inOwnLine, verifyPassword } from '@/accounts/passwords'
import { withRealHashes } from './cheap-passwords'

describe('a password hash', () => {
  test('S15: a password hash is argon2id with 19 MiB and two passes', async () => {
    const hash = await withRealHashes(() => hashPassword('correct horse'))
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await verifyPassword('correct horse', hash)).toBe(true)
  })

  test('a password that differs in the last of 256 characters is wrong', async () => {
    const password = 'x'.repeat(255)
    const hash = await hashPassword(`${password}a`)
    expect(await verifyPassword(`${password}a`, hash)).toBe(true)
    expect(await verifyPassword(`${password}b`, hash)).toBe(false)
    expect(await verifyPassword(password, hash)).toBe(false)
  })

  test('a password hash does not depend on the Unicode form that the keyboard sends', async () => {
    const hash = await hashPassword('Passwörter für alle'.normalize('NFD'))
    expect(await verifyPassword('Passwörter für alle'.normalize('NFC'), hash)).toBe(true)
  })
})

describe('a flood of passwords', () => {
  test('S15: the queue for password hashing is limited; further requests are refused, and queued ones continue', async () => {
    const results = await Promise.allSettled(Array.from({ length: 210 }, () => hashPassword('correct horse')))
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused).toHaveLength(7)
    expect(refused[0]).toMatchObject({ kind: 'overloaded', options: { retryAfterSeconds: 2 } })
    expect(await hashPassword('correct horse')).toStartWith('$argon2id$')
  })

  test('a person who signed in before does not wait behind a flood of unknown people', async () => {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const hashing = spyOn(Bun.password, 'hash').mockImplementation((password) => {
      begun.push(String(password))
      return new Promise((resolve) => ends.push(() => resolve('hash')))
    })
    try {
      const flood = Array.from({ length: 203 }, () => hashPassword('stranger'))
      const known = inOwnLine(() => Promise.all(['first', 'second'].map(hashPassword)))
      const underWay = ['stranger', 'stranger', 'stranger', 'first']
      expect(begun).toEqual(underWay)
      ends[0]?.()
      await flood[0]
      expect(begun).toEqual([...underWay, 'second'])
      for (let next = 1; next < 205; next++) {
        ends[next]?.()
        await Bun.sleep(0)
      }
      await Promise.all([...flood, known])
      expect(begun.slice(5)).toEqual(Array(200).fill('stranger'))
    } finally {
      hashing.mockRestore()
    }
  })
})
