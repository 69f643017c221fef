/** What is there is gone on with at once; what is on its way is waited for, and what fails there fails here. */
import { expect, test } from 'bun:test'
import { whenThere } from '@/lib/wait/soon'

test('if the value is present, the next step runs in the same turn', () => {
  expect(whenThere(2, (value) => value + 1)).toBe(3)
  expect(() =>
    whenThere(2, () => {
      throw new Error('refused')
    }),
  ).toThrow('refused')
})

test('if the value is a promise, it is awaited, even if it fails', async () => {
  expect(await whenThere(Promise.resolve(2), (value) => value + 1)).toBe(3)
  await expect(whenThere(Promise.reject(new Error('lost')), () => 3) as Promise<number>).rejects.toThrow('lost')
  const refused = whenThere(Promise.resolve(2), () => {
    throw new Error('refused')
  }) as Promise<never>
  await expect(refused).rejects.toThrow('refused')
})
