/** Work in turn: never two runs at once, and a failed run delays none. */
import { expect, test } from 'bun:test'
import { inTurn } from '@/lib/wait/in-turn'

test('each run in turn begins after the former one has ended, even if the former one failed', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const said: string[] = []
  let runs = 0
  const run = inTurn(async () => {
    const number = runs++
    said.push(`begins ${number}`)
    try {
      await gates[number]?.promise
    } finally {
      said.push(`ends ${number}`)
    }
  })
  const [first, second] = [run(), run()]
  gates[1]?.resolve()
  gates[0]?.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await second
  expect(said).toEqual(['begins 0', 'ends 0', 'begins 1', 'ends 1'])
})
