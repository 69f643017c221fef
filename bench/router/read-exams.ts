/** Reads exams, readings and other collections in the form of a test; each part counts as hard as models found it. */
import { type Example, MATERIAL_PLACE, type SourceFiles, sampleOf } from './example'
import { fileOfArchive, json, jsonLines, textOf } from './formats'

type Partial = Omit<Example, 'source'>

type Exam = { passage: string | null; question: string; options: string[] | null }

/** Parts that models did better at than at the rest. */
const AGI_EVAL_LABELS: Readonly<Record<string, number>> = {
  'sat-en': 0.2,
  'sat-math': 0.5,
  'lsat-rc': 0.45,
  'gaokao-geography': 0.5,
  'gaokao-history': 0.5,
  'gaokao-biology': 0.55,
  'gaokao-chinese': 0.55,
}
/** Law, logic, physics, chemistry and mathematics of competitions. */
const AGI_EVAL_HARD = 0.8
const EXAMS_OF_ONE_KIND = 220

/** Exams for entering universities and trades, in English and Chinese. */
export function readAgiEval(files: SourceFiles): Partial[] {
  return [...files].flatMap(([path, content]) => {
    const kind = path.split('/').at(-1)?.replace('.jsonl', '') ?? ''
    const label = AGI_EVAL_LABELS[kind] ?? AGI_EVAL_HARD
    const language = /gaokao|jec|zh/.test(kind) ? 'zh' : 'en'
    const rows = jsonLines<Exam>(content).map((row, index) => {
      const options = row.options && index % 2 === 0 ? `\n${row.options.join('\n')}` : ''
      return { text: `${row.passage ? `${row.passage}\n\n` : ''}${row.question}${options}`, label, language, kind }
    })
    return sampleOf(rows, EXAMS_OF_ONE_KIND)
  })
}

/** Problems that take a theorem. */
export function readTheoremQa(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    json<{ Question: string; field: string }[]>(content).map((row) => ({
      text: row.Question,
      label: 0.9,
      language: 'en',
      kind: row.field,
    })),
  )
}

/** Problems of college textbooks. */
export function readSciBench(files: SourceFiles): Partial[] {
  return [...files].flatMap(([path, content]) =>
    json<{ problem_text: string }[]>(content).map((row) => ({
      text: row.problem_text,
      label: 0.9,
      language: 'en',
      kind: path.split('/').at(-1)?.replace('.json', '') ?? '',
    })),
  )
}

type SchoolExam = {
  question: { stem: string; choices: { text: string; label: string }[] }
  info: { language: string; subject: string }
}
const LANGUAGE_CODES: Readonly<Record<string, string>> = {
  Albanian: 'sq',
  Arabic: 'ar',
  Bulgarian: 'bg',
  Croatian: 'hr',
  French: 'fr',
  German: 'de',
  Hungarian: 'hu',
  Italian: 'it',
  Lithuanian: 'lt',
  Macedonian: 'mk',
  Polish: 'pl',
  Portuguese: 'pt',
  Serbian: 'sr',
  Spanish: 'es',
  Turkish: 'tr',
  Vietnamese: 'vi',
}
const EXAMS_OF_ONE_LANGUAGE = 160

/** School exams in sixteen languages. */
export function readSchoolExams(files: SourceFiles): Partial[] {
  const all = [...files.values()].flatMap((content) =>
    jsonLines<SchoolExam>(fileOfArchive(content)).map((row, index) => ({
      text: `${row.question.stem}${index % 2 === 0 ? row.question.choices.map(({ text, label }) => `\n${label}. ${text}`).join('') : ''}`,
      label: 0.6,
      language: LANGUAGE_CODES[row.info.language] ?? 'other',
      kind: row.info.subject,
    })),
  )
  return byLanguage(all, EXAMS_OF_ONE_LANGUAGE)
}

type Gaokao = { example: { question: string }[] }

/** Questions of the Chinese entrance exam, by subject. */
export function readGaokaoBench(files: SourceFiles): Partial[] {
  return [...files].flatMap(([path, content]) =>
    sampleOf(
      json<Gaokao>(content).example.map((row) => ({
        text: row.question,
        label: 0.75,
        language: path.includes('English') ? 'en' : 'zh',
        kind: path.split('/').at(-1)?.replace('.json', '') ?? '',
      })),
      60,
    ),
  )
}

