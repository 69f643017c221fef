/** Reads the collections that training never sees: what the scorer is judged by. Their labels are the collections' own. */
import type { Example, SourceFiles } from './example'
import { json, jsonLines } from './formats'
import { judgedFailures } from './read-outcomes'

type Partial = Omit<Example, 'source'>

type ArenaRow = { prompt?: string; turns?: { content: string }[]; cluster?: string | number }

/** Prompts that were picked for being hard, in one language. */
export function readHardArena(language: string): (files: SourceFiles) => Partial[] {
  return (files) => arenaRows(files).map((row) => ({ text: row, label: 1, language, kind: 'picked as hard' }))
}

/** Prompts that nobody picked, in one language. */
export function readGeneralArena(language: string): (files: SourceFiles) => Partial[] {
  return (files) => arenaRows(files).map((row) => ({ text: row, label: 0, language, kind: 'not picked' }))
}

function arenaRows(files: SourceFiles): string[] {
  return [...files].flatMap(([path, content]) => {
    const rows = path.endsWith('.json')
      ? json<ArenaRow[]>(content)
      : jsonLines<ArenaRow & { instruction?: string }>(content)
    return rows.map(
      (row) => row.prompt ?? row.turns?.[0]?.content ?? (row as { instruction?: string }).instruction ?? '',
    )
  })
}

type Evolved = { Instruction: string; Difficulty: number; Skill: string }

/** A tenth to ten tenths of difficulty; the middle counts as neither. */
export function readEvolved(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<Evolved>(content).flatMap((row) =>
      row.Difficulty === 5
        ? []
        : [{ text: row.Instruction, label: row.Difficulty > 5 ? 1 : 0, language: 'en', kind: row.Skill }],
    ),
  )
}

type BenchQuestion = { question_id: number | string; turns?: string[]; turn?: string[]; category: string }

/** The same eighty questions in several languages, and what a judge thought of a smaller model's answers to the English ones. */
export function readMtBench(files: SourceFiles): Partial[] {
  const judged = [...files].find(([path]) => path.endsWith('judgements.jsonl'))
  const failures = judged ? judgedFailures(judged[1]) : new Map<number, number>()
  return [...files]
    .filter((entry) => entry !== judged)
    .flatMap(([path, content]) =>
      jsonLines<BenchQuestion>(content).flatMap((row) => {
        const label = failures.get(Number.parseInt(String(row.question_id), 10))
        return label === undefined
          ? []
          : [{ text: (row.turns ?? row.turn)?.[0] ?? '', label, language: languageOfPath(path), kind: row.category }]
      }),
    )
}

function languageOfPath(path: string): string {
  if (path.includes('_ko')) return 'ko'
  return /mt_bench_([A-Z]{2})/.exec(path)?.[1]?.toLowerCase() ?? 'en'
}

type Flask = { instruction: string; difficulty: string; task: string }

/** Five grades of the knowledge that a prompt takes, from `simple lifestyle` to `expert level`; the middle counts as neither. */
const FLASK_LABELS: Readonly<Record<string, number>> = {
  'simple lifestyle knowledge': 0,
  'advanced lifestyle knowledge': 0,
  'major level knowledge': 1,
  'expert level knowledge': 1,
}
/** Its parts that another collection here holds. */
const FLASK_ELSEWHERE = new Set(['Self-instruct', 'Wizardlm', 'Koala', 'Mmlu', 'Gsm8k', 'theoremqa'])

/** Prompts of many collections, graded by what one must know. */
export function readFlask(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<Flask>(content).flatMap((row) => {
      const label = FLASK_LABELS[row.difficulty]
      return label === undefined || FLASK_ELSEWHERE.has(row.task)
        ? []
        : [{ text: row.instruction, label, language: 'en', kind: row.difficulty.replace(' knowledge', '') }]
    }),
  )
}

type Judged = { instruction: string; hardness: number }

/** How many of seven signs of a hard prompt a judge saw: hard from six on, easy at four and below; five counts as neither. */
export function readWildChat(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    json<Judged[]>(content)
      .filter((row) => row.hardness >= 6 || row.hardness <= 4)
      .map((row) => ({
        text: row.instruction,
        label: row.hardness >= 6 ? 1 : 0,
        language: 'ru',
        kind: 'picked as hard',
      })),
  )
}
