/**
 * More prompts from those that are there: an instruction of one collection with the hard question of another as its material. To
 * translate or to shorten a proof is not to prove; collections hold too little of that.
 */
import { drawOf, type Example, MATERIAL_PLACE } from './example'

const LABEL = 0.12
/** How often an instruction with a place for its material is used. */
const DRAWS_OF_PLACE = 12
const MAX_MATERIAL_CHARS = 700
const HARD_FROM = 0.7
/** How people put material behind an instruction. */
const JOINTS: readonly ((instruction: string, material: string) => string)[] = [
  (instruction, material) => `${withoutEnd(instruction)}: ${material}`,
  (instruction, material) => `${withoutEnd(instruction)}: "${material.replaceAll('"', "'")}"`,
  (instruction, material) => `${instruction}\n\n${material}`,
  (instruction, material) => `${withoutEnd(instruction)}: '${material.replaceAll("'", '’')}'`,
  (instruction, material) => `${withoutEnd(instruction)}:\n${material}`,
]

/** Every instruction of `examples` that takes material, each with hard prompts of its own language. */
export function swapMaterial(examples: readonly Example[]): Example[] {
  const hard = examples.filter(({ label, text }) => label >= HARD_FROM && text.length <= MAX_MATERIAL_CHARS)
  const hardOf = new Map<string, string[]>()
  for (const { language, text } of hard) {
    const known = hardOf.get(language)
    if (known) known.push(text)
    else hardOf.set(language, [text])
  }
  return examples.flatMap((example) => {
    const { instruction, language } = example
    const materials = hardOf.get(language) ?? hardOf.get('en') ?? []
    if (instruction === undefined || materials.length === 0) return []
    const draw = (index: number) => materials[Math.floor(drawOf(`${index} ${instruction}`) * materials.length)] ?? ''
    const texts = instruction.includes(MATERIAL_PLACE)
      ? Array.from({ length: DRAWS_OF_PLACE }, (_, index) => instruction.replace(MATERIAL_PLACE, () => draw(index)))
      : JOINTS.map((join, index) => join(instruction, draw(index)))
    return texts.map((text) => ({ ...example, text, label: LABEL, source: 'swapped', kind: 'swapped' }))
  })
}

function withoutEnd(instruction: string): string {
  return instruction.trim().replace(/[.:。：]+$/, '')
}
