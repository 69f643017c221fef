/**
 * Evaluates how the tiers choose: `bun run eval:router`. Prints a confusion table and costs for the half of the labelled
 * prompts that the router was not tuned on, and the time that a decision takes. Spends nothing and calls nobody.
 */
import { createOwnCueRemover } from '@test/routing/own-cues'
import { type LabelledPrompt, labelledPrompts } from '@test/routing/prompts'
import { loadCatalog } from '@/catalog/catalog'
import type { Catalog, Model, Tier } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { assert } from '@/lib/assert'
import { difficultyClass } from '@/routing/plan/choose'
import { difficultyOf } from '@/routing/plan/difficulty'
import { buildPlan } from '@/routing/plan/plan'
import { readFeatures } from '@/routing/plan/read-request'
import { estimatedCost } from '@/routing/plan/score'

/** What answers of each label are taken to be long. */
const OUTPUT_TOKENS = { easy: 250, hard: 2_000 }
/** A hard prompt counts as well placed at a model of this stated quality. */
const GOOD_QUALITY = 0.85
const WARM_UP_ROUNDS = 20
const TIMED_ROUNDS = 40

/** Reading is timed without the estimate of the input, which every request needs anyway. */
const NOTHING_NEEDED = { capabilities: new Set<never>(), inputTokens: 100 }

const loaded = loadCatalog(await Bun.file('config/catalog.json').text(), {}, { sandboxBaseUrl: 'http://127.0.0.1:9' })
assert(loaded.kind === 'loaded', 'config/catalog.json is sound')
const { catalog } = loaded

const prompts = labelledPrompts('auto-smart')
const removeOwnCues = createOwnCueRemover(prompts.map((prompt) => prompt.text))
const withoutOwn = labelledPrompts('auto-smart', removeOwnCues)
const report = prompts.filter((prompt) => prompt.half === 'report')
const tuning = prompts.filter((prompt) => prompt.half === 'tuning')
printConfusion()
printCosts()
printTimes()

function classOf(prompt: LabelledPrompt): 'easy' | 'hard' {
  return difficultyClass(difficultyOf(readFeatures(prompt.request)))
}

function printConfusion(): void {
  print(
    `## Easy or hard\n\n${report.length} prompts that the weights were not fitted to (${tuning.length} others were).\n`,
  )
  table(['expected', 'found easy', 'found hard', 'right'], confusionOf(report))
  print('The same without the words that only the prompt at hand holds:\n')
  table(['expected', 'found easy', 'found hard', 'right'], confusionOf(ofHalf(withoutOwn, 'report')))
  const kinds = [...new Set(report.map((prompt) => prompt.kind))]
  table(
    ['prompts', 'number', 'right', 'right without such words'],
    [
      ...kinds.map((kind) => [kind, ...shares('report', kind)]),
      ['**all**', ...shares('report')],
      ['tuning half', ...shares('tuning')],
    ],
  )
}

function confusionOf(list: LabelledPrompt[]): (string | number)[][] {
  return ['easy', 'hard'].map((expected) => {
    const found = list.filter((prompt) => prompt.expected === expected).map(classOf)
    const [easy, hard] = ['easy', 'hard'].map((name) => found.filter((value) => value === name).length)
    return [expected, easy ?? 0, hard ?? 0, percent(found.filter((value) => value === expected).length / found.length)]
  })
}

function ofHalf(list: LabelledPrompt[], half: LabelledPrompt['half'], kind?: string): LabelledPrompt[] {
  return list.filter((prompt) => prompt.half === half && (kind === undefined || prompt.kind === kind))
}

function shares(half: LabelledPrompt['half'], kind?: string): (string | number)[] {
  const [all, without] = [ofHalf(prompts, half, kind), ofHalf(withoutOwn, half, kind)]
  return [all.length, shareRight(all), shareRight(without)]
}

function shareRight(list: LabelledPrompt[]): string {
  return percent(list.filter((prompt) => classOf(prompt) === prompt.expected).length / list.length)
}

