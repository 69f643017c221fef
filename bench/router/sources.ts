/**
 * The public collections that the scorer is trained on and judged by. `sources.json` says where each is, at which commit, under
 * which licence, and the digest of what was read; here is how each is read. One whose licence does not allow for more only judges.
 */
import type { Example, SourceFiles } from './example'
import * as chat from './read-chat'
import * as exams from './read-exams'
import * as outcomes from './read-outcomes'
import * as tasks from './read-tasks'
import * as unseen from './read-unseen'
import listed from './sources.json'

/**
 * What the prompts look like: what people write to an assistant, exam questions, or passages with a question. Length and form mean
 * something else in each, and a request is taken for the first.
 */
export const FAMILIES = ['chat', 'exam', 'reading'] as const

export type Place = {
  repository: string
  commit: string
  /** Which files of the commit. */
  files: RegExp
}

export type Source = Place & {
  name: string
  /** A collection is trained on, or it is unseen, as a whole. */
  role: 'training' | 'unseen'
  family: (typeof FAMILIES)[number]
  licence: string
  /** How much all of its prompts count together. */
  weight: number
  /** Of the files that were read, in order. */
  digest: string
  read: (files: SourceFiles) => Omit<Example, 'source'>[]
  /** Files of another repository that say how its prompts were answered. */
  beside: Place | undefined
}

const READERS: Readonly<Record<string, Source['read']>> = {
  'routellm-mmlu': outcomes.readMmlu,
  'routellm-gsm8k': outcomes.readGsm8k,
  mgsm: outcomes.readMgsm,
  'arena-hard-v2': chat.readArenaHard2,
  agieval: exams.readAgiEval,
  theoremqa: exams.readTheoremQa,
  scibench: exams.readSciBench,
  'human-eval': tasks.readHumanEval,
  expertqa: chat.readExpertQa,
  exams: exams.readSchoolExams,
  'gaokao-bench': exams.readGaokaoBench,
  xquad: exams.readXquad,
  xcopa: exams.readXcopa,
  'oos-eval': chat.readOrders,
  webquestions: chat.readWebQuestions,
  't0-templates': exams.readTemplates,
  'self-instruct-tasks': tasks.readTasks,
  'belle-seed-tasks': tasks.readTasks,
  'belle-eval': tasks.readBelle,
  'oasst-fr': chat.readOasst,
  ifeval: tasks.readConstrained,
  'mt-bench-101': chat.readMtBench101,
  koala: chat.readKoala,
  'flan-templates': exams.readFlanTemplates,
  'hh-rlhf': chat.readHumanTurns,
  'rulm-seed-tasks': tasks.readTasks,
  'vigogne-seed-tasks': tasks.readTasks,
  complexbench: tasks.readComplexBench,
  biggen: tasks.readBiggen,
  'class-eval': tasks.readClassEval,
  rakuda: chat.readRakuda,
  llmrouter: outcomes.readSmallModels,
  svamp: tasks.readSvamp,
  'arena-hard-en': unseen.readHardArena('en'),
  'arena-hard-ru': unseen.readHardArena('ru'),
  'arena-general-ru': unseen.readGeneralArena('ru'),
  'arena-hard-ko': unseen.readHardArena('ko'),
  'arena-hard-zh': unseen.readHardArena('zh'),
  'instruction-wild-en': unseen.readGeneralArena('en'),
  'instruction-wild-zh': unseen.readGeneralArena('zh'),
  'wizardlm-testset': unseen.readEvolved,
  'router-arena': outcomes.readRouterArena,
  'mt-bench': unseen.readMtBench,
  flask: unseen.readFlask,
  'wildchat-hard-ru': unseen.readWildChat,
}

type Listed = Omit<Source, 'files' | 'read' | 'beside' | 'family'> & {
  files: string
  family?: string
  beside?: Record<string, string>
}

export const SOURCES: readonly Source[] = (listed as Listed[]).map((source) => ({
  ...source,
  family: FAMILIES.find((family) => family === source.family) ?? 'chat',
  files: new RegExp(source.files),
  read: READERS[source.name] ?? (() => []),
  beside: source.beside && placeOf(source.beside),
}))

function placeOf({ repository = '', commit = '', files = '' }: Record<string, string>): Place {
  return { repository, commit, files: new RegExp(files) }
}
