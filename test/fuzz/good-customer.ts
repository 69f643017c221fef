/** Started by neighbours.ts: a customer who only wants answers, in a process of its own, so that it waits for the gateway alone. */

/** Whom to ask, as whom and for how long. */
type Wish = { url: string; key: string; spanMs: number }
/** `slowestMs` is what all but one answer in a hundred stay below. */
export type Answers = { count: number; failed: number; slowestMs: number }

/** How many answers it waits for at once. */
const WANTED_AT_ONCE = 8
const BODY = JSON.stringify({ model: 'svc/patient', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 })

/** Asks and asks again. */
async function answersFor({ url, key, spanMs }: Wish): Promise<Answers> {
  const untilMs = performance.now() + spanMs
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const tookMs: number[] = []
  let failed = 0
  async function ask(): Promise<void> {
    while (performance.now() < untilMs) {
      const startedMs = performance.now()
      const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: BODY })
      await response.text()
      tookMs.push(performance.now() - startedMs)
      if (response.status !== 200) failed++
    }
  }
  await Promise.all(Array.from({ length: WANTED_AT_ONCE }, ask))
  tookMs.sort((one, other) => one - other)
  return { count: tookMs.length, failed, slowestMs: tookMs[Math.floor(tookMs.length * 0.99)] ?? 0 }
}

if (import.meta.main) {
  process.on('message', async (wish: Wish) => process.send?.(await answersFor(wish)))
  process.on('disconnect', () => process.exit(0))
}