type Squad = { data: { paragraphs: { context: string; qas: { question: string }[] }[] }[] }
const READINGS_OF_ONE_LANGUAGE = 130

/** A passage and a question that it answers, in twelve languages. */
export function readXquad(files: SourceFiles): Partial[] {
  return [...files].flatMap(([path, content]) => {
    const rows = json<Squad>(content).data.flatMap(({ paragraphs }) =>
      paragraphs.flatMap(({ context, qas }) =>
        qas.map(({ question }, index) => ({
          text: index % 2 === 0 ? `${context}\n\n${question}` : `${question}\n\n${context}`,
          label: 0.06,
          language: path.split('.').at(-2) ?? '',
          kind: 'reading',
        })),
      ),
    )
    const questions = rows.map((row, index) => ({
      ...row,
      text: (index % 2 === 0 ? row.text.split('\n\n').at(-1) : row.text.split('\n\n')[0]) ?? '',
      kind: 'question',
      label: 0.12,
    }))
    return [...sampleOf(rows, READINGS_OF_ONE_LANGUAGE), ...sampleOf(questions, READINGS_OF_ONE_LANGUAGE)]
  })
}

type Copa = { premise: string; choice1: string; choice2: string }

/** Which of two things follows, in eleven languages. */
export function readXcopa(files: SourceFiles): Partial[] {
  return [...files].flatMap(([path, content]) =>
    sampleOf(
      jsonLines<Copa>(content).map((row) => ({
        text: `${row.premise}\n1. ${row.choice1}\n2. ${row.choice2}`,
        label: 0.12,
        language: path.split('.').at(-2) ?? '',
        kind: 'common sense',
      })),
      80,
    ),
  )
}

/** Templates of one sentence around a text: classify it, sum it up, find in it. */
export function readTemplates(files: SourceFiles): Partial[] {
  return [...files].flatMap(([path, content]) =>
    sampleOf(
      jsonLines<{ prompt: string }>(content).map((row) => ({
        text: row.prompt.trim(),
        label: 0.08,
        language: 'en',
        kind: path.split('/').at(-1)?.split('_')[0] ?? '',
      })),
      10,
    ),
  )
}

function byLanguage(examples: readonly Partial[], count: number): Partial[] {
  const languages = [...new Set(examples.map(({ language }) => language))]
  return languages.flatMap((language) =>
    sampleOf(
      examples.filter((example) => example.language === language),
      count,
    ),
  )
}

/** The parts of the table whose orders take any text: to translate it, to shorten it, to put it right. */
const ORDERS_ON_TEXT =
  /^(?:para_crawl|wmt16_translate|wmt14_enfr|true_case|fix_punct|word_segment|gigaword|samsum|xsum|cnn_dailymail|newsroom|aeslc)$/
const TEMPLATE = /\("((?:[^"\\]|\\.)*)",\s*"/g
const LANGUAGES = ['German', 'French', 'Spanish', 'Chinese', 'English', 'Russian', 'Portuguese', 'Japanese']

/** Orders on a text, in several wordings each. */
export function readFlanTemplates(files: SourceFiles): Partial[] {
  const parts = [...files.values()].flatMap((content) => textOf(content).split(/^ {4}"(?=\w+": \[)/m))
  const seen = new Set<string>()
  return parts.flatMap((part) => {
    const kind = part.slice(0, part.indexOf('"'))
    if (!ORDERS_ON_TEXT.test(kind)) return []
    return [...part.matchAll(TEMPLATE)].flatMap(([, raw = '']) => {
      const order = raw
        .replaceAll('\\n', '\n')
        .replaceAll('\\"', '"')
        .replaceAll(/\{lang[12]\}/g, () => LANGUAGES[seen.size % LANGUAGES.length] ?? '')
      const places = order.match(/\{\w+\}/g) ?? []
      if (places.length !== 1 || seen.has(order)) return []
      seen.add(order)
      const instruction = order.replace(/\{\w+\}/, MATERIAL_PLACE)
      return [{ text: instruction.replace(MATERIAL_PLACE, ''), instruction, label: 0.1, language: 'en', kind }]
    })
  })
}
