/** The prompts that the scorer is judged by: public ones that training never saw, and ours, each with the label that it came with. */
import { labelledPrompts } from '@test/routing/prompts'
import { requestOf } from '@test/routing/world'
import type { ChatRequest } from '@/chat/request'
import { loadSource } from './corpus'
import { drawOf } from './example'
import { SOURCES } from './sources'

export type EvalPrompt = {
  set: string
  language: string
  kind: string
  isHard: boolean
  text: string
  request: ChatRequest
}

const HARD_FROM = 0.5
/** Collections that only together hold hard and easy prompts, under the name that the report gives them. */
const TOGETHER: Readonly<Record<string, string>> = {
  'arena-hard-zh': 'arena-hard-zh + instruction-wild-zh',
  'instruction-wild-zh': 'arena-hard-zh + instruction-wild-zh',
}

/** All unseen public prompts but those whose text a training collection holds as well, and how many were left out for that. */
export async function unseenPrompts(): Promise<{ prompts: EvalPrompt[]; repeated: number }> {
  const known = new Set<string>()
  for (const source of SOURCES.filter(({ role }) => role === 'training')) {
    for (const { text } of (await loadSource(source)).examples) known.add(coreOf(text))
  }
  const all: EvalPrompt[] = []
  for (const source of SOURCES.filter(({ role }) => role === 'unseen')) {
    for (const { text, label, language, kind } of (await loadSource(source)).examples) {
      const set = TOGETHER[source.name] ?? source.name
      all.push({
        set,
        language,
        kind,
        isHard: label >= HARD_FROM,
        text,
        request: requestOf({ model: 'auto-smart' }, text),
      })
    }
  }
  const prompts = all.filter(({ text }) => !known.has(coreOf(text)))
  return { prompts, repeated: all.length - prompts.length }
}

/** Ours: training saw none of them. */
export function ownPrompts(): EvalPrompt[] {
  return labelledPrompts('auto-smart').map(({ text, kind, expected, request }) => ({
    set: 'ours',
    language: kind === 'languages' ? 'other' : 'en',
    kind,
    isHard: expected === 'hard',
    text,
    request,
  }))
}

/** As many hard as easy prompts, drawn by their text: what is half of the traffic must be half of the bill. */
export function balanced(prompts: readonly EvalPrompt[]): EvalPrompt[] {
  const sorted = [...prompts].sort((left, right) => drawOf(left.text) - drawOf(right.text))
  const hard = sorted.filter(({ isHard }) => isHard)
  const easy = sorted.filter(({ isHard }) => !isHard)
  const count = Math.min(hard.length, easy.length)
  return [...hard.slice(0, count), ...easy.slice(0, count)]
}

/** What two copies of a question have in common, whatever stands around it. */
function coreOf(text: string): string {
  return text
    .replace(/^[\s\S]*?Question: /, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .slice(0, 90)
}
