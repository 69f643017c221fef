/** Reads tasks that were thought up to teach or to test an assistant: small ones, programs, answers under many demands. */
import type { Example, SourceFiles } from './example'
import { gunzip, json, jsonLines, textOf } from './formats'

type Partial = Omit<Example, 'source'>

/** Functions to be written after their description. */
export function readHumanEval(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<{ prompt: string }>(gunzip(content)).map((row, index) => ({
      text: index % 2 === 0 ? row.prompt : `Complete this function.\n\n\`\`\`python\n${row.prompt}\`\`\``,
      label: 0.35,
      language: 'en',
      kind: 'code',
    })),
  )
}

type Task = { instruction: string; instances: { input: string }[] }

/** Small tasks that people thought up to teach a model to follow instructions. */
export function readTasks(files: SourceFiles): Partial[] {
  return [...files].flatMap(([path, content]) => {
    const isOriented = path.includes('user_oriented')
    return jsonLines<Task>(content).map((row) => ({
      text: [row.instruction, row.instances[0]?.input ?? ''].filter((part) => part !== '').join('\n\n'),
      label: isOriented ? 0.3 : 0.15,
      language: path.includes('zh_') ? 'zh' : path.includes('vigogne') ? 'fr' : path.includes('ru_') ? 'ru' : 'en',
      kind: 'task',
      ...(row.instances[0]?.input && { instruction: row.instruction }),
    }))
  })
}

/** Sums of one step, in words. */
export function readSvamp(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    json<{ Body: string; Question: string }[]>(content).map((row) => ({
      text: `${row.Body} ${row.Question}`,
      label: 0.08,
      language: 'en',
      kind: 'mathematics',
    })),
  )
}

/** Chinese orders that join many demands. */
export function readComplexBench(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<{ instruction: string }>(content).map((row) => ({
      text: row.instruction,
      label: 0.7,
      language: 'zh',
      kind: 'constraints',
    })),
  )
}

type Biggen = { input: string; capability: string }
const BIGGEN_LABELS: Readonly<Record<string, number>> = {
  planning: 0.75,
  reasoning: 0.75,
  tool_usage: 0.6,
  safety: 0.35,
}

/** Tasks by the ability that they test. */
export function readBiggen(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    Object.values(json<Record<string, Biggen>>(content)).map((row) => ({
      text: row.input,
      label: BIGGEN_LABELS[row.capability] ?? 0.5,
      language: 'en',
      kind: row.capability,
    })),
  )
}

/** A class with all its methods, to be written at once. */
export function readClassEval(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    json<{ skeleton: string; class_description: string }[]>(content).map((row, index) => ({
      text: index % 2 === 0 ? `Complete this class.\n\n${row.skeleton}` : row.skeleton,
      label: 0.7,
      language: 'en',
      kind: 'code',
    })),
  )
}

/** Orders with demands that a program can check. */
export function readConstrained(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    jsonLines<{ prompt: string }>(content).map((row) => ({
      text: row.prompt,
      label: 0.4,
      language: 'en',
      kind: 'constraints',
    })),
  )
}

type Belle = { question: string; class: string }

/** Chinese prompts by sort of task. */
export function readBelle(files: SourceFiles): Partial[] {
  return [...files.values()].flatMap((content) =>
    (textOf(content).trim().startsWith('[') ? json<Belle[]>(content) : jsonLines<Belle>(content)).map((row) => ({
      text: row.question,
      label: row.class === 'math' || row.class === 'code' ? 0.4 : 0.15,
      language: 'zh',
      kind: row.class,
    })),
  )
}
