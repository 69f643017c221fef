/**
 * Evaluates how the tiers choose: `bun run eval:router`. Prints how well hard prompts are told from easy ones, what choices cost
 * and how long a decision takes, on public prompts that training never saw and on ours, and draws the calibration into
 * docs/images. Spends nothing and calls nobody; public collections are fetched once, as `bench/router/sources.json` names them.
 */
import { calibrationPlot } from '@bench/router/calibration-plot'
import { type CostRow, costAtRecall, costRows, GOOD_QUALITY } from '@bench/router/eval-cost'
import { balanced, type EvalPrompt, ownPrompts, unseenPrompts } from '@bench/router/eval-sets'
import { areaUnderCurve, shareAbove } from '@bench/router/measure'
import { loadCatalog } from '@/catalog/catalog'
import type { ChatRequest } from '@/chat/request'
import { assert } from '@/lib/assert'
import { difficultyOf, HARD_FROM } from '@/routing/plan/difficulty'
import { buildPlan } from '@/routing/plan/plan'
import { readFeatures } from '@/routing/plan/read-request'

const PLOT = 'docs/images/router-calibration.svg'
const WARM_UP_ROUNDS = 20
const TIMED_ROUNDS = 40
/** What the tier is to find, of the hard prompts. */
const RECALL_GOAL = 0.85
/** Groups with fewer of either sort are not worth a figure. */
const LEAST_PROMPTS = 8
/** Reading is timed without the estimate of the input, which every request needs anyway. */
const NOTHING_NEEDED = { capabilities: new Set<never>(), inputTokens: 100 }

const loaded = loadCatalog(await Bun.file('config/catalog.json').text(), {}, { sandboxBaseUrl: 'http://127.0.0.1:9' })
assert(loaded.kind === 'loaded', 'config/catalog.json is sound')
const { catalog } = loaded

const { prompts: unseen, repeated } = await unseenPrompts()
const own = ownPrompts()
print(
  `${unseen.length} public prompts (${repeated} more were left out: training holds them too) and ${own.length} of ours.\n`,
)
printGroups('By collection', [...unseen, ...own], ({ set }) => set, unseen)
printGroups('By language (public)', unseen, ({ language }) => language)
printGroups('By kind (router-arena)', of(unseen, 'router-arena'), ({ kind }) => kind)
printGroups('By kind (mt-bench)', of(unseen, 'mt-bench'), ({ kind }) => kind)
printGroups('By kind (ours)', own, ({ kind }) => kind)
printCosts('public prompts, as many hard as easy', balanced(unseen))
printCosts('ours', own)
printTimes()
await Bun.write(
  PLOT,
  calibrationPlot('Calibration on prompts that training never saw', [
    { name: 'public prompts', colour: '#1c7ed6', judged: judge(unseen) },
    { name: 'our prompts', colour: '#e8590c', judged: judge(own) },
  ]),
)
print(`Drawn: ${PLOT}`)

function of(prompts: readonly EvalPrompt[], set: string): EvalPrompt[] {
  return prompts.filter((prompt) => prompt.set === set)
}

function judge(prompts: readonly EvalPrompt[]) {
  return prompts.map(({ request, isHard }) => ({ score: difficultyOf(readFeatures(request)), isHard }))
}

function printGroups(
  title: string,
  prompts: readonly EvalPrompt[],
  groupOf: (prompt: EvalPrompt) => string,
  all?: readonly EvalPrompt[],
): void {
  print(`## ${title}\n`)
  const groups: [string, readonly EvalPrompt[]][] = [...Map.groupBy(prompts, groupOf)]
  if (all) groups.push(['**all public**', all])
  table(
    ['prompts', 'hard', 'easy', 'AUC', 'hard found', 'easy taken for hard', 'AUC of length alone'],
    groups
      .filter(([, those]) => isEnough(those))
      .map(([name, those]) => {
        const judged = judge(those)
        const byLength = those.map(({ text, isHard }) => ({ score: text.length, isHard }))
        const hard = those.filter(({ isHard }) => isHard).length
        return [
          name,
          hard,
          those.length - hard,
          areaUnderCurve(judged).toFixed(3),
          percent(shareAbove(judged, HARD_FROM, true)),
          percent(shareAbove(judged, HARD_FROM, false)),
          areaUnderCurve(byLength).toFixed(3),
        ]
      }),
  )
}

