/** Reads collections that say, prompt by prompt, how a small model did. */
import { parse } from 'csv-parse/sync'
import { type Example, type SourceFiles, sampleOf } from './example'
import { json, jsonLines, textOf } from './formats'

type Partial = Omit<Example, 'source'>

/** The column of the smaller of the two models that were asked. */
const SMALL_MODEL = 'mistralai/Mixtral-8x7B-Instruct-v0.1'
const LARGE_MODEL = 'gpt-4-1106-preview'
const MMLU_SAMPLE = 7_000

/** Multiple choice in 57 subjects. Every second prompt is read without its choices: the form must not be what is learned. */
export function readMmlu(files: SourceFiles): Partial[] {
  const all = [...files].flatMap(([path, content]) =>
    outcomes(content).map(({ prompt, failed }) => ({
      text: prompt,
      label: failed,
      language: 'en',
      kind: path.split('mmlu_').at(-1)?.replace('.csv', '') ?? '',
    })),
  )
  return sampleOf(all, MMLU_SAMPLE).map((example, index) => ({
    ...example,
    text: index % 2 === 0 ? (example.text.split('\nA. ')[0] ?? '') : example.text.replace(/\nAnswer:$/, ''),
  }))
}

/** Sums for children, which the small models of two years later hardly ever get wrong. */
const GRADE_SCHOOL = 0.6

/** Problems of a few steps in words. */
export function readGsm8k(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    outcomes(content).map(({ prompt, failed }) => ({
      text: prompt,
      label: GRADE_SCHOOL * failed,
      language: 'en',
      kind: 'mathematics',
    })),
  )
}

/** Grade-school problems in eleven languages: the first of those that {@link readGsm8k} reads, in the same order. */
export function readMgsm(files: SourceFiles): Partial[] {
  const answers = [...files].find(([path]) => path.endsWith('.csv'))?.[1]
  const labels = answers ? outcomes(answers).map(({ failed }) => failed) : []
  return [...files]
    .filter(([path]) => path.endsWith('.tsv'))
    .flatMap(([path, content]) =>
      textOf(content)
        .split('\n')
        .filter((line) => line.includes('\t'))
        .map((line, index) => ({
          text: line.split('\t')[0] ?? '',
          label: GRADE_SCHOOL * (labels[index] ?? 0.4),
          language: path.slice(-6, -4),
          kind: 'mathematics',
        })),
    )
}

/** A prompt that the large model failed as well is hard for sure; one that only the small one failed is so for a small one of its day. */
function outcomes(content: Buffer): { prompt: string; failed: number }[] {
  const rows = parse(content, { columns: true }) as Record<string, string>[]
  return rows.map((row) => {
    const isSmallRight = row[SMALL_MODEL] === 'True'
    return { prompt: row.prompt ?? '', failed: isSmallRight ? 0.08 : row[LARGE_MODEL] === 'True' ? 0.6 : 0.9 }
  })
}

type Judgement = { question_id: number; model: string; score: number; turn: number }

/** How far the smaller model's answer to the first turn is from full marks, by question. */
export function judgedFailures(content: Buffer): Map<number, number> {
  const rows = jsonLines<Judgement>(content).filter((row) => row.model === SMALL_MODEL && row.turn === 1)
  return new Map(rows.map((row) => [row.question_id, row.score >= 9 ? 0 : 1]))
}

type ArenaRow = { global_index: string; question: string; evaluation_result: { score: number } | null }

/** Two small models were asked: hard is what both got wrong. */
export function readRouterArena(files: SourceFiles): Partial[] {
  const scores = new Map<string, { text: string; best: number }>()
  for (const content of files.values()) {
    for (const row of jsonLines<ArenaRow>(content)) {
      const best = Math.max(scores.get(row.global_index)?.best ?? 0, row.evaluation_result?.score ?? 0)
      scores.set(row.global_index, { text: row.question, best })
    }
  }
  return [...scores].map(([id, { text, best }]) => ({
    text,
    label: best >= 0.5 ? 0 : 1,
    language: 'en',
    kind: id.split('_')[0] ?? '',
  }))
}

type Asked = { query: string; task_name: string }
type Scored = { question: string; scores: string | Record<string, number> }

/** What was asked of models of seven to nine thousand million weights. */
const SMALL_MODELS =
  /["'](?:llama3-chatqa-1\.5-8b|qwen2\.5-7b-instruct|mistral-7b-instruct-v0\.3|gemma-2-9b-it|llama-3\.1-8b-instruct)["']: ?([\d.]+)/g
/** Facts that one has met or not, and a collection that asks not to be trained on. */
const LEFT_OUT = new Set([
  'natural_qa',
  'trivia_qa',
  'gpqa',
  'mmlu',
  'gsm8k',
  'human_eval',
  'agentverse-mgsm',
  'commongen',
])

/** The share of five small models that failed. */
export function readSmallModels(files: SourceFiles): Partial[] {
  const [asked, scored] = [...files].sort(
    ([left], [right]) => Number(left.includes('dcrouter')) - Number(right.includes('dcrouter')),
  )
  if (!asked || !scored) return []
  const tasks = new Map(jsonLines<Asked>(asked[1]).map((row) => [row.query, row.task_name]))
  return json<Scored[]>(scored[1]).flatMap(({ question, scores }) => {
    const task = tasks.get(question)
    const values = [...(typeof scores === 'string' ? scores : JSON.stringify(scores)).matchAll(SMALL_MODELS)].map(
      (found) => Number(found[1]),
    )
    if (task === undefined || LEFT_OUT.has(task) || values.length === 0) return []
    const right = values.reduce((sum, value) => sum + Math.min(1, value), 0) / values.length
    return [{ text: question, label: (1 - right) ** 2, language: 'en', kind: task }]
  })
}
