/** Reads a model's line and version from its name: `claude-opus-5-5` is version 5.5 of the line `claude opus`. */

export type Generation = { line: string; version: number }

const DAYS = /-(?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{3,8})(?=-|$)/g
const CLOUD_NAME = /^(?:[a-z-]+\.)*(?:anthropic|openai|google)\.|-v?\d+:\d+$/g
const WORDS_OF_STATE = new Set(['latest', 'preview', 'exp', 'experimental', 'beta'])
const VERSION = /^([a-z]?)(\d{1,2}(?:\.\d{1,2})?)$/
const PREVIEW = /(?:^|[-.])(?:preview|exp|experimental|beta)(?:[-.]|$)/

/** The vendor's own name of a model, without a cloud's additions as in `global.anthropic.claude-opus-4-6-v1:0`. */
export function vendorName(name: string): string {
  return name.replaceAll(CLOUD_NAME, '')
}

/** The product line (such as `gpt`) and version in a model name; undefined without a version. Ignores dates and words such as `preview`. */
export function generationOf(name: string): Generation | undefined {
  const bare = vendorName(name.slice(name.lastIndexOf('/') + 1).toLowerCase())
  const words: string[] = []
  const numbers: string[] = []
  for (const word of bare.replace(/:.*$/, '').replaceAll(DAYS, '').split('-')) {
    const [, letter = '', number] = VERSION.exec(word) ?? []
    if (number !== undefined) numbers.push(number)
    if (number === undefined ? !WORDS_OF_STATE.has(word) : letter !== '')
      words.push(number === undefined ? word : letter)
  }
  const [major, minor] = numbers
  if (major === undefined) return undefined
  const version = Number(minor === undefined || major.includes('.') ? major : `${major}.${minor}`)
  return { line: words.sort().join(' '), version }
}

/** Whether both names mean the same version of the same model line. */
export function isSameGeneration(one: string, other: string): boolean {
  if (one === other) return true
  const [first, second] = [generationOf(one), generationOf(other)]
  return first !== undefined && first.line === second?.line && first.version === second.version
}

/** Whether the name marks a preview, such as `beta` or `experimental`. */
export function isPreview(name: string): boolean {
  return PREVIEW.test(name)
}