function isEnough(prompts: readonly EvalPrompt[]): boolean {
  const hard = prompts.filter(({ isHard }) => isHard).length
  return Math.min(hard, prompts.length - hard) >= LEAST_PROMPTS
}

function printCosts(title: string, prompts: readonly EvalPrompt[]): void {
  print(`## Cost: ${title} (${prompts.length})\n`)
  const scores = judge(prompts).map(({ score }) => score)
  const rows = [...costRows(catalog, prompts), costAtRecall(catalog, prompts, scores, RECALL_GOAL)]
  const head = ['choice', 'USD per 1,000 requests', 'of always best', `hard at quality ≥ ${GOOD_QUALITY}`]
  table(
    [...head, 'hard at a small model', `easy at quality ≥ ${GOOD_QUALITY}`, 'mean quality'],
    rows.map((row: CostRow) => [
      row.name,
      row.usdPerThousand.toFixed(2),
      percent(row.ofBest),
      percent(row.hardWellPlaced),
      percent(row.hardAtSmall),
      percent(row.easyAtGood),
      row.meanQuality.toFixed(2),
    ]),
  )
}

function printTimes(): void {
  print('## Time of one decision\n\nFrom the decoded request to the ordered targets, nine candidates, one core.\n')
  const ordinary = own.filter(({ kind }) => kind !== 'long').map(({ request }) => request)
  const documents = of(own, 'ours')
    .filter(({ kind }) => kind === 'long')
    .map(({ request }) => request)
  const kilobyte = own.flatMap(({ text, request }) =>
    text.length > 200 ? [withText(request, text.repeat(6).slice(0, 1_024))] : [],
  )
  const [first] = documents
  assert(first, 'there are long prompts')
  const rows: [string, ChatRequest[]][] = [
    ['ours, without documents', ordinary],
    ['1 KB', kilobyte],
    ['with documents (5 to 45 KB)', documents],
    ['1 MB', [withText(first, 'word '.repeat(200_000))]],
  ]
  table(
    ['prompts', 'plan, median µs', 'plan, 99 % µs', 'reading alone, median µs', 'reading alone, 99 % µs'],
    rows.map(([name, requests]) => {
      const plans = timed(requests, (request) => buildPlan(catalog, request))
      const reading = timed(requests, (request) => difficultyOf(readFeatures(request, NOTHING_NEEDED)))
      return [name, at(plans, 0.5), at(plans, 0.99), at(reading, 0.5), at(reading, 0.99)]
    }),
  )
}

function withText(request: ChatRequest, text: string): ChatRequest {
  return { ...request, turns: [{ role: 'user', content: [{ type: 'text', text }] }] }
}

function timed(requests: ChatRequest[], work: (request: ChatRequest) => unknown): number[] {
  const times: number[] = []
  for (let round = 0; round < WARM_UP_ROUNDS + TIMED_ROUNDS; round++) {
    for (const request of requests) {
      const start = Bun.nanoseconds()
      work(request)
      if (round >= WARM_UP_ROUNDS) times.push((Bun.nanoseconds() - start) / 1_000)
    }
  }
  return times.sort((left, right) => left - right)
}

function at(sorted: number[], portion: number): string {
  return (sorted[Math.floor(sorted.length * portion)] ?? 0).toFixed(1)
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`
}

function table(head: string[], rows: (string | number)[][]): void {
  print([head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'))
  print('')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
