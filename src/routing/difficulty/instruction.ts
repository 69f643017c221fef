/** The parts of a prompt: the instruction, and the material that it applies to (`payload`). Either may be empty. */
export type PromptParts = { instruction: string; payload: string }

/** A longer paragraph counts as material, unless it is the only one. */
const MAX_INSTRUCTION_CHARS = 480
/** An instruction before a colon is short: `Fix the spelling:`, `Translate the following text into German:`. */
const MAX_LEAD_CHARS = 140
/** Shorter quotations belong to the instruction: they are names and words that the task is about. */
const MIN_QUOTATION_CHARS = 24
const MIN_AFTER_COLON_CHARS = 12

const FENCE = /```[\s\S]*?(?:```|$)/g
const QUOTATION =
  /"[^"\n]{24,}"|“[^”]{24,}”|«[^»]{24,}»|„[^“”]{24,}[“”]|「[^」]{12,}」|『[^』]{12,}』|‘[^’]{24,}’|(?<=[\s:(])'[^'\n]{24,}'(?=[\s.,;)?!]|$)/g
const COLON = /[:：]/g
const PARAGRAPHS = /\n\s*\n/

/** Splits a prompt into instruction and material: in `Translate: "…"`, the quotation is material. Linear; the caller limits `text`. */
export function splitPrompt(text: string): PromptParts {
  const payload: string[] = []
  const take = (part: string) => {
    payload.push(part)
    return ' \u0001 '
  }
  let rest = text.includes('```') ? text.replace(FENCE, take) : text
  if (rest.length > MIN_QUOTATION_CHARS) rest = rest.replace(QUOTATION, take)
  rest = withoutMaterial(rest, payload)
  rest = beforeColon(rest, payload)
  return { instruction: rest.trim(), payload: payload.join('\n') }
}

/** Of several paragraphs, the long ones are material; the first, the last and short ones may be the instruction. */
function withoutMaterial(text: string, payload: string[]): string {
  if (text.length <= MAX_INSTRUCTION_CHARS) return text
  const paragraphs = text.split(PARAGRAPHS)
  if (paragraphs.length < 2) return text
  const kept: string[] = []
  for (const [index, paragraph] of paragraphs.entries()) {
    const isEnd = index === 0 || index === paragraphs.length - 1
    if (isEnd && paragraph.length <= MAX_INSTRUCTION_CHARS) kept.push(paragraph)
    else payload.push(paragraph)
  }
  return kept.length > 0 ? kept.join('\n\n') : text
}

/** The text after the first colon is material if it is a separate part and the text before it is an instruction. */
function beforeColon(text: string, payload: string[]): string {
  COLON.lastIndex = 0
  const found = COLON.exec(text)
  if (!found || found.index > MAX_LEAD_CHARS || found.index < 4) return text
  const after = text.slice(found.index + 1)
  // Times, addresses and ratios have no space after the colon.
  const isGap = found[0] === '：' || /^\s/.test(after)
  if (!isGap || after.trim().length < MIN_AFTER_COLON_CHARS) return text
  payload.push(after)
  return text.slice(0, found.index + 1)
}
