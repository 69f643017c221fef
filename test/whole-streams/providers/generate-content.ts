/** A script as a generate-content provider streams it: texts in pieces, each call whole. */
import type { Random } from '@test/fuzz/random'
import type { Script, Step } from '@test/whole-streams/script'

const USAGE = { promptTokenCount: 20, candidatesTokenCount: 8, totalTokenCount: 28 }

/** Some put several parts into an event, some finish with the last of them and some after it, and some say so with every event. */
export function contentEvents({ steps, calls }: Script, random: Random): string[] {
  const lastOf = new Map(steps.map((step, place) => [step.kind === 'call' ? step.call : -1, place]))
  const [gathers, finishesAfter, alwaysFinishes] = [random.once(2), random.once(2), random.once(6)]
  const parts = steps.flatMap((step, place) =>
    partOf(step, calls, lastOf.get(step.kind === 'call' ? step.call : -1) === place),
  )
  const lists: object[][] = []
  for (const part of parts) {
    const list = lists.at(-1)
    if (gathers && list && random.once(2)) list.push(part)
    else lists.push([part])
  }
  if (finishesAfter || lists.length === 0) lists.push([{ text: '' }])
  return lists.map((list, index) => {
    const states = alwaysFinishes || index === lists.length - 1
    const candidate = { content: { role: 'model', parts: list }, index: 0, ...(states && { finishReason: 'STOP' }) }
    const answer = { candidates: [candidate], usageMetadata: USAGE, modelVersion: 'upstream', responseId: 'r1' }
    return `data: ${JSON.stringify(answer)}\n\n`
  })
}

function partOf(step: Step, calls: Script['calls'], isLast: boolean): object[] {
  if (step.kind !== 'call') return [{ text: step.text, ...(step.kind === 'reasoning' && { thought: true }) }]
  const call = calls[step.call]
  return call && isLast ? [{ functionCall: { name: call.name, args: JSON.parse(call.arguments) } }] : []
}