function printCosts(): void {
  print(
    `## Cost of the report half\n\nPrices and qualities of config/catalog.json; answers of ${OUTPUT_TOKENS.easy} tokens to easy and ${OUTPUT_TOKENS.hard} to hard prompts.\n`,
  )
  const smart = tierNamed(catalog, 'auto-smart')
  const byQuality = [...smart.candidates].sort((left, right) => (right.quality ?? 0) - (left.quality ?? 0))
  const best = byQuality[0] as Model
  const rows: [string, (prompt: LabelledPrompt) => Model][] = [
    [`always best (${best.id})`, () => best],
    ['auto-smart', (prompt) => chosen(prompt.request, 'auto-smart')],
    ['auto-smart without such words', (prompt) => chosen(withoutOwnWords(prompt).request, 'auto-smart')],
    ['auto-fast', (prompt) => chosen(prompt.request, 'auto-fast')],
    ['auto-cheap', (prompt) => chosen(prompt.request, 'auto-cheap')],
    ['always cheapest', (prompt) => cheapest(smart, prompt)],
  ]
  const dearest = totalCost(() => best)
  table(
    ['choice', 'USD per 1,000 requests', 'of always best', `hard prompts at quality ≥ ${GOOD_QUALITY}`, 'mean quality'],
    rows.map(([name, choose]) => {
      const cost = totalCost(choose)
      const hard = report.filter((prompt) => prompt.expected === 'hard').map((prompt) => choose(prompt).quality ?? 0)
      const good = hard.filter((quality) => quality >= GOOD_QUALITY).length / hard.length
      const mean = report.reduce((sum, prompt) => sum + (choose(prompt).quality ?? 0), 0) / report.length
      const perThousand = (cost / 1e9 / report.length) * 1_000
      return [name, perThousand.toFixed(2), percent(cost / dearest), percent(good), mean.toFixed(2)]
    }),
  )
}

function withoutOwnWords(prompt: LabelledPrompt): LabelledPrompt {
  return withoutOwn[prompts.indexOf(prompt)] as LabelledPrompt
}

function chosen(request: ChatRequest, tierId: string): Model {
  return buildPlan(catalog, { ...request, model: tierId }).models[0] as Model
}

function cheapest(tier: Tier, prompt: LabelledPrompt): Model {
  return [...tier.candidates].sort((left, right) => costOf(left, prompt) - costOf(right, prompt))[0] as Model
}

function totalCost(choose: (prompt: LabelledPrompt) => Model): number {
  return report.reduce((sum, prompt) => sum + costOf(choose(prompt), prompt), 0)
}

function costOf(model: Model, prompt: LabelledPrompt): number {
  return estimatedCost(model, readFeatures(prompt.request).inputTokens, OUTPUT_TOKENS[prompt.expected])
}

function printTimes(): void {
  print('## Time of one decision\n\nFrom the decoded request to the ordered targets, nine candidates, one core.\n')
  const ordinary = prompts.filter((prompt) => prompt.kind !== 'long').map((prompt) => prompt.request)
  const documents = prompts.filter((prompt) => prompt.kind === 'long').map((prompt) => prompt.request)
  const [first] = documents
  assert(first, 'there are long prompts')
  const huge = [
    {
      ...first,
      turns: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'word '.repeat(200_000) }] }],
    },
  ]
  table(
    ['prompts', 'plan, median µs', 'plan, 99 % µs', 'reading alone, median µs'],
    [
      ['ordinary (up to 1 KB)', ordinary],
      ['with documents (5 to 45 KB)', documents],
      ['1 MB', huge],
    ].map(([name, requests]) => {
      const list = requests as ChatRequest[]
      const plans = timed(list, (request) => buildPlan(catalog, request))
      const reading = timed(list, (request) => difficultyOf(readFeatures(request, NOTHING_NEEDED)))
      return [name as string, at(plans, 0.5), at(plans, 0.99), at(reading, 0.5)]
    }),
  )
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

function tierNamed(from: Catalog, id: string): Tier {
  const tier = from.tiers.get(id)
  assert(tier, `config/catalog.json has the tier ${id}`)
  return tier
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
