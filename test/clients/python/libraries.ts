/** The vendors' libraries for Python, each in a process of its own, in the same words as those of `libraries/`. */
import type { Access, Library, Talk } from '@test/clients/libraries/library'
import type { Worker } from '@test/clients/worker'
import type { FormatName } from '@/chat/format-name'
import { startPythonWorker } from './python-worker'

/** A library, with what only the tests of Python look at. */
export type PythonLibrary = Library & {
  worker: Worker
  talkAsync(access: Access, talk: Talk): ReturnType<Library['talk']>
  /** The number in a structured answer, as the library parsed it into a class of the caller's. */
  parse(access: Access, model: string, isStream: boolean): Promise<number>
  /** What the model says of an image. */
  look(access: Access, model: string, image: string): Promise<string>
  /** Hears the first words of a stream, and goes. */
  hangUp(access: Access, model: string): Promise<string>
  /** The arguments of a call as they come in a stream; absent where the family knows no pieces of arguments. */
  argumentPieces?(access: Access, model: string): Promise<string[]>
}

type Declared = {
  name: string
  module: string
  family: FormatName
  has: readonly ('runTools' | 'countTokens' | 'pieces')[]
}

/** Each with what it has beside what all of them have. */
export const PYTHON_LIBRARIES: readonly Declared[] = [
  { name: 'openai', module: 'openai_client', family: 'chat-completions', has: ['pieces'] },
  { name: 'openai, responses', module: 'openai_responses', family: 'responses', has: ['countTokens', 'pieces'] },
  { name: 'anthropic', module: 'anthropic_client', family: 'messages', has: ['runTools', 'countTokens', 'pieces'] },
  { name: 'google-genai', module: 'genai_client', family: 'generate-content', has: ['runTools', 'countTokens'] },
]

/** Starts one process for each library. */
export function startPythonLibraries(python: string): PythonLibrary[] {
  return PYTHON_LIBRARIES.map((declared) => startLibrary(python, declared))
}

function startLibrary(python: string, { name, module, family, has }: Declared): PythonLibrary {
  const worker = startPythonWorker(python, module)
  // What a function of the module returns is what the same function returns in TypeScript.
  const call = <T>(method: string, parameters: object) => worker.call(method, parameters) as Promise<T>
  return {
    name: `Python: ${name}`,
    family,
    worker,
    talk: (access, talk) => call('talk', { access, ...talk }),
    talkAsync: (access, talk) => call('talk', { access, ...talk, isAsync: true }),
    fail: (access, model, isStream = false) => call('fail', { access, model, isStream }),
    listModels: (access) => call('list_models', { access }),
    getModel: (access, model) => call('get_model', { access, model }),
    parse: (access, model, isStream) => call('parse', { access, model, isStream }),
    look: (access, model, image) => call('look', { access, model, image }),
    hangUp: (access, model) => call('hang_up', { access, model }),
    ...(has.includes('runTools') && { runTools: (access, run) => call('run_tools', { access, ...run }) }),
    ...(has.includes('countTokens') && { countTokens: (access, model) => call('count_tokens', { access, model }) }),
    ...(has.includes('pieces') && { argumentPieces: (access, model) => call('argument_pieces', { access, model }) }),
  }
}
