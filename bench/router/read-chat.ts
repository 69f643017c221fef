/** Reads what people wrote to an assistant: picked as hard, picked by nobody, or asked as an expert of one's own trade. */
import { type Example, type SourceFiles, sampleOf } from './example'
import { gunzip, json, jsonLines } from './formats'

type Partial = Omit<Example, 'source'>

type ArenaHard = { prompt: string; category: string; subcategory: string }

/** Programs and problems that were picked as hard from what visitors asked. */
export function readArenaHard2(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<ArenaHard>(content)
      .filter((row) => row.category === 'hard_prompt')
      .map((row) => ({ text: row.prompt, label: 0.95, language: languageOf(row.prompt), kind: row.subcategory })),
  )
}

type Expert = { question: string; metadata: { field: string } }

/** Questions that people wrote about their own trade. */
export function readExpertQa(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<Expert>(content).map((row) => ({
      text: row.question,
      label: 0.8,
      language: 'en',
      kind: row.metadata.field,
    })),
  )
}

const ORDERS = 5_000

/** What people say to a speaker on the shelf, in 150 intents and beside them. */
export function readOrders(files: SourceFiles): Partial[] {
  const rows = [...files.values()].flatMap((content) =>
    Object.values(json<Record<string, [string, string][]>>(content)).flat(),
  )
  return sampleOf(
    rows.map(([text, kind]) => ({ text, label: 0.03, language: 'en', kind })),
    ORDERS,
  )
}

/** What people type into a search engine. */
export function readWebQuestions(files: SourceFiles): Partial[] {
  const rows = [...files.values()].flatMap((content) => json<{ qText: string }[]>(content))
  return sampleOf(
    rows.map((row) => ({ text: row.qText, label: 0.08, language: 'en', kind: 'question' })),
    1_200,
  )
}

/** What visitors of a demonstration asked. */
export function readKoala(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<{ prompt: string }>(content).map((row) => ({
      text: row.prompt,
      label: 0.35,
      language: 'en',
      kind: 'chat',
    })),
  )
}

/** The first thing that a person says to an assistant. */
export function readHumanTurns(files: SourceFiles): Partial[] {
  const rows = [...files.values()].flatMap((content) => jsonLines<{ chosen: string }>(gunzip(content)))
  return sampleOf(
    rows.map((row) => ({
      text: /Human: ([\s\S]*?)\n\nAssistant:/.exec(row.chosen)?.[1]?.trim() ?? '',
      label: 0.12,
      language: 'en',
      kind: 'chat',
    })),
    900,
  )
}

/** Questions on Japan, in Japanese. */
export function readRakuda(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<{ text: string }>(content).map((row) => ({
      text: row.text,
      label: 0.5,
      language: 'ja',
      kind: 'question',
    })),
  )
}

type Dialogue = { messages: { content: string; role: string }[] }

/** What volunteers asked in French. */
export function readOasst(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<Dialogue>(content).map((row) => ({
      text: row.messages[0]?.content ?? '',
      label: 0.25,
      language: 'fr',
      kind: 'chat',
    })),
  )
}

type Dialogues = { task: string; history: { user: string; bot: string }[] }

/** The first turns of dialogues by what they test. */
export function readMtBench101(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<Dialogues>(content).map((row) => ({
      text: row.history[0]?.user ?? '',
      label: row.task === 'MR' || row.task === 'GR' ? 0.5 : 0.2,
      language: 'en',
      kind: row.task,
    })),
  )
}

/** The script tells enough of a collection that mixes languages. */
function languageOf(text: string): string {
  if (/[\u3040-\u30ff]/.test(text)) return 'ja'
  if (/[\uac00-\ud7af]/.test(text)) return 'ko'
  if (/[\u4e00-\u9fff]/.test(text)) return 'zh'
  if (/[\u0400-\u04ff]{4}/.test(text)) return 'ru'
  return 'en'
}
